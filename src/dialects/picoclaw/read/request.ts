import { Json } from '../../../json/json.ts';
import { elementsOf, membersOf } from '../../../json/scan.ts';
import { type Body, malformed, nonNull } from '../../body.ts';
import type { Note } from '../../dialect.ts';
import type { HookEntry, Question } from '../../foreign-dialect.ts';
import type { PicoclawSettings } from '../config/settings.ts';
import { foldObject, isSame, requireObject } from '../json-parts.ts';
import { readMessages } from '../wire/message.ts';
import { readToolDefs } from '../wire/tool.ts';
import type { Changes } from './changes.ts';

/** What a `request` changes of a model call. Throws REPLY_MALFORMED where it is none. */
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

/** By the page: a member that is left out keeps its value. */
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
 * By the code: everything is replaced, but a changed, moved or added system message brings all messages back,
 * and tools always come back.
 */
function replaceRequest(given: GivenRequest, sent: SentRequest): Changes {
  const { model = '', messages = emptyList, tools = emptyList, options = new Json('{}') } = given;
  if (model === '') return { deny: 'left no model' };
  const keepsSystem = isSame(systemOf(messages), systemOf(sent.messages));
  if (keepsSystem && isEmptyList(messages)) return { deny: 'left no messages' };
  const restored: Note[] = [
    ...(keepsSystem ? [] : [warn('it changed system messages, so all messages are as they were')]),
    ...(isSame(tools, sent.tools) ? [] : [warn('its changes to `tools` are undone')]),
  ];
  const replace = { model, ...(keepsSystem && { messages }), options };
  return { replace, notes: [...restored, ...noteOptions(options, sent)] };
}

const emptyList = new Json('[]');

function isEmptyList({ value }: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The system messages, each with its place. */
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
