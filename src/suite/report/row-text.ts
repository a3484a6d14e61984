import { cutValue } from '../../json/cut-value.ts';
import { stringifyJson } from '../../json/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A field of a row as a text: a text as it stands, any other value as JSON, nothing as nothing. */
export function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : stringifyJson(value);
}

/** The first fields of a row, each as a text that is short enough for a list of failures. */
export function briefFields(row: Fields): Readonly<Record<string, string>> {
  const fields = Object.entries(row)
    .slice(0, MOST_FIELDS)
    .map(([name, value]) => [shortText(name, LONGEST_NAME), shortText(briefText(value), LONGEST_VALUE)]);
  return Object.fromEntries(fields);
}

const MOST_FIELDS = 12;
const LONGEST_NAME = 100;
const LONGEST_VALUE = 200;

/** Cut before it is written down: a field may be megabytes. */
function briefText(value: unknown): string {
  return fieldText(cutValue(value, { characters: 2 * LONGEST_VALUE, items: LONGEST_VALUE }).value);
}

function shortText(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`;
}
