import { datasetError } from './dataset-error.ts';

/** What a person said: true to pass, false to fail, undefined where nobody said anything. Throws DATASET_INVALID. */
export function readLabel(value: unknown, place: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  const word = String(value).trim().toLowerCase();
  if (word === '') return undefined;
  if (passing.includes(word)) return true;
  if (failing.includes(word)) return false;
  throw datasetError(place, 'a verdict, such as true or false, pass or fail', value);
}

const passing = ['true', 'pass', 'passed', 'yes', 'good', '1'];
const failing = ['false', 'fail', 'failed', 'no', 'bad', '0'];
