import { Json } from './json.ts';
import { scanMembers } from './scan.ts';

/** The members of a JSON object from our store, each with its exact text; the last of a repeated key. */
export function exactMembers(json: Json): ReadonlyMap<string, Json> {
  return new Map(
    scanMembers(json.text).map(({ key, start, end }) => [key, new Json(json.text.slice(start, end))]),
  );
}

/** The member of that key in a stored object. Throws Error when it is missing. */
export function requireMember(members: ReadonlyMap<string, Json>, key: string): Json {
  const member = members.get(key);
  if (member === undefined) throw new Error(`the journal's entry has no "${key}"`);
  return member;
}
