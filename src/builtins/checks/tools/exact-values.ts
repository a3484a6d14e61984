import { isObject, toLossless } from '../../../base/json/json.ts';
import type { CheckInput } from '../check.ts';

/** Reads a param with exact numbers, which `params` may have rounded. Does not resolve aliases. */
export function exactParam({ request }: CheckInput, name: string): Members {
  const tree = toLossless(request.params);
  const value = isMembers(tree) && Object.hasOwn(tree, name) ? tree[name] : undefined;
  return isMembers(value) ? value : {};
}

export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return isObject(value) && !JSON.isRawJSON(value);
}
