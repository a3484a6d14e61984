import { isObject } from '../../../json/json.ts';
import { tryParse } from '../../../json/try-parse.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** The results of a file of promptfoo’s, and when it was written; undefined where it holds none. */
export interface ResultRows {
  readonly rows: readonly Mapping[];
  /** ISO 8601; undefined where the file does not say. */
  readonly startedAt: string | undefined;
  readonly id: string | undefined;
}

/** Reads results as JSON, in each of the three forms that there have been, or as JSON Lines. */
export function readResultRows(text: string): ResultRows | undefined {
  const whole = tryParse(text);
  if (whole === undefined) return readLines(text);
  if (!isObject(whole)) return undefined;
  const inner = isObject(whole['results']) ? whole['results'] : whole;
  const rows = inner['results'];
  if (!Array.isArray(rows) || !rows.every(isResult)) return undefined;
  const time = inner['timestamp'] ?? whole['timestamp'];
  return {
    rows,
    startedAt: typeof time === 'string' && !Number.isNaN(Date.parse(time)) ? time : undefined,
    id: typeof whole['evalId'] === 'string' ? whole['evalId'] : undefined,
  };
}

function readLines(text: string): ResultRows | undefined {
  const rows = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [tryParse(line)]));
  return rows.length > 0 && rows.every(isResult) ? { rows, startedAt: undefined, id: undefined } : undefined;
}

function isResult(value: unknown): value is Mapping {
  return isObject(value) && typeof value['success'] === 'boolean' && isObject(value['vars']);
}
