import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import type { Message, Reply } from '../../contract/exchange.ts';
import {
  type Answer,
  allow,
  ask,
  deny,
  modify,
  type NativeEvent,
  type ToolHookRequest,
} from '../../contract/hook.ts';
import { type Body, excerpt, isAmbiguous, malformed, nonNull, noteUnknownKeys, readReply } from '../body.ts';
import { type Codec, type Decoded, decoded, type Note, toMessage, toSplicedMessage } from '../dialect.ts';
import { noMetadata } from '../metadata.ts';
import type { Casing } from './casing.ts';

/** Hooks: an envelope of `hook`, `phase` and the phase's payload in, `{"allow": …}` out. */
export function createHookCodec(casing: Casing): Codec<NativeEvent, Answer> {
  return { encode: (event) => encode(event, casing), decode };
}

function encode(event: NativeEvent, casing: Casing): Message {
  if (event.phase === 'before_execution' && event.request.args instanceof Json)
    return encodeToolCall(event.request, event.request.args, casing);
  return toMessage(stringifyJson(toPayload(event, casing)));
}

function encodeToolCall(request: ToolHookRequest, args: Json, casing: Casing): Message {
  const { name, call_id } = withModelId(request, request);
  const keys = casing.toolRequestKeys;
  const start = '{"hook":"tool","phase":"before_execution","request":{';
  return toSplicedMessage(
    `${start}"${keys.name}":${stringifyJson(name)},"${keys.args}":`,
    args.text,
    `,"${keys.call_id}":${stringifyJson(call_id)}}}`,
  );
}

function toPayload(event: NativeEvent, casing: Casing): Readonly<Record<string, unknown>> {
  const { hook, phase } = event;
  switch (event.phase) {
    case 'before_call':
      return { hook, phase, request: casing.providerRequest(event.request) };
    case 'after_call':
      return {
        hook,
        phase,
        request: casing.providerRequest(event.request),
        response: casing.providerResponse(event.response),
      };
    case 'before_execution':
      return { hook, phase, request: casing.toolRequest(withModelId(event.request, event.request)) };
    case 'after_execution':
      return {
        hook,
        phase,
        request: casing.toolRequest(withModelId(event.request, event.request)),
        response: casing.toolResponse(withModelId(event.request, event.response)),
      };
    case 'session_start':
    case 'session_update':
    case 'session_end':
      return { hook, phase, event: casing.sessionEvent(event.event) };
    case 'scored':
      // An eval hook reads the bare result, without an envelope.
      return { ...event.event };
  }
}

/** Adds the model's own id of the call, as in its messages, if a model made the call. */
function withModelId<Part extends { readonly call_id: string }>(
  { tool_use_id: own }: ToolHookRequest,
  part: Part,
): Part {
  return own === undefined || own === '' ? part : { ...part, call_id: own };
}

/** A fast path for the usual answer of a filter. */
const bareAllows: ReadonlySet<string> = new Set(['{"allow":true}', '{"allow": true}']);
const bareAllow: Decoded<Answer> = decoded(allow('', noMetadata));

const verdictShape = '{"allow": true} or {"allow": false, "reason": "…"}';

function decode(reply: Reply, event: NativeEvent): Decoded<Answer> {
  if (reply.via === 'rpc' && reply.error === undefined && bareAllows.has(reply.result?.text ?? ''))
    return bareAllow;
  const body = readReply(reply, undefined, verdictShape);
  const notes = noteUnknownKeys(body, ['allow', 'reason', 'enforced', 'metadata', 'replace', 'ask']);
  return readAnswer(body, event, notes);
}

function readAnswer(body: Body, event: NativeEvent, notes: readonly Note[]): Decoded<Answer> {
  if (isAmbiguous(body, 'allow')) throw malformed('the reply says `allow` more than once');
  const verdict = body.get('allow');
  if (verdict?.value === true) return decoded(readAllow(body, event), notes);
  if (verdict?.value === false) return readDeny(body, event, notes);
  const hint = `Print ${verdictShape}.`;
  if (verdict === undefined)
    throw malformed('the reply has no `allow`', hint, { text: excerpt(body.json.text) });
  const isQuoted = verdict.value === 'true' || verdict.value === 'false';
  throw malformed(
    `\`allow\` is neither true nor false: ${excerpt(verdict.text)}`,
    isQuoted ? `Print ${verdict.value} without quotes: {"allow": ${verdict.value}}.` : hint,
  );
}

function readAllow(body: Body, event: NativeEvent): Answer {
  const reason = nonNull(body.get('reason'))?.value ?? '';
  const enforced = nonNull(body.get('enforced'))?.value ?? false;
  const metadata = nonNull(body.get('metadata')) ?? noMetadata;
  if (typeof reason !== 'string') throw malformed('the reply’s `reason` is not a string');
  if (typeof enforced !== 'boolean') throw malformed('the reply’s `enforced` is not a boolean');
  if (!isObject(metadata.value)) throw malformed('the reply’s `metadata` is not an object');
  if (enforced) throw malformed('`allow: true` and `enforced: true` contradict each other');
  if (nonNull(body.get('ask')) !== undefined) throw malformed('`ask` cannot be combined with `allow: true`');
  const replace = body.get('replace');
  if (replace === undefined) return allow(reason, metadata);
  const problem = checkReplace(event, replace);
  if (problem !== undefined) throw malformed(`the reply’s \`replace\` ${problem}`);
  return modify(replace, reason, metadata);
}

/**
 * Drops other members of a wrong type with a warning. At before_execution, `ask: true` makes it an ask; readers that do
 * not know `ask` deny.
 */
function readDeny(body: Body, event: NativeEvent, notes: readonly Note[]): Decoded<Answer> {
  const dropped: Note[] = [];
  const readOptional = <Value>(key: string, isFit: (value: unknown) => value is Value): Json | undefined => {
    const json = nonNull(body.get(key));
    if (json === undefined || isFit(json.value)) return json;
    dropped.push({ level: 'warn', message: `the denial's \`${key}\` has the wrong type and is dropped` });
    return undefined;
  };
  const reason = readOptional('reason', isString);
  const enforced = readOptional('enforced', isBoolean);
  const metadata = readOptional('metadata', isObject) ?? noMetadata;
  if (body.get('replace') !== undefined) {
    dropped.push({ level: 'warn', message: 'the denial’s `replace` is ignored' });
  }
  const asks = readOptional('ask', isBoolean)?.value === true && !isAmbiguous(body, 'ask');
  const why = reason === undefined ? '' : String(reason.value);
  const mayAsk = asks && event.phase === 'before_execution' && enforced?.value !== true;
  if (asks && !mayAsk) dropped.push({ level: 'warn', message: 'the denial’s `ask` is ignored here' });
  const answer = mayAsk ? ask(why, metadata) : deny(why, enforced?.value === true, metadata);
  return decoded(answer, [...notes, ...dropped]);
}

const isString = (value: unknown): value is string => typeof value === 'string';
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

/**
 * The fault of a `replace` for this event, as the end of a sentence, or undefined. An unknown member is a fault: a
 * misspelt one must not let the original through.
 */
export function checkReplace(event: NativeEvent, replace: Json): string | undefined {
  const { value } = replace;
  if (!isObject(value)) return 'is not an object';
  const keys = Object.keys(value);
  const shape = shapes[event.phase];
  if (shape === undefined) return 'is not allowed here';
  const stray = keys.find((key) => !Object.hasOwn(shape, key));
  if (stray !== undefined) return `has a member "${stray}", which ${event.phase} does not have`;
  if (keys.length === 0) return `is empty; ${event.phase} has ${Object.keys(shape).join(', ')}`;
  for (const key of keys) {
    const problem = shape[key]?.(value[key]);
    if (problem !== undefined) return `has a \`${key}\` that ${problem}`;
  }
  return undefined;
}

type Check = (value: unknown) => string | undefined;

const text: Check = (value) => (typeof value === 'string' ? undefined : 'is not a string');
const object: Check = (value) => (isObject(value) ? undefined : 'is not an object');
const message: Check = (value) => checkMessage(value);

const shapes: Partial<Record<NativeEvent['phase'], Readonly<Record<string, Check>>>> = {
  before_call: {
    messages: (value) => {
      if (!Array.isArray(value)) return 'is not a list';
      return value.map(message).find((problem) => problem !== undefined);
    },
    system_prompt: text,
    other: object,
  },
  after_call: {
    message: (value) =>
      message(value) ??
      (isObject(value) && value['role'] === 'assistant' ? undefined : 'has a role other than assistant'),
  },
  before_execution: { args: object },
  after_execution: { content: text },
};

const roles: readonly unknown[] = ['system', 'user', 'assistant', 'tool'];

function checkMessage(value: unknown): string | undefined {
  if (!isObject(value)) return 'holds a message that is not an object';
  if (!roles.includes(value['role'])) return 'holds a message without a known role';
  if (typeof value['content'] !== 'string') return 'holds a message whose content is not a string';
  const { tool_result: result } = value;
  return checkParts(value['parts']) ?? checkParts(isObject(result) ? result['parts'] : undefined);
}

/** A changed `content` could not be matched with parts whose text cannot be read. */
function checkParts(parts: unknown): string | undefined {
  if (parts === undefined || parts === null) return undefined;
  const isFit = Array.isArray(parts) && parts.every((part) => isObject(part) && isText(part['text']));
  return isFit ? undefined : 'holds a message whose parts are not a list of objects with text';
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
