import { stringifyJson } from '../../base/json/json.ts';
import { memberOf, scanElements, scanMembers } from '../../base/json/scan.ts';

// Edits of JSON texts that leave every other byte as it is. The texts are valid JSON without duplicate keys.

/** The text of a member. Undefined for a value that is not an object. */
export function textOf(object: string, key: string): string | undefined {
  if (!object.startsWith('{')) return undefined;
  return memberOf(object, scanMembers(object), key)?.text;
}

/** Replaces, adds or (undefined) removes a member of an object. */
export function withMember(object: string, key: string, value: string | undefined): string {
  const members = scanMembers(object);
  const at = members.findIndex((member) => member.key === key);
  const found = members[at];
  if (found !== undefined && value !== undefined)
    return splice(object, [{ start: found.start, end: found.end, text: value }]);
  if (value !== undefined) {
    const end = object.lastIndexOf('}');
    const comma = members.length === 0 ? '' : ',';
    return splice(object, [{ start: end, end, text: `${comma}${stringifyJson(key)}:${value}` }]);
  }
  if (found === undefined) return object;
  const next = members[at + 1];
  const before = members[at - 1];
  // From the end of the member before, or up to the key of the next one.
  if (before !== undefined) return splice(object, [{ start: before.end, end: found.end, text: '' }]);
  const start = object.indexOf('{') + 1;
  return splice(object, [
    { start, end: next === undefined ? found.end : keyStartOf(object, found.end), text: '' },
  ]);
}

/** The start of the key that follows the member that ends here: after the comma. */
function keyStartOf(object: string, end: number): number {
  return object.indexOf(',', end) + 1;
}

export interface Part {
  readonly start: number;
  readonly end: number;
}

export function splice(text: string, edits: readonly (Part & { readonly text: string })[]): string {
  let result = '';
  let at = 0;
  for (const edit of edits.toSorted((one, other) => one.start - other.start)) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

/** Parts inside an object or list, with their keys. */
export function childrenOf(text: string, { start }: Part): (Part & { readonly key: string | number })[] {
  if (text[start] === '{') return scanMembers(text, start);
  if (text[start] === '[') return scanElements(text, start).map((part, key) => ({ ...part, key }));
  return [];
}
