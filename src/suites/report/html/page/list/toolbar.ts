import { button, make } from '../../../../../base/page/dom.ts';
import { count } from '../../../../../base/page/format.ts';
import { toPrettyJson } from '../../../../../base/page/text.ts';
import { type Cell, cutCell, mostFields, toLine } from '../../../csv-line.ts';
import { type Data, type Entry, ratingsOf, readDetail } from '../data.ts';
import { loadAllDetails } from '../server.ts';
import { countStatuses, everything, orders, statusesOf, toNumber, type View, viewToHash } from './view.ts';

export function makeToolbar(data: Data, change: (part: Partial<View>) => void) {
  const query = make('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search id, tags and text  ( / )',
    'aria-label': 'Search in ids, tags and texts',
    autocomplete: 'off',
    spellcheck: 'false',
    input: () => change({ query: query.value }),
  });
  const chips = new Map(
    statusesOf(data.header).map((status) => {
      const attributes = { class: `chip ${status}`, 'data-status': status };
      return [status, button(nameOf(status), () => change({ status }), attributes)];
    }),
  );
  const evals = [['', 'Whole cases'], ...data.header.evals.map(({ id }) => [id, id] as const)] as const;
  const evalSelect = makeSelect('Eval', evals, (value) => change({ eval: value }));
  const tagSelect = makeSelect('Tag', [], (value) => change({ tag: value }));
  const tagField = labelled('Tag', tagSelect);
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
    data.header.evals.length > 1 && labelled('Eval', evalSelect),
    tagField,
    make(
      'div',
      { class: 'field' },
      make('span', {}, 'Score'),
      make('div', { class: 'range' }, min, '–', max),
    ),
    labelled('Sort', order),
  );
  const toggle = button(
    'Filters',
    () => toggle.setAttribute('aria-expanded', String(more.classList.toggle('open'))),
    { class: 'toggle', 'aria-expanded': 'false' },
  );
  const element = make(
    'div',
    { class: 'toolbar', role: 'search' },
    make('div', { class: 'toolbar-line' }, query, toggle),
    make('div', { class: 'chips', role: 'group', 'aria-label': 'Status' }, ...chips.values()),
    more,
    make('div', { class: 'found-line' }, found, clear),
  );
  const grow = () => {
    const { value } = tagSelect;
    tagSelect.replaceChildren(...optionsOf(tagOptions(data)));
    setValue(tagSelect, value);
    tagField.hidden = tagSelect.options.length <= 1;
  };
  grow();
  return {
    element,
    query,
    found,
    /** More cases were loaded. */
    grow,
    show(view: View) {
      const counts = countStatuses(data, view);
      for (const [status, chip] of chips) {
        chip.setAttribute('aria-pressed', String(status === view.status));
        chip.replaceChildren(nameOf(status), make('span', {}, count(counts.get(status) ?? 0)));
      }
      if (query.value !== view.query) query.value = view.query;
      setValue(evalSelect, view.eval);
      setValue(tagSelect, view.tag);
      setValue(order, view.order);
      for (const [input, value] of [
        [min, view.min],
        [max, view.max],
      ] as const) {
        if (toNumber(input.value) !== value) input.value = value === null ? '' : String(value);
      }
      clear.hidden = viewToHash({ ...view, order: everything.order, open: null }) === '';
    },
  };
}

function orderOf(value: string) {
  return [...orders.keys()].find((known) => known === value) ?? 'number';
}

function nameOf(status: string) {
  return status.charAt(0).toUpperCase() + status.slice(1);
}

function makeSelect(
  label: string,
  options: Iterable<readonly [value: string, text: string]>,
  onChange: (value: string) => void,
) {
  const select = make('select', { 'aria-label': label, change: () => onChange(select.value) });
  select.append(...optionsOf(options));
  return select;
}

function optionsOf(options: Iterable<readonly [value: string, text: string]>) {
  return Array.from(options, ([value, text]) => make('option', { value }, text));
}

/** Adds a value from the URL that the list lacks, so that the active filter is visible. */
function setValue(select: HTMLSelectElement, value: string) {
  if (![...select.options].some((option) => option.value === value)) {
    select.append(make('option', { value }, value));
  }
  select.value = value;
}

function makeBound(label: string, onChange: (value: number | null) => void) {
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

function labelled(name: string, control: HTMLElement) {
  return make('div', { class: 'field' }, make('span', { 'aria-hidden': 'true' }, name), control);
}

/** Search finds the remaining tags. */
const MOST_TAGS = 500;

function tagOptions({ entries }: Data): [string, string][] {
  const counts: Map<string, number> = new Map();
  for (const { tags } of entries) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const common = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_TAGS);
  const listed = common.map(([tag, cases]): [string, string] => [tag, `${tag} (${count(cases)})`]);
  return [['', 'All tags'], ...listed.sort(([a], [b]) => (a < b ? -1 : 1))];
}

export function makeExport(data: Data, found: () => readonly Entry[]) {
  const name = data.header.suite.replaceAll(/[^\p{L}\p{N}_-]+/gu, '-').slice(0, 80) || 'cases';
  const failed = make('span', { class: 'bad', role: 'status' });
  const act = async (type: string, end: string, parts: typeof csvParts) => {
    failed.textContent = '';
    const sent = await loadAllDetails(data);
    if ('failed' in sent) failed.textContent = sent.failed;
    else save(`${name}.${end}`, type, parts(data, casesOf(found())));
  };
  return make(
    'div',
    { class: 'export', role: 'group', 'aria-label': 'Export' },
    failed,
    button('CSV', () => void act('text/csv', 'csv', csvParts), {
      class: 'quiet',
      title: 'Save the cases that are shown, for spreadsheets',
    }),
    button('JSON Lines', () => void act('application/jsonl', 'jsonl', jsonlParts), {
      class: 'quiet',
      title: 'Save the cases that are shown as a run for eval show and eval diff',
    }),
  );
}

/** In a matrix, the cases of all variants of a row. */
function casesOf(entries: readonly Entry[]): readonly Entry[] {
  return entries.flatMap((entry) => (entry.variants.length === 0 ? [entry] : entry.variants));
}

function save(name: string, type: string, parts: Iterable<string>) {
  const address = URL.createObjectURL(new Blob([...parts], { type }));
  make('a', { href: address, download: name }).click();
  // The browser has started reading by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Writes the cases in the format of the jsonl reporter, without an end. Skips cases with omitted details. */
function* jsonlParts({ header, ratings }: Data, entries: readonly Entry[]) {
  yield `${JSON.stringify({ type: 'run', ...header, total: entries.length })}\n`;
  for (const entry of entries) {
    // The original text keeps all digits of numbers.
    if (entry.detail !== null) yield `{"type":"case",${entry.detail.slice(1)}\n`;
    // The list cuts long ids.
    const rated = ratings.size === 0 ? null : readDetail(entry);
    if (rated === null) continue;
    const said = ratingsOf(ratings, { case: rated.id, variant: rated.variant });
    for (const rating of said) yield `${JSON.stringify({ type: 'rating', ...rating })}\n`;
  }
}

function* csvParts({ header }: Data, entries: readonly Entry[]) {
  const first = entries.find(({ detail }) => detail !== null);
  const fields = Object.keys((first && readDetail(first)?.row) ?? {}).slice(0, mostFields);
  yield toLine([
    ...['number', 'case', 'tags', 'case_score', 'case_passed'],
    ...header.evals.map(({ id }) => `score.${id}`),
    ...['why', 'content'],
    ...(header.variants === undefined ? [] : ['variant']),
    ...fields.map((field) => `row.${field}`),
  ]);
  for (const entry of entries) {
    const detail = readDetail(entry);
    const row = detail?.row ?? {};
    yield toLine([
      ...[entry.number, detail?.id ?? entry.id, entry.tags.join(';'), entry.score, entry.passed],
      ...Array.from(header.evals, (_none, place) => entry.results.get(place)?.score),
      ...[entry.why, cutCell(detail?.epochs[0]?.content ?? entry.text)],
      ...(header.variants === undefined ? [] : [header.variants[entry.variant]?.name]),
      ...fields.map((field): Cell => {
        const value = Object.hasOwn(row, field) ? row[field] : undefined;
        if (typeof value === 'number' || typeof value === 'boolean') return value;
        if (value === null || value === undefined) return '';
        return cutCell(typeof value === 'string' ? value : toPrettyJson(value));
      }),
    ]);
  }
}
