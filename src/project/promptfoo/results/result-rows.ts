import { isObject } from '../../../json/json.ts';
import { tryParse } from '../../../json/try-parse.ts';
import type { Source } from '../../../yaml/source.ts';
import type { Notes } from '../../suite-import/notes.ts';
import { openText } from '../../suite-import/source-files.ts';

/** The results of a file of promptfoo’s, and when it was written. */
export interface ResultRows {
  readonly rows: readonly Source[];
  /** ISO 8601; undefined where the file does not say. */
  readonly startedAt: string | undefined;
  readonly id: string | undefined;
}

/** Whether a text holds results as JSON, in one of the three forms that there have been, or as JSON Lines. */
export function holdsResults(text: string): boolean {
  const list = listIn(tryParse(text));
  if (list !== undefined) return list.every(isResult);
  const rows = text.split('\n').filter((line) => line.trim() !== '');
  return rows.length > 0 && rows.every((line) => isResult(tryParse(line)));
}

function listIn(whole: unknown): readonly unknown[] | undefined {
  const inner = isObject(whole) && isObject(whole['results']) ? whole['results'] : whole;
  const rows = isObject(inner) ? inner['results'] : undefined;
  return Array.isArray(rows) ? rows : undefined;
}

function isResult(value: unknown): boolean {
  return isObject(value) && typeof value['success'] === 'boolean' && isObject(value['vars']);
}

/** Reads the results of a text that holds some. */
export function readResultRows(file: string, text: string, notes: Notes): ResultRows {
  const root = listIn(tryParse(text)) === undefined ? undefined : openText(file, text, notes);
  if (root === undefined || 'fault' in root) {
    const rows = text.split('\n').flatMap((line, index) => {
      const at = { file, line: index + 1, column: 1 };
      return line.trim() === '' ? [] : [notes.openRow(tryParse(line), () => at)];
    });
    return { rows, startedAt: undefined, id: undefined };
  }
  const inner = root.at('results').kind === 'mapping' ? root.at('results') : root;
  const times = [inner.at('timestamp').text(), root.at('timestamp').text()];
  return {
    rows: notes.openItems(inner.at('results')),
    startedAt: times.find((time) => time !== undefined && !Number.isNaN(Date.parse(time))),
    id: root.at('evalId').text(),
  };
}
