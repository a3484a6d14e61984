import { section } from '../../requirements/requirement.ts';

export const filterFaults = section('promptkit.md §6.3', [
  ['PK-6-32', 'oneshot', 'A filter that exits non-zero denies, whatever it printed.'],
  ['PK-6-33', 'oneshot', 'A filter that a signal ends denies, whatever it printed.'],
  ['PK-6-34', 'both', 'A filter that times out denies.'],
  ['PK-6-35', 'both', 'A filter over its output limit denies.'],
  ['PK-6-36', 'both', 'A filter that cannot start denies.'],
  ['PK-6-37', 'server', 'A filter that answers with a JSON-RPC error denies.'],
  ['PK-6-38', 'server', 'A filter whose server dies, or whose circuit is open, denies.'],
  ['PK-6-39', 'oneshot', 'A filter whose request cannot be built denies, and the caller has a decision.'],
]);

export const evalFaults = section('promptkit.md §7', [
  ['PK-7-10', 'oneshot', 'An eval that exits non-zero is unscored, even with a score printed.'],
  ['PK-7-11', 'oneshot', 'An eval that a signal ends is unscored.'],
  ['PK-7-12', 'both', 'An eval that times out is unscored.'],
  ['PK-7-13', 'both', 'An eval over its output limit is unscored.'],
  ['PK-7-14', 'both', 'An eval that cannot start is unscored.'],
  ['PK-7-15', 'server', 'An eval that answers with a JSON-RPC error is unscored.'],
  ['PK-7-16', 'server', 'An eval whose server dies, or whose circuit is open, is unscored.'],
]);

export const thresholds = section('promptkit.md §7', [
  ['PK-7-17', 'none', 'Bounds are finite numbers from 0 to 1 with min ≤ max; anything else is refused.'],
  ['PK-7-18', 'none', 'Bounds are inclusive and compared exactly.'],
  ['PK-7-19', 'none', 'With neither bound the minimum is 1.0.'],
  ['PK-7-20', 'none', 'A maximum alone implies no minimum.'],
  [
    'PK-7-21',
    'none',
    'unscored passes no threshold, a max_score alone included: it fails assertions and guardrails.',
  ],
]);
