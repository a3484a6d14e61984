import { button, foreign, make } from './dom.js';
import { boundsOf } from './format.js';
import { mark } from './mark.js';

/** @import { GateResult } from '../../../run/record.ts' */
/** @import { Choose } from './eval-card.js' */

/**
 * The gates with what they measured and what they wanted.
 * @param {readonly GateResult[]} gates
 * @param {Choose} choose
 */
export function renderGates(gates, choose) {
  if (gates.length === 0) return [];
  const rows = gates.map((gate) =>
    make(
      'tr',
      { class: gate.passed ? 'passed' : 'failed' },
      make('th', { scope: 'row' }, mark(gate.passed ? 'passed' : 'failed'), nameGate(gate, choose)),
      make('td', {}, gate.metric),
      make('td', { class: 'value' }, sayValue(gate)),
      make('td', {}, boundsOf(gate.min, gate.max)),
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

/**
 * @param {GateResult} gate
 * @param {Choose} choose
 */
function nameGate({ eval: id = '', tag = '' }, choose) {
  const named = button('', () => choose({ eval: id, tag, status: 'failed' }), {
    class: 'link',
    title: 'Show the cases that did not pass',
  });
  named.append(id === '' ? 'Whole cases' : foreign(id));
  if (tag !== '') named.append(' ', foreign(tag, 'tag'));
  return named;
}

/**
 * Four decimals, or all of them when four would make the value look like the bound that it misses.
 * @param {GateResult} gate
 */
function sayValue({ value, min, max }) {
  if (value === null) return '–';
  const shorts = [value.toFixed(4), value.toPrecision(12)].map(Number);
  return String(shorts.find((short) => short === value || (short !== min && short !== max)) ?? value);
}
