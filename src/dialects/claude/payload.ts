import { isObject, Json } from '../../json/json.ts';

/** A member of a payload as a plain value; undefined when there is none. */
export function valueAt(tree: unknown, key: string): unknown {
  const plain = tree instanceof Json ? tree.value : tree;
  const member = isObject(plain) && Object.hasOwn(plain, key) ? plain[key] : undefined;
  return member instanceof Json ? member.value : member;
}
