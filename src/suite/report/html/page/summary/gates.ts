import type { GateResult } from '../../../../run/record.ts';
import { mark } from '../case/mark.ts';
import { button, foreign, make } from '../dom.ts';
import { boundsOf } from '../format.ts';
import type { Choose } from './eval-card.ts';

/** The gates with what they measured and what they wanted. */
export function renderGates(gates: readonly GateResult[], choose: Choose) {
  if (gates.length === 0) return [];
  const rows = gates.map((gate) =>
    make(
      'tr',
      { class: gate.passed ? 'passed' : 'failed' },
      make('th', { scope: 'row' }, mark(gate.passed ? 'passed' : 'failed'), nameGate(gate, choose)),
      make('td', {}, gate.metric),
      make('td', { class: 'value' }, sayValue(gate)),
      make('td', {}, sayWanted(gate)),
    ),
  );
  const head = ['Gate', 'Metric', 'Value', 'Wanted'].map((name) => make('th', { scope: 'col' }, name));
  const table = make(
    'table',
    { class: 'gates' },
    make('thead', {}, make('tr', {}, ...head)),
    make('tbody', {}, ...rows),
  );
  return [make('section', { class: 'box', 'aria-label': 'Gates' }, table)];
}

function sayWanted({ min, max, better_than: base, test }: GateResult) {
  if (base === undefined || test === undefined) return boundsOf(min, max);
  const { p_value: p, pairs, flaw } = test;
  const words = flaw === null ? '' : `, ${flaws[flaw]}`;
  const known = p === null ? '' : ` p = ${p < 0.0001 ? '< 0.0001' : p.toFixed(4)},`;
  return make(
    'span',
    {},
    'better than ',
    foreign(base),
    ` (${known} ${pairs} pairs${words})`.replace('( ', '('),
  );
}

const flaws = { too_few_pairs: 'too few', too_many_missing: 'too many results are missing' };

function nameGate({ eval: id = '', tag = '', variant = '' }: GateResult, choose: Choose) {
  const named = button('', () => choose({ eval: id, tag, status: 'failed' }), {
    class: 'link',
    title: 'Show the cases that did not pass',
  });
  named.append(id === '' ? 'Whole cases' : foreign(id));
  if (tag !== '') named.append(' ', foreign(tag, 'tag'));
  if (variant !== '') named.append(' ', foreign(variant, 'tag'));
  return named;
}

/** Four decimals, or all of them when four would make the value look like the bound that it misses. */
function sayValue({ value, min, max }: GateResult) {
  if (value === null) return '–';
  const shorts = [value.toFixed(4), value.toPrecision(12)].map(Number);
  return String(shorts.find((short) => short === value || (short !== min && short !== max)) ?? value);
}
