import { stringifyJson } from '../../base/json/json.ts';

/** The tree as plain JSON values, whatever it held; integers beyond 2^53 are approximate. */
export function toPlainTree(tree: unknown): unknown {
  return JSON.parse(stringifyJson(tree));
}
