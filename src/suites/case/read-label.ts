import { datasetError } from '../dataset-error.ts';

/** What a person said: true to pass, false to fail, undefined where nobody said anything. Throws DATASET_INVALID. */
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

/** The verdict that a word means; undefined of any other. */
export function verdictOfWord(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  if (passing.includes(word)) return true;
  return failing.includes(word) ? false : undefined;
}
