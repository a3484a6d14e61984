import { isObject, Json } from '../../json.ts';
import { memberOf, scanMembers } from '../../json-text.ts';

/** A member of a payload as a plain value; undefined when there is none. */
export function valueAt(tree: unknown, key: string): unknown {
  const plain = tree instanceof Json ? tree.value : tree;
  const member = isObject(plain) && Object.hasOwn(plain, key) ? plain[key] : undefined;
  return member instanceof Json ? member.value : member;
}

/** The members of an object with the text they had; none of what is no object. */
export function partsOf({ text, value }: Json): Readonly<Record<string, Json>> {
  if (!isObject(value)) return {};
  const members = scanMembers(text);
  const parts = members.map(({ key }): [string, Json] => [
    key,
    memberOf(text, members, key) ?? new Json('null'),
  ]);
  return Object.fromEntries(parts);
}
