import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import type { RunLabels } from '../../contract/run.ts';

/** Labels that a run may have, with their values checked; none where nothing was given. Throws USAGE. */
export function readLabels(given: unknown): RunLabels | undefined {
  if (given === undefined) return undefined;
  if (!isObject(given)) throw unusable('labels are an object: values by their names');
  const labels = Object.entries(given).map(([key, value]) => [requireKey(key), requireValue(key, value)]);
  if (labels.length > MOST_LABELS) throw unusable(`a run has at most ${MOST_LABELS} labels`);
  return labels.length === 0 ? undefined : Object.fromEntries(labels);
}

function requireKey(key: string): string {
  if (/^[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/.test(key)) return key;
  throw unusable(`${JSON.stringify(key.slice(0, 70))} cannot be the name of a label`);
}

function requireValue(key: string, value: unknown): string {
  if (typeof value !== 'string') throw unusable(`the value of label "${key}" is no text`);
  if (value.length > MOST_CHARACTERS)
    throw unusable(`the value of label "${key}" has more than ${MOST_CHARACTERS} characters`);
  if (/[\n\t]/.test(value) || escapeInvisible(value) !== value || !value.isWellFormed())
    throw unusable(
      `the value of label "${key}" has control characters, line breaks or marks that nobody can see`,
    );
  return value;
}

const MOST_LABELS = 16;
const MOST_CHARACTERS = 256;

function unusable(message: string): RuntimeError {
  return new RuntimeError('USAGE', message, {
    hint: 'A name has up to 63 letters, digits, points, dashes, underscores and slashes; a value is one line of up to 256 characters; a run has up to 16.',
  });
}
