import { isJson } from '../../base/json/parse.ts';
import { type Member, scanElements, scanMembers } from '../../base/json/scan.ts';

/** What happens to the members of one object of a payload, by key; others stay. `each` applies to the elements of an array. */
export interface VolatileFields {
  readonly [key: string]: 'drop' | 'drop run ids' | VolatileFields;
}

/**
 * The body with the fields nulled whose values differ from run to run: ids that Signalbox generates, and
 * measured times. Arguments, params and messages stay. A body that is no JSON object is returned as it is.
 */
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

/** Session ids that Signalbox generates for runs, direct calls and fired events; ids of a dataset stay. */
const generatedSessionId =
  /^"(run_[\da-f]{16}|(call|event)_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})(-turn-\d+)?"$/;

function isObjectText(text: string): boolean {
  return text.startsWith('{') && isJson(text);
}
