import { isSameByValue } from '../../../base/json/equal.ts';
import { parseLossless, stringifyJson, toLossless } from '../../../base/json/json.ts';
import { shorten } from '../../../base/text/phrases.ts';
import type { EvalToolCall } from '../../../contract/eval.ts';
import { isMembers, type Members } from './exact-values.ts';

/**
 * Keeps every digit, also for arguments that are the text of a JSON object. Arguments that are not an object have no
 * members.
 */
export function argsOf({ args }: EvalToolCall): Members {
  try {
    const tree = toLossless(args);
    const read = typeof tree === 'string' ? parseLossless(tree) : tree;
    return isMembers(read) ? read : {};
  } catch {
    return {};
  }
}

/** Returns the differences from the expected arguments, one phrase each. Additional arguments do not matter. */
export function findMismatches(args: Members, expected: Members): readonly string[] {
  return Object.entries(expected).flatMap(([name, value]) => {
    if (!Object.hasOwn(args, name)) return [`${name} is missing`];
    if (isSameByValue(args[name], value)) return [];
    return [`${name} is ${formatValue(args[name])}, not ${formatValue(value)}`];
  });
}

export function textOfArg(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

export function formatValue(value: unknown): string {
  return shorten(stringifyJson(value));
}
