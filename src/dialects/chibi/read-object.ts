import { type Answer, answers } from '../../contract/hook.ts';
import { isObject, type Json } from '../../json/json.ts';
import { type Body, malformed } from '../body.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import { failOpen } from '../failed-open.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import { isOfKind } from '../payload-table.ts';
import { noteUnknownKeys } from '../unknown-keys.ts';
import type { ChibiSettings } from './config/settings.ts';
import { findMisplacedDenial, isVerdictKey } from './misplaced-denial.ts';
import { requirePoint } from './points.ts';
import { readBodyChange } from './request/change.ts';

/**
 * Decodes a JSON object at its point. A member of the wrong type counts as absent; a denial counts whatever
 * else is wrong, and under any of chibi's verdict keys. Source: the typed readers of tools/hooks.rs.
 */
export function readObject(
  entry: HookEntry<ChibiSettings>,
  { point }: Question,
  body: Body,
): Decoded<Answer> {
  const { results } = requirePoint(point);
  const given = Object.entries(results).flatMap(([key, kind]) => {
    const json = body.get(key);
    return json === undefined ? [] : [{ key, json, isFit: isOfKind(json, kind) }];
  });
  const fit = new Map(given.filter(({ isFit }) => isFit).map(({ key, json }) => [key, json]));
  const wrong = given.filter(({ isFit }) => !isFit).map(({ key }) => `\`${key}\``);
  const pointAnswer = toAnswer(entry, point, fit);
  const misplaced = pointAnswer.verdict === 'deny' ? undefined : findMisplacedDenial(point, body);
  const answer = misplaced?.answer ?? pointAnswer;
  const verdictKeys = misplaced === undefined ? [] : body.members.map(({ key }) => key).filter(isVerdictKey);
  const notes = [
    ...noteUnknownKeys(body, [...Object.keys(results), ...verdictKeys]),
    ...(misplaced?.notes ?? []),
  ];
  return wrong.length === 0 ? decoded(answer, notes) : readWrongTypes(entry, answer, { wrong, notes });
}

function readWrongTypes(
  entry: HookEntry<ChibiSettings>,
  answer: Answer,
  { wrong, notes }: { readonly wrong: readonly string[]; readonly notes: readonly Note[] },
): Decoded<Answer> {
  const what = `gave ${wrong.join(' and ')} of the wrong type`;
  if (answer.verdict === 'deny') return decoded(answer, [...notes, { level: 'warn', message: `it ${what}` }]);
  return failOpen(entry, { cause: 'chibi.wrong_type', what }, { notes, answer });
}

/** Members of an answer that have the type of their point. */
type Results = ReadonlyMap<string, Json>;

/** One plugin's answer. Throws REPLY_MALFORMED for a replacement that cannot be used. */
function toAnswer(entry: HookEntry<ChibiSettings>, point: string, results: Results): Answer {
  const { family, refusal } = requirePoint(point);
  switch (family) {
    case 'observe':
      return answers.allow();
    case 'replace':
      return replaceWith(results);
    case 'gate':
      return isTrue(results, 'block')
        ? answers.deny(textIn(results, 'message') ?? refusal)
        : replaceWith(results);
    case 'permission':
      return isTrue(results, 'denied') || results.get('approved')?.value === false
        ? answers.deny(textIn(results, 'reason') ?? refusal)
        : answers.allow();
    case 'spawn':
      return readSpawn(results, refusal);
    case 'delivery':
      return readDelivery(entry, results);
    case 'cache':
      return readCache(results);
  }
}

/** The answer at a sub-agent call: a `response` wins over a `block`. */
function readSpawn(results: Results, refusal: string): Answer {
  const response = results.get('response');
  if (response !== undefined) return answers.respond({ response });
  return isTrue(results, 'block') ? answers.deny(textIn(results, 'message') ?? refusal) : answers.allow();
}

function readDelivery({ name, settings }: HookEntry<ChibiSettings>, results: Results): Answer {
  if (!isTrue(results, 'delivered')) return answers.allow();
  return answers.respond({ delivered: true, via: textIn(results, 'via') ?? (settings.tool || name) });
}

function readCache(results: Results): Answer {
  if (isTrue(results, 'block')) return answers.modify({ cache: false });
  const summary = results.get('summary');
  return summary === undefined ? answers.allow() : answers.modify({ summary });
}

/** A modify with the members that replace something; an allow when there are none. */
function replaceWith(results: Results): Answer {
  const replace = [...results].flatMap(([key, json]) => replaceMember(key, json));
  return replace.length === 0 ? answers.allow() : answers.modify(Object.fromEntries(replace));
}

function replaceMember(key: string, json: Json): readonly (readonly [string, unknown])[] {
  switch (key) {
    case 'arguments':
      if (!isObject(json.value)) throw malformed('its `arguments` are no object');
      return [['args', json]];
    case 'request_body':
      if (!isObject(json.value)) throw malformed('its `request_body` is no object');
      readBodyChange(json);
      return [[key, json]];
    case 'include':
    case 'exclude':
      return [[key, namesIn(json)]];
    case 'inject':
      return json.value === '' ? [] : [[key, [json]]];
    case 'output':
      return [['content', json]];
    // A typo must not make the loop go on until its fuel is gone.
    case 'fallback':
      return [[key, json.value === 'call_agent' ? json : 'call_user']];
    case 'prompt':
    case 'fuel':
    case 'fuel_delta':
      return [[key, json]];
    default:
      return [];
  }
}

function namesIn({ value }: Json): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

function isTrue(results: Results, key: string): boolean {
  return results.get(key)?.value === true;
}

function textIn(results: Results, key: string): string | undefined {
  const value = results.get(key)?.value;
  return typeof value === 'string' ? value : undefined;
}
