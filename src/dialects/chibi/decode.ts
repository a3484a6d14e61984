import { RuntimeError, toFault } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import type { ProcessReply, Reply } from '../../contract/exchange.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import {
  type Body,
  decodePrinted,
  describeExit,
  exitError,
  isAmbiguous,
  malformed,
  noteUnknownKeys,
  toBody,
} from '../body.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import { failOpen } from '../failed-open.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import { isOfKind } from '../payload-table.ts';
import { type ChibiSettings, type Family, requirePoint } from './points.ts';
import { readBodyChange } from './request.ts';

type ChibiEntry = HookEntry<ChibiSettings>;

/**
 * A crash passes, and so does output that is not a JSON object, as in chibi. A plugin that cannot be started or times
 * out aborts the turn. Source: execute_hook in tools/hooks.rs.
 */
export function decode(entry: ChibiEntry, question: Question, reply: Reply | RuntimeError): Decoded<Answer> {
  const { isFilter } = requirePoint(question.point);
  if (!isFilter) return readObserver(question.point, reply);
  if (reply instanceof RuntimeError) return decoded(abortFor(entry, question, reply));
  if (reply.via === 'rpc') throw malformed('a chibi plugin starts anew for each call');
  return readOutput(entry, question, reply);
}

function readObserver(point: string, reply: Reply | RuntimeError): Decoded<Answer> {
  const problem = reply instanceof RuntimeError ? reply.message : describeCrash(reply);
  if (problem === undefined) return decoded(answers.allow());
  const message = `it failed at ${point}: ${problem}`;
  return decoded(answers.allow(), [{ level: 'warn', message }]);
}

function abortFor({ name, settings }: ChibiEntry, { point }: Question, error: RuntimeError): Answer {
  const what = `hook ${point} on ${settings.tool || name}`;
  const fault = { error: toFault(error) };
  switch (error.code) {
    case 'PROCESS_START':
      return answers.abort(`Failed to spawn ${what}: ${error.message}`, 'turn', fault);
    case 'PROCESS_TIMEOUT':
      return answers.abort(`Failed to execute ${what}: ${timedOut(error)}: ${what}`, 'turn', fault);
    default:
      return answers.abort(`Failed to execute ${what}: ${error.message}`, 'turn', fault);
  }
}

function timedOut({ details }: RuntimeError): string {
  const { timeout_ms: limit } = details;
  return typeof limit === 'number' ? `Timed out after ${limit / 1000}s` : 'Timed out';
}

function readOutput(entry: ChibiEntry, question: Question, reply: ProcessReply): Decoded<Answer> {
  const crash = describeCrash(reply);
  if (crash !== undefined) {
    const error = exitError(reply, `the process ${crash}`);
    return failOpen(entry, { cause: 'chibi.exit_nonzero', what: crash, error });
  }
  const text = decodePrinted(reply.stdout).text.trim();
  if (text === '') return failOpen(entry, { cause: 'chibi.empty', what: 'printed nothing' });
  const json = new Json(text);
  const value = parse(json);
  if (value === undefined) {
    return failOpen(entry, {
      cause: 'chibi.not_json',
      what: 'printed something other than one JSON document',
    });
  }
  if (!isObject(value)) return failOpen(entry, { cause: 'chibi.no_object', what: 'printed no JSON object' });
  return readObject(entry, question, toBody(json));
}

function describeCrash(reply: Reply): string | undefined {
  if (reply.via === 'rpc') return 'answered like a server';
  return reply.exitCode === 0 && reply.signal === null ? undefined : describeExit(reply);
}

function parse(json: Json): unknown {
  try {
    return json.value;
  } catch {
    return undefined;
  }
}

/**
 * A member of the wrong type counts as absent. A denial under any of chibi's verdict keys counts whatever else is
 * wrong. Source: the typed readers of tools/hooks.rs.
 */
function readObject(entry: HookEntry<ChibiSettings>, { point }: Question, body: Body): Decoded<Answer> {
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

type Results = ReadonlyMap<string, Json>;

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

function replaceWith(results: Results): Answer {
  const replace = [...results].flatMap(([key, json]) => replaceMember(key, json));
  return replace.length === 0 ? answers.allow() : answers.modify(Object.fromEntries(replace));
}

function replaceMember(key: string, json: Json): readonly (readonly [string, unknown])[] {
  switch (key) {
    case 'arguments':
      if (!isObject(json.value)) throw malformed('its `arguments` are not an object');
      return [['args', json]];
    case 'request_body':
      if (!isObject(json.value)) throw malformed('its `request_body` is not an object');
      readBodyChange(json);
      return [[key, json]];
    case 'include':
    case 'exclude':
      return [[key, namesIn(json)]];
    case 'inject':
      return json.value === '' ? [] : [[key, [json]]];
    case 'output':
      return [['content', json]];
    // A typo must not make the loop continue until its fuel is used up.
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

interface MisplacedDenial {
  readonly answer: Answer;
  readonly notes: readonly Note[];
}

/** The value by which each verdict key denies. Plugins used `approved` before February 2026. */
const denyingValues = { block: true, denied: true, approved: false } as const;

const verdictKeys = ['block', 'denied', 'approved'] as const;

const familiesThatDeny: readonly Family[] = ['gate', 'permission', 'spawn'];

/**
 * A denial by another point's verdict key, or by a repeated key or one in another letter case. Undefined if there is
 * none, or if the point cannot deny.
 */
function findMisplacedDenial(point: string, body: Body): MisplacedDenial | undefined {
  const { family, refusal } = requirePoint(point);
  if (!familiesThatDeny.includes(family)) return undefined;
  const what = findDenyingKey(point, body);
  if (what === undefined) return undefined;
  const reason = textAt(body, 'message') ?? textAt(body, 'reason') ?? refusal;
  return { answer: answers.deny(reason), notes: [{ level: 'warn', message: `${what}, which denies` }] };
}

function isVerdictKey(key: string): boolean {
  return verdictKeys.some((word) => word === key.toLowerCase());
}

function findDenyingKey(point: string, body: Body): string | undefined {
  const repeated = verdictKeys.find((word) => isAmbiguous(body, word));
  if (repeated !== undefined) return `it gave \`${repeated}\` more than once`;
  const miscased = body.members.find(({ key }) => isVerdictKey(key) && key !== key.toLowerCase());
  if (miscased !== undefined)
    return `it gave \`${miscased.key}\` instead of \`${miscased.key.toLowerCase()}\``;
  const { results } = requirePoint(point);
  const foreign = verdictKeys.find(
    (word) => !(word in results) && body.get(word)?.value === denyingValues[word],
  );
  return (
    foreign &&
    `it gave \`${foreign}: ${denyingValues[foreign]}\`, which belongs to other points than ${point}`
  );
}

function textAt(body: Body, key: string): string | undefined {
  const value = body.get(key)?.value;
  return typeof value === 'string' ? value : undefined;
}
