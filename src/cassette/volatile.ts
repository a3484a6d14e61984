import type { DialectName } from '../config/config.ts';
import { isObject } from '../json/json.ts';
import { type Member, scanElements, scanMembers } from '../json/scan.ts';
import { type Rule, ruleOf } from './volatile-rules.ts';

/**
 * The request without what is another value each time that the same is asked: ids that Signalbox makes up, and
 * measured times. Arguments, params and messages are the user's own and stay as they are.
 */
export function withoutChance(body: string, dialect: DialectName): string {
  return isObjectText(body) ? rewrite(body, scanMembers(body), ruleOf(dialect)) : body;
}

function rewrite(text: string, members: readonly Member[], rule: Rule): string {
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

function replace(value: string, action: 'drop' | 'drop run ids' | Rule): string {
  if (action === 'drop') return 'null';
  if (action === 'drop run ids') return runId.test(value) ? 'null' : value;
  if (value.startsWith('[')) return replaceEach(value, action);
  return value.startsWith('{') ? rewrite(value, scanMembers(value), action) : value;
}

function replaceEach(array: string, rule: Rule): string {
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

/** What a run, a lone call or a fired event has for a session; one that a dataset names is a question of its own. */
const runId = /^"(run_[\da-f]{16}|(call|event)_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})(-turn-\d+)?"$/;

function isObjectText(text: string): boolean {
  if (!text.startsWith('{')) return false;
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
