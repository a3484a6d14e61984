import type { GuardRecord } from '../../../../run/record.ts';
import { factList, foreign, make } from '../dom.ts';
import { duration, score } from '../format.ts';

/** What a guardrail decided of a labelled event, beside what it should have. */
export function renderGuard(guard: GuardRecord) {
  const facts = factList([
    ['Should be flagged', guard.expected ? 'yes' : 'no'],
    ['Was flagged', guard.flagged ? 'yes' : 'no'],
    ['Verdict', guard.verdict],
    ['Decided by', guard.decided_by === null ? null : foreign(guard.decided_by)],
    ['Confidence', guard.confidence === null ? null : score(guard.confidence)],
    ['At', `${guard.hook}, ${guard.phase}`],
  ]);
  const rows = guard.hooks.map(({ name, verdict, duration_ms: ms }) =>
    make(
      'tr',
      {},
      make('th', { scope: 'row' }, foreign(name)),
      make('td', {}, foreign(verdict)),
      make('td', {}, duration(ms)),
    ),
  );
  if (rows.length === 0) return facts;
  const head = ['Hook', 'Verdict', 'Time'].map((name) => make('th', { scope: 'col' }, name));
  const table = make(
    'table',
    { class: 'figures' },
    make('thead', {}, make('tr', {}, ...head)),
    make('tbody', {}, ...rows),
  );
  return make('div', {}, facts, table);
}
