import { section } from '../../../requirements/requirement.ts';

/** `doctor --chaos`. */
export const chaos = section('doctor.md', [
  ['DS-CHAOS-01', 'none', 'A native filter denies with every fault, one-shot or server, at each of its phases.'],
  [
    'DS-CHAOS-02',
    'none',
    'What a rule of a foreign system lets pass is told with that rule; `on_failure: deny` closes it.',
  ],
  ['DS-CHAOS-03', 'none', 'No command, endpoint or plugin of the config is started or called.'],
  ['DS-CHAOS-04', 'none', 'A filter that passes without a documented rule makes the exit code 1.'],
  [
    'DS-CHAOS-05',
    'none',
    '--json prints {"cells", "denied", "open": [{"hook", "fault", "rule"}]} and nothing else.',
  ],
  [
    'DS-CHAOS-06',
    'none',
    '--junit writes a testcase for each cell, and a failure for what passes without a rule.',
  ],
  ['DS-CHAOS-07', 'none', 'Observers, shadows and hooks without a process are told as not asked.'],
  ['DS-CHAOS-08', 'none', 'A config without filters has 0 cells and exits 0; one with errors exits 2.'],
  ['DS-CHAOS-09', 'none', 'Ctrl-C ends it with 130, and leaves no process and no file behind.'],
]);
