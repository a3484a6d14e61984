import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isTextTooDeep, isTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { Json } from '../../base/json/json.ts';
import { jsonHint } from '../../base/json/json-hint.ts';
import type { Pipeline } from '../file/pipeline.ts';

/** The input of a run as JSON text; nothing is an empty object. Throws INPUT_INVALID when it is not JSON. */
export function readInput(input: unknown): Json {
  if (input === undefined) return new Json('{}');
  try {
    // What is nested too deeply for a reader is found out now, not in the middle of the run.
    if (typeof input === 'string' ? isTextTooDeep(input) : isTooDeep(input)) {
      throw new Error(`it is nested in more than ${MAX_JSON_DEPTH} levels, or contains itself`);
    }
    const json = typeof input === 'string' ? new Json(input.trim()) : Json.from(input);
    void json.value;
    const duplicate = findDuplicateKey(json.text);
    if (duplicate !== undefined) throw new Error(`the key "${duplicate}" stands twice`);
    return json;
  } catch (error) {
    throw new RuntimeError('INPUT_INVALID', `the input cannot be used: ${toRuntimeError(error).message}`, {
      cause: error,
      hint: typeof input === 'string' ? inputHint(input) : undefined,
    });
  }
}

/** What an input that is no JSON was meant to be. */
function inputHint(text: string): string | undefined {
  const isFile = /^[^\s{}[\]"]+\.\w+$/.test(text.trim());
  return isFile ? `To read the file, write --input @${text.trim()}.` : jsonHint(text);
}

/** Throws INPUT_INVALID with every violation of the pipeline's input schema. */
export function requireInput({ name, checkInput }: Pipeline, input: Json): void {
  const violations = checkInput(input);
  if (violations.length === 0) return;
  throw new RuntimeError(
    'INPUT_INVALID',
    `the input of pipeline "${name}" does not fit its schema: ${violations.join('; ')}`,
  );
}
