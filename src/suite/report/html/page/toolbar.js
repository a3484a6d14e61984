import { button, make } from './dom.js';
import { countStatuses } from './filter.js';
import { count } from './format.js';
import { everything, orders, statuses, toNumber, viewToHash } from './view.js';

/** @import { Data } from './data.js' */
/** @import { View } from './view.js' */

/**
 * The search and the filters; `change` gets what a person changed.
 * @param {Data} data
 * @param {(part: Partial<View>) => void} change
 */
export function makeToolbar(data, change) {
  const query = make('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search id, tags and text  ( / )',
    'aria-label': 'Search in ids, tags and texts',
    autocomplete: 'off',
    spellcheck: 'false',
    input: () => change({ query: query.value }),
  });
  const chips = new Map(statuses.map((status) => [status, makeChip(status, change)]));
  const evalSelect = makeSelect('Eval', evalOptions(data), (value) => change({ eval: value }));
  const tagSelect = makeSelect('Tag', tagOptions(data), (value) => change({ tag: value }));
  const order = makeSelect('Sort', orders, (value) => change({ order: orderOf(value) }));
  const min = makeBound('Lowest score', (value) => change({ min: value }));
  const max = makeBound('Highest score', (value) => change({ max: value }));
  const clear = button('Clear filters', () => change({ ...everything, order: orderOf(order.value) }), {
    class: 'quiet',
  });
  const found = make('p', { class: 'found', role: 'status', 'aria-live': 'polite' });
  const more = make(
    'div',
    { class: 'selects' },
    ...(data.header.evals.length > 1 ? [labelled('Eval', evalSelect)] : []),
    ...(tagSelect.options.length > 1 ? [labelled('Tag', tagSelect)] : []),
    make(
      'div',
      { class: 'field' },
      make('span', {}, 'Score'),
      make('div', { class: 'range' }, min, '–', max),
    ),
    labelled('Sort', order),
  );
  const element = make(
    'div',
    { class: 'toolbar', role: 'search' },
    make('div', { class: 'toolbar-line' }, query, makeToggle(more)),
    make('div', { class: 'chips', role: 'group', 'aria-label': 'Status' }, ...chips.values()),
    more,
    make('div', { class: 'found-line' }, found, clear),
  );
  return {
    element,
    query,
    found,
    /** @param {View} view */
    show(view) {
      const counts = countStatuses(data, view);
      for (const [status, chip] of chips) {
        chip.setAttribute('aria-pressed', String(status === view.status));
        chip.replaceChildren(nameOf(status), make('span', {}, count(counts.get(status) ?? 0)));
      }
      if (query.value !== view.query) query.value = view.query;
      setValue(evalSelect, view.eval);
      setValue(tagSelect, view.tag);
      setValue(order, view.order);
      for (const [input, value] of /** @type {const} */ ([
        [min, view.min],
        [max, view.max],
      ])) {
        if (toNumber(input.value) !== value) input.value = value === null ? '' : String(value);
      }
      clear.hidden = isUnfiltered(view);
    },
  };
}

/**
 * @param {View['status']} status
 * @param {(part: Partial<View>) => void} change
 */
function makeChip(status, change) {
  return button(nameOf(status), () => change({ status }), { class: `chip ${status}`, 'data-status': status });
}

/** @param {string} value */
function orderOf(value) {
  return [...orders.keys()].find((known) => known === value) ?? 'number';
}

/** @param {string} status */
function nameOf(status) {
  return status.charAt(0).toUpperCase() + status.slice(1);
}

/**
 * @param {string} label
 * @param {Iterable<readonly [value: string, text: string]>} options
 * @param {(value: string) => void} onChange
 */
function makeSelect(label, options, onChange) {
  const select = make('select', { 'aria-label': label, change: () => onChange(select.value) });
  for (const [value, text] of options) select.append(make('option', { value }, text));
  return select;
}

/**
 * A value that is in an address but not in the list is listed, so that one sees what is asked for.
 * @param {HTMLSelectElement} select
 * @param {string} value
 */
function setValue(select, value) {
  if (![...select.options].some((option) => option.value === value)) {
    select.append(make('option', { value }, value));
  }
  select.value = value;
}

/**
 * @param {string} label
 * @param {(value: number | null) => void} onChange
 */
function makeBound(label, onChange) {
  const input = make('input', {
    type: 'number',
    min: 0,
    max: 1,
    step: 'any',
    inputmode: 'decimal',
    placeholder: label.startsWith('Lowest') ? '0' : '1',
    'aria-label': label,
    input: () => onChange(toNumber(input.value)),
  });
  return input;
}

/**
 * @param {string} name
 * @param {HTMLElement} control
 */
function labelled(name, control) {
  return make('div', { class: 'field' }, make('span', { 'aria-hidden': 'true' }, name), control);
}

/**
 * On a narrow screen the filters are folded.
 * @param {HTMLElement} more
 */
function makeToggle(more) {
  const toggle = button(
    'Filters',
    () => toggle.setAttribute('aria-expanded', String(more.classList.toggle('open'))),
    { class: 'toggle', 'aria-expanded': 'false' },
  );
  return toggle;
}

/**
 * @param {Data} data
 * @returns {[string, string][]}
 */
function evalOptions({ header }) {
  return [['', 'Whole cases'], ...header.evals.map(({ id }) => /** @type {[string, string]} */ ([id, id]))];
}

/** Tags beyond are found by searching. */
const MOST_TAGS = 500;

/**
 * @param {Data} data
 * @returns {[string, string][]}
 */
function tagOptions({ entries }) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { tags } of entries) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const common = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_TAGS);
  const listed = common.map(
    ([tag, cases]) => /** @type {[string, string]} */ ([tag, `${tag} (${count(cases)})`]),
  );
  return [['', 'All tags'], ...listed.sort(([a], [b]) => (a < b ? -1 : 1))];
}

/** @param {View} view */
function isUnfiltered(view) {
  const filters = { ...view, order: everything.order, open: null };
  return viewToHash(filters) === '';
}
