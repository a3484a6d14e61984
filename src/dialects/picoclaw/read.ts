import { isObject, Json } from '../../base/json/json.ts';
import { elementsOf, membersOf } from '../../base/json/scan.ts';
import { type Body, isAmbiguous, malformed, nonNull, noteUnknownKeys, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import { toPlainValue } from '../payload-table.ts';
import type { PicoclawSettings } from './config/settings.ts';
import { noteUnimplementedKeys } from './failure.ts';
import {
  defaultResult,
  foldBody,
  foldObject,
  foldWithText,
  isSame,
  readMessages,
  readResponseObject,
  readResultObject,
  readToolDefs,
  requireObject,
  responseKeys,
  resultKeys,
} from './wire.ts';

/** Throws REPLY_MALFORMED for an unusable `request`. */
export function readRequest(
  { settings }: HookEntry<PicoclawSettings>,
  { payload }: Question,
  object: Json,
): Changes {
  const given = readGiven(foldObject(object, '`request`', ['model', 'messages', 'tools', 'options']));
  const sent: SentRequest = {
    messages: Json.from(payload['messages'] ?? []),
    tools: Json.from(payload['tools'] ?? []),
    options: Json.from(payload['options'] ?? {}),
  };
  return settings.version === 'head' ? replaceRequest(given, sent) : mergeRequest(given, sent);
}

interface SentRequest {
  readonly messages: Json;
  readonly tools: Json;
  readonly options: Json;
}

interface GivenRequest extends Partial<SentRequest> {
  readonly model?: string;
}

function readGiven(body: Body): GivenRequest {
  const [model, messages, tools, options] = ['model', 'messages', 'tools', 'options'].map((key) =>
    nonNull(body.get(key)),
  );
  if (model !== undefined && typeof model.value !== 'string')
    throw malformed('`request.model` is not a string');
  if (messages !== undefined) readMessages(messages, '`request.messages`');
  if (tools !== undefined) readToolDefs(tools, '`request.tools`');
  if (options !== undefined) checkOptions(options);
  return {
    ...(model !== undefined && { model: String(model.value) }),
    ...(messages !== undefined && { messages }),
    ...(tools !== undefined && { tools }),
    ...(options !== undefined && { options }),
  };
}

function checkOptions(options: Json): void {
  const { max_tokens, temperature } = membersOf(requireObject(options, '`request.options`').json);
  const tokens = nonNull(max_tokens)?.value;
  const heat = nonNull(temperature)?.value;
  if (tokens !== undefined && !(Number.isInteger(tokens) && Number(tokens) > 0)) {
    throw malformed('`request.options.max_tokens` is not a positive integer');
  }
  if (heat !== undefined && typeof heat !== 'number') {
    throw malformed('`request.options.temperature` is not a number');
  }
}

/** On the published page, an omitted member keeps its value. */
function mergeRequest(given: GivenRequest, sent: SentRequest): Changes {
  const { model, messages, tools, options } = given;
  if (messages !== undefined && isEmptyList(messages)) return { deny: 'left no messages' };
  const replace = {
    ...(model !== undefined && model !== '' && { model }),
    ...(messages !== undefined && { messages }),
    ...(tools !== undefined && { tools }),
    ...(options !== undefined && { options: { ...membersOf(sent.options), ...membersOf(options) } }),
  };
  return { replace, notes: noteOptions(options, sent) };
}

/**
 * In the code, everything is replaced. But a changed, moved or added system message restores all messages, and tools
 * are always restored.
 */
function replaceRequest(given: GivenRequest, sent: SentRequest): Changes {
  const { model = '', messages = emptyList, tools = emptyList, options = new Json('{}') } = given;
  if (model === '') return { deny: 'left no model' };
  const keepsSystem = isSame(systemOf(messages), systemOf(sent.messages));
  if (keepsSystem && isEmptyList(messages)) return { deny: 'left no messages' };
  const restored: Note[] = [
    ...(keepsSystem ? [] : [warn('it changed system messages, so its changes to messages are undone')]),
    ...(isSame(tools, sent.tools) ? [] : [warn('its changes to `tools` are undone')]),
  ];
  const replace = { model, ...(keepsSystem && { messages }), options };
  return { replace, notes: [...restored, ...noteOptions(options, sent)] };
}

const emptyList = new Json('[]');

function isEmptyList({ value }: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

function systemOf(messages: Json): Json {
  const placed = elementsOf(messages).flatMap((message, index) =>
    membersOf(message)['role']?.value === 'system' ? [[index, message]] : [],
  );
  return Json.from(placed);
}

const knownOptions = ['max_tokens', 'temperature'];

function noteOptions(options: Json | undefined, sent: SentRequest): Note[] {
  if (options === undefined) return [];
  const before = membersOf(sent.options);
  return Object.entries(membersOf(options)).flatMap(([key, value]) => {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    const isKnown = knownOptions.includes(key) || (old !== undefined && isSame(old, value));
    return isKnown ? [] : [warn(`its \`request.options.${key}\` has no effect here`)];
  });
}

function warn(message: string): Note {
  return { level: 'warn', message };
}

export type Changes =
  | {
      readonly replace: Readonly<Record<string, unknown>>;
      readonly notes?: readonly Note[];
      readonly beside?: Readonly<Record<string, unknown>>;
    }
  | { readonly deny: string };

export function readCall(
  { settings }: HookEntry<PicoclawSettings>,
  { payload }: Question,
  object: Json,
): Changes {
  const body = foldObject(object, '`call`', ['tool', 'arguments']);
  const isHead = settings.version === 'head';
  const given = body.get('arguments') ?? (isHead ? new Json('{}') : undefined);
  // A Go hook that has cleared its map writes null.
  const args = given?.text === 'null' ? new Json('{}') : given;
  const tool = nonNull(body.get('tool'))?.value ?? (isHead ? '' : toPlainValue(payload['tool']));
  if (typeof tool !== 'string') throw malformed('`call.tool` is not a string');
  if (args !== undefined && !isObject(args.value)) throw malformed('`call.arguments` is not an object');
  const isRenamed = tool !== toPlainValue(payload['tool']);
  return { replace: { ...(args !== undefined && { args }), ...(isRenamed && { name: tool }) } };
}

export function readResponse(
  { settings }: HookEntry<PicoclawSettings>,
  { payload }: Question,
  object: Json,
): Changes {
  const isHead = settings.version === 'head';
  const outer = foldObject(object, '`response`', ['response', ...responseKeys]);
  const inner = innerOf(outer, { name: 'response', key: 'content' }, isHead);
  const given = foldWithText(inner, 'content', responseKeys);
  readResponseObject(given, '`response`');
  const kept = isHead ? {} : keptOf(Json.from(payload['response'] ?? {}));
  return { replace: { response: { ...kept, ...withoutParams(given) } } };
}

function keptOf(sent: Json) {
  const { tool_calls: _calls, ...kept } = membersOf(sent);
  return kept;
}

function withoutParams(inner: Json) {
  const {
    meta: _meta,
    context: _context,
    model: _model,
    channel: _channel,
    chat_id: _chat,
    ...rest
  } = membersOf(inner);
  return rest;
}

export function readResult(
  { settings }: HookEntry<PicoclawSettings>,
  { payload }: Question,
  object: Json,
): Changes {
  const outer = foldObject(object, '`result`', ['result', 'for_llm']);
  const place = { name: 'result', key: 'for_llm', what: ' for the model' };
  const inner = innerOf(outer, place, settings.version === 'head');
  const { text, others } = readResultObject(foldWithText(inner, 'for_llm', resultKeys), '`result`');
  const beside = Object.fromEntries(
    Object.entries(others).filter(([key]) => Object.hasOwn(defaultResult, key)),
  );
  const notes = noteError(beside['is_error'], Json.from(payload['result'] ?? {}));
  return {
    replace: { content: text },
    notes,
    ...(Object.keys(beside).length > 0 && { beside: { result: beside } }),
  };
}

function noteError(given: Json | undefined, sent: Json): Note[] {
  if (given === undefined || given.text === membersOf(sent)['is_error']?.text) return [];
  return [{ level: 'warn', message: 'its change of `is_error` has no effect: the call ended as it did' }];
}

/** The object with the text `key`: the inner one of `name`. On the published page, it may also be the outer one. */
function innerOf(body: Body, { name, key, what = '' }: TextPlace, isHead: boolean): Json {
  const inner = nonNull(body.get(name));
  if (inner !== undefined && isObject(inner.value)) return inner;
  if (!isHead && typeof body.get(key)?.value === 'string') return body.json;
  throw malformed(`\`${name}\` has no \`${name}\` with a text${what}`);
}

interface TextPlace {
  readonly name: string;
  readonly key: string;
  readonly what?: string;
}

export interface ReplyObject {
  readonly body: Body;
  readonly notes: readonly Note[];
  readonly isAmbiguous: boolean;
}

export function readReplyObject(given: Json, point: string, known: readonly string[]): ReplyObject {
  const body = foldBody(toBody(given), known.slice(1));
  return {
    body,
    notes: [...noteUnknownKeys(body, known), ...noteUnimplementedKeys(body, point)],
    isAmbiguous: ['action', 'approved'].some((key) => isAmbiguous(body, key)),
  };
}

/** `reason`, else `message`, else the stock text. */
export function reasonOf(body: Body, stock = ''): string {
  const text = ['reason', 'message'].map((key) => body.get(key)?.value).find(isText);
  return text ?? stock;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function metadataOf(body: Body, more: Readonly<Record<string, unknown>> = {}): Json {
  const texts = ['reason', 'message'].flatMap((key) => {
    const given = nonNull(body.get(key));
    return given === undefined ? [] : [[key, given] as const];
  });
  const members = { ...Object.fromEntries(texts), ...more };
  return Object.keys(members).length === 0 ? new Json('{}') : Json.from({ picoclaw: members });
}
