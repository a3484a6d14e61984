import { isJson } from '../../base/json/parse.ts';
import { type Member, scanElements, scanMembers } from '../../base/json/scan.ts';

/** The treatment of payload fields by key; others are unchanged. `each` applies to array elements. */
export interface VolatileFields {
  readonly [key: string]: 'drop' | 'drop run ids' | VolatileFields;
}

/** Sets generated ids and measured times to null. Returns a body that is not a JSON object unchanged. */
export function withoutVolatileFields(body: string, fields: VolatileFields): string {
  return isObjectText(body) ? rewrite(body, scanMembers(body), fields) : body;
}

function rewrite(text: string, members: readonly Member[], rule: VolatileFields): string {
  const parts: string[] = [];
  let at = 0;
  for (const { key, start, end } of members) {
    const action = Object.hasOwn(rule, key) ? rule[key] : undefined;
    if (action === undefined) continue;
    parts.push(text.slice(at, start), replace(text.slice(start, end), action));
    at = end;
  }
  return parts.join('') + text.slice(at);
}

function replace(value: string, action: 'drop' | 'drop run ids' | VolatileFields): string {
  if (action === 'drop') return 'null';
  if (action === 'drop run ids') return generatedSessionId.test(value) ? 'null' : value;
  if (value.startsWith('[')) return replaceEach(value, action);
  return value.startsWith('{') ? rewrite(value, scanMembers(value), action) : value;
}

function replaceEach(array: string, rule: VolatileFields): string {
  const each = rule['each'];
  if (typeof each !== 'object') return array;
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of scanElements(array)) {
    parts.push(array.slice(at, start), replace(array.slice(start, end), each));
    at = end;
  }
  return parts.join('') + array.slice(at);
}

/** Matches generated session ids of runs, direct calls and fired events, not those of a dataset. */
const generatedSessionId =
  /^"(run_[\da-f]{16}|(call|event)_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})(-turn-\d+)?"$/;

function isObjectText(text: string): boolean {
  return text.startsWith('{') && isJson(text);
}
