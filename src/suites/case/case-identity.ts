import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import type { SourceLocation } from '../../base/yaml/problem.ts';
import { datasetError } from '../dataset/row.ts';
import type { Suite } from '../file/model.ts';

export interface CaseIdentity {
  readonly id: string;
  /** No duplicates, no empty strings. */
  readonly tags: readonly string[];
}

/** Evaluates the id (default: `rowNumber`) and the tags of a row. Throws DATASET_INVALID or EXPRESSION_FAILED. */
export function identifyCase(
  suite: Suite,
  row: Readonly<Record<string, unknown>>,
  rowNumber: number,
): CaseIdentity {
  const mapped = suite.mapping.identity.evaluate({ case: row });
  if (!isObject(mapped)) throw datasetError('case', 'a mapping', mapped);
  return { id: readId(mapped['id'], rowNumber), tags: readTags(mapped['tags'], suite) };
}

function readId(value: unknown, rowNumber: number): string {
  if (value === undefined || value === null || value === '') return String(rowNumber);
  const id = scalarText(value);
  if (id === undefined) throw datasetError('id', 'text or a number', value);
  return id;
}

/** A DATASET_INVALID error caused by a line of the suite file, given in `location`, rather than by the row. */
export class SuiteFileError extends RuntimeError {
  readonly location: Pick<SourceLocation, 'file' | 'line'>;

  constructor(location: SuiteFileError['location'], { message, hint }: { message: string; hint: string }) {
    super('DATASET_INVALID', message, { hint });
    this.location = location;
  }
}

function readTags(value: unknown, { file, mapping }: Suite): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string' && mapping.tagsLine !== undefined) {
    const message = 'case.tags must be a list, but it is text';
    const hint = 'Write it in brackets, as a list of one: tags: ["${case.topic}"].';
    throw new SuiteFileError({ file, line: mapping.tagsLine }, { message, hint });
  }
  if (!Array.isArray(value)) throw datasetError('tags', 'a list', value);
  const tags = value.map((tag: unknown, index) => {
    const text = tag === null ? '' : scalarText(tag);
    if (text === undefined) throw datasetError(`tags[${index}]`, 'text', tag);
    return text;
  });
  return [...new Set(tags)].filter((tag) => tag !== '');
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'object' && value !== null && JSON.isRawJSON(value) ? value.rawJSON : undefined;
}

/** A person's verdict: true for pass, false for fail, undefined if there is none. Throws DATASET_INVALID. */
export function readLabel(value: unknown, place: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  const text = String(value);
  if (text.trim() === '') return undefined;
  const verdict = verdictOfWord(text);
  if (verdict !== undefined) return verdict;
  throw datasetError(place, 'a verdict, such as true or false, pass or fail', value);
}

const passing = ['true', 'pass', 'passed', 'yes', 'good', '1'];
const failing = ['false', 'fail', 'failed', 'no', 'bad', '0'];

export function verdictOfWord(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  if (passing.includes(word)) return true;
  return failing.includes(word) ? false : undefined;
}
