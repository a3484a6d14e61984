import { isSameByValue } from '../../../base/json/equal.ts';
import { parseLossless, stringifyJson, toLossless } from '../../../base/json/json.ts';
import { shorten } from '../../../base/text/phrases.ts';
import type { EvalToolCall } from '../../../contract/eval.ts';
import { isMembers, type Members } from './exact-values.ts';

/** The arguments to the digit, also when they are the text of a JSON object. Those that are no object have no members. */
export function argsOf({ args }: EvalToolCall): Members {
  try {
    const tree = toLossless(args);
    const read = typeof tree === 'string' ? parseLossless(tree) : tree;
    return isMembers(read) ? read : {};
  } catch {
    return {};
  }
}

/** How arguments differ from those that are expected, one phrase for each; further arguments do not matter. */
export function findMismatches(args: Members, expected: Members): readonly string[] {
  return Object.entries(expected).flatMap(([name, value]) => {
    if (!Object.hasOwn(args, name)) return [`${name} is missing`];
    if (isSameByValue(args[name], value)) return [];
    return [`${name} is ${formatValue(args[name])}, not ${formatValue(value)}`];
  });
}

/** The text that patterns are looked for in: a text itself, the JSON text of anything else. */
export function textOfArg(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

/** A value for a sentence. */
export function formatValue(value: unknown): string {
  return shorten(stringifyJson(value));
}
