import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isTextTooDeep, isTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { plainText } from '../../base/json/plain-text.ts';
import { fitsAnything, type SchemaCheck } from '../../base/yaml/schema-check.ts';
import type { CallableTool } from './callable-tool.ts';

/**
 * The arguments of a tool call as one JSON object, its text as it came. Nothing, blank text and null mean no
 * arguments. Throws ARGS_INVALID for anything but an object, and for a duplicate key at any depth.
 */
export function readArgs(name: string, args: unknown): Json {
  if (args === undefined || args === null) return noArgs;
  // What is written so is an object that keys stand in once, and need not be read again to know it.
  const plain = isObject(args) ? plainText(args) : undefined;
  if (plain !== undefined) return new Json(plain);
  const text = typeof args === 'string' ? args.trim() : toJsonText(name, args);
  if (isTextTooDeep(text)) throw tooDeep(name);
  if (text === '' || text === 'null') return noArgs;
  const json = new Json(text);
  let value: unknown;
  try {
    value = json.value;
  } catch (error) {
    throw invalid(name, `the arguments are not JSON: ${toRuntimeError(error).message}`);
  }
  if (!isObject(value)) throw invalid(name, 'the arguments are not a JSON object');
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined) throw invalid(name, `the argument "${duplicate}" stands twice`);
  return json;
}

const noArgs = new Json('{}');

/** Like `readArgs`, for edited arguments: empty or null ones are refused too. Throws ARGS_INVALID. */
export function readGivenArgs(name: string, args: unknown): Json {
  const isBlank = typeof args === 'string' && /^(null)?$/.test(args.trim());
  if (args === null || isBlank) throw invalid(name, 'the edited arguments are empty; for none write {}');
  return readArgs(name, args);
}

/** Arguments as text that fits the tool's schema, or of the form that a host may send. Throws ARGS_INVALID. */
export function readCheckedArgs(tool: CallableTool, args: unknown, isByHost = false): Json {
  const json = readArgs(tool.name, args);
  if (tool.isDirect?.(json) === true) {
    requireValidArgs(tool.name, isByHost ? [] : ['a list of `args` alone is for a host to send']);
    return json;
  }
  requireValidArgs(tool.name, findMisfits(tool.checkArgs, json));
  return json;
}

/** What is wrong with a value, which is not parsed where nothing is asked of it. */
export function findMisfits(check: SchemaCheck, json: Json): readonly string[] {
  return check === fitsAnything ? [] : check(json);
}

/** Throws ARGS_INVALID with every violation of the tool's input schema. */
function requireValidArgs(name: string, violations: readonly string[]): void {
  if (violations.length > 0)
    throw invalid(name, `the arguments do not fit input_schema: ${violations.join('; ')}`);
}

function toJsonText(name: string, args: unknown): string {
  if (!isObject(args)) throw invalid(name, 'the arguments are not a JSON object');
  if (isTooDeep(args)) throw tooDeep(name);
  try {
    return stringifyJson(args);
  } catch (error) {
    throw invalid(name, `the arguments cannot be written as JSON: ${toRuntimeError(error).message}`);
  }
}

function tooDeep(name: string): RuntimeError {
  return invalid(
    name,
    `the arguments are nested in more than ${MAX_JSON_DEPTH} levels, or contain themselves`,
  );
}

function invalid(name: string, why: string): RuntimeError {
  return new RuntimeError('ARGS_INVALID', `tool "${name}": ${why}`);
}
