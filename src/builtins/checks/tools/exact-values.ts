import { isObject, toLossless } from '../../../base/json/json.ts';
import type { CheckInput } from '../check.ts';

/** A param with exact numbers, which `params` may have rounded; for params without aliases. */
export function exactParam({ request }: CheckInput, name: string): Members {
  const tree = toLossless(request.params);
  const value = isMembers(tree) && Object.hasOwn(tree, name) ? tree[name] : undefined;
  return isMembers(value) ? value : {};
}

/** The members of an exact object. */
export type Members = Readonly<Record<string, unknown>>;

/** Whether an exact value is an object, and no raw number. */
export function isMembers(value: unknown): value is Members {
  return isObject(value) && !JSON.isRawJSON(value);
}
