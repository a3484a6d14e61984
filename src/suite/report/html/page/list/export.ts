import { type Cell, toLine } from '../../../csv-line.ts';
import { toPrettyJson } from '../case/json-view.ts';
import type { Data, Detail, Entry } from '../data.ts';
import { readDetail } from '../data.ts';
import { button, make } from '../dom.ts';
import { ratingsOf } from '../given-ratings.ts';

/** Fields of a row that have a column of their own. */
const MOST_FIELDS = 100;

/** Characters that a cell of a spreadsheet holds at most. */
const LONGEST_CELL = 32_767;

/** Buttons that save the cases that are found, in their order. */
export function makeExport(data: Data, found: () => readonly Entry[]) {
  const name = data.header.suite.replaceAll(/[^\p{L}\p{N}_-]+/gu, '-').slice(0, 80) || 'cases';
  return make(
    'div',
    { class: 'export', role: 'group', 'aria-label': 'Export' },
    button('CSV', () => save(`${name}.csv`, 'text/csv', csvParts(data, casesOf(found()))), {
      class: 'quiet',
      title: 'Save the cases that are shown, for spreadsheets',
    }),
    button(
      'JSON Lines',
      () => save(`${name}.jsonl`, 'application/jsonl', jsonlParts(data, casesOf(found()))),
      {
        class: 'quiet',
        title: 'Save the cases that are shown as a run for eval show and eval diff',
      },
    ),
  );
}

/** Of a row of a matrix the cases of all its variants. */
function casesOf(entries: readonly Entry[]): readonly Entry[] {
  return entries.flatMap((entry) => (entry.variants.length === 0 ? [entry] : entry.variants));
}

function save(name: string, type: string, parts: Iterable<string>) {
  const address = URL.createObjectURL(new Blob([...parts], { type }));
  make('a', { href: address, download: name }).click();
  // The browser has begun to read by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A run of these cases as the reporter of that name writes it, without an end; a case whose details the page has not is left out. */
function* jsonlParts({ header, ratings }: Data, entries: readonly Entry[]) {
  yield `${JSON.stringify({ type: 'run', ...header, total: entries.length })}\n`;
  for (const entry of entries) {
    // The text itself, in which numbers have all their digits.
    if (entry.detail !== null) yield `{"type":"case",${entry.detail.slice(1)}\n`;
    // The list has only the beginning of a long id.
    const rated = ratings.size === 0 ? null : readDetail(entry);
    if (rated === null) continue;
    const said = ratingsOf(ratings, { case: rated.id, variant: rated.variant });
    for (const rating of said) yield `${JSON.stringify({ type: 'rating', ...rating })}\n`;
  }
}

/** A line for each case: its verdict, the score of each eval, why it failed, what was judged, and its row. */
function* csvParts({ header }: Data, entries: readonly Entry[]) {
  const first = entries.find(({ detail }) => detail !== null);
  const fields = Object.keys((first && readDetail(first)?.row) ?? {}).slice(0, MOST_FIELDS);
  yield toLine([
    ...['number', 'case', 'tags', 'case_score', 'case_passed'],
    ...header.evals.map(({ id }) => `score.${id}`),
    ...['why', 'content'],
    ...(header.variants === undefined ? [] : ['variant']),
    ...fields.map((field) => `row.${field}`),
  ]);
  for (const entry of entries) yield toLine(cellsOf(entry, readDetail(entry), header, fields));
}

function cellsOf(
  entry: Entry,
  detail: Detail | null,
  { evals, variants }: Data['header'],
  fields: readonly string[],
): Cell[] {
  const row = detail?.row ?? {};
  return [
    ...[entry.number, detail?.id ?? entry.id, entry.tags.join(';'), entry.score, entry.passed],
    ...Array.from(evals, (_none, place) => entry.results.get(place)?.score),
    ...[entry.why, cut(detail?.epochs[0]?.content ?? entry.text)],
    ...(variants === undefined ? [] : [variants[entry.variant]?.name]),
    ...fields.map((field) => fieldCell(Object.hasOwn(row, field) ? row[field] : undefined)),
  ];
}

function fieldCell(value: unknown): Cell {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (value === null || value === undefined) return '';
  return cut(typeof value === 'string' ? value : toPrettyJson(value));
}

function cut(text: string) {
  if (text.length <= LONGEST_CELL) return text;
  const note = `… (cut: ${text.length} characters)`;
  return `${text.slice(0, LONGEST_CELL - note.length)}${note}`;
}
