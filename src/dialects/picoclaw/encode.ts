import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import type { Message } from '../../contract/exchange.ts';
import type { Answer } from '../../contract/hook.ts';
import { toMessage } from '../dialect.ts';
import type { HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { toPlainValue } from '../payload-table.ts';
import type { PicoclawSettings } from './config/settings.ts';
import { kindOf, toLegacyEvent, toRuntimeEvent } from './events.ts';

/** The method and params that the hook's version has, and its limit for that kind of method. */
export function encode({ settings }: HookEntry<PicoclawSettings>, question: Question): Message {
  const { point, payload } = question;
  const isHead = settings.version === 'head';
  if (point === 'event' || point === 'runtime_event') {
    const method = isHead ? 'hook.runtime_event' : 'hook.event';
    return toCall(method, shapeEvent(settings, question), settings.observerTimeoutMs);
  }
  const timeoutMs = point === 'approve_tool' ? settings.approvalTimeoutMs : settings.interceptorTimeoutMs;
  return toCall(`hook.${point}`, isHead ? omitForHead(payload) : payload, timeoutMs);
}

/** A message for a method with these params. */
export function toCall(method: string, params: Payload, timeoutMs: number): Message {
  return { ...toMessage(stringifyJson(params)), method, timeoutMs };
}

function shapeEvent({ version, eventKind }: PicoclawSettings, { payload, hookContext }: Question): Payload {
  const kind = kindOf(payload);
  if (kind === undefined) throw new RuntimeError('INTERNAL', 'an event of an unknown kind was to be told');
  return version === 'head'
    ? toRuntimeEvent(payload, kind, hookContext)
    : toLegacyEvent(payload, kind, eventKind);
}

/** The members that the head version omits, with the condition under which it does. */
const omittedInHead: Readonly<Record<string, (value: unknown) => boolean>> = {
  channel: () => true,
  chat_id: () => true,
  messages: isEmpty,
  tools: isEmpty,
  options: isEmpty,
  arguments: isEmpty,
  graceful_terminal: isEmpty,
};

const omittedInside: typeof omittedInHead = {
  role: () => true,
  for_user: isEmpty,
  media: isEmpty,
  artifact_tags: isEmpty,
  response_handled: isEmpty,
};

function omitForHead(payload: Payload): Payload {
  const { result, response } = payload;
  return {
    ...without(payload, omittedInHead),
    ...(isObject(result) && { result: without(result, omittedInside) }),
    ...(isObject(response) && { response: without(response, omittedInside) }),
  };
}

function without(payload: Payload, rules: typeof omittedInHead): Payload {
  return Object.fromEntries(
    Object.entries(payload).filter(
      ([key, value]) => !(Object.hasOwn(rules, key) && rules[key]?.(toPlainValue(value))),
    ),
  );
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) ? Object.keys(value).length === 0 : value === '' || value === false;
}

/** The payload for the next hook of the chain, with the replacements of the last one. */
export function nextPayload({ point, payload }: Question, answer: Answer): Payload {
  if (answer.verdict !== 'modify') return payload;
  const { name, args, content, ...others } = membersOf(answer.replace);
  if (point === 'after_tool' && content !== undefined) {
    const resultMembers = membersOf(membersOf(answer.metadata)['picoclaw'] ?? new Json('{}'))['result'];
    const sent = membersOf(Json.from(payload['result'] ?? {}));
    return {
      ...payload,
      result: { ...sent, ...(resultMembers && membersOf(resultMembers)), for_llm: content },
    };
  }
  return {
    ...payload,
    ...(name !== undefined && { tool: name.value }),
    ...(args !== undefined && { arguments: args }),
    ...others,
  };
}
