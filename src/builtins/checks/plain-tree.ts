import { stringifyJson } from '../../base/json/json.ts';

/** Converts the tree to plain JSON values; integers beyond 2^53 are approximate. */
export function toPlainTree(tree: unknown): unknown {
  return JSON.parse(stringifyJson(tree));
}
