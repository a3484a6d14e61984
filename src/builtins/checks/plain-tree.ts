import { stringifyJson } from '../../base/json/json.ts';

/** Integers beyond 2^53 become approximate. */
export function toPlainTree(tree: unknown): unknown {
  return JSON.parse(stringifyJson(tree));
}
