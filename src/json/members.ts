import { Json } from './json.ts';
import { scanMembers } from './scan.ts';

/** The members of a JSON object that we wrote ourselves, each with its exact text; of a repeated key the last. */
export function exactMembers(json: Json): ReadonlyMap<string, Json> {
  return new Map(
    scanMembers(json.text).map(({ key, start, end }) => [key, new Json(json.text.slice(start, end))]),
  );
}

/** A member that we wrote. Throws Error when it is not there. */
export function requireMember(members: ReadonlyMap<string, Json>, key: string): Json {
  const member = members.get(key);
  if (member === undefined) throw new Error(`the journal's entry has no "${key}"`);
  return member;
}
