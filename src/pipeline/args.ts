import { RuntimeError } from '../errors.ts';
import { findDuplicateKey, isObject, Json, stringifyJson } from '../json.ts';

/**
 * The arguments of a tool call as one JSON object, its text as it came. Nothing, blank text and null mean no
 * arguments. Throws ARGS_INVALID for anything but an object, and for a key that stands twice at any depth.
 */
export function readArgs(name: string, args: unknown): Json {
  const text = typeof args === 'string' ? args.trim() : args === undefined ? '' : stringifyJson(args);
  if (text === '' || text === 'null') return new Json('{}');
  const json = new Json(text);
  let value: unknown;
  try {
    value = json.value;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw invalid(name, `the arguments are not JSON: ${why}`);
  }
  if (!isObject(value)) throw invalid(name, 'the arguments are not a JSON object');
  const twice = findDuplicateKey(text);
  if (twice !== undefined) throw invalid(name, `the argument "${twice}" stands twice`);
  return json;
}

/** Throws ARGS_INVALID with every violation of the tool's input schema. */
export function requireValidArgs(name: string, violations: readonly string[]): void {
  if (violations.length > 0)
    throw invalid(name, `the arguments do not fit input_schema: ${violations.join('; ')}`);
}

function invalid(name: string, why: string): RuntimeError {
  return new RuntimeError('ARGS_INVALID', `tool "${name}": ${why}`);
}
