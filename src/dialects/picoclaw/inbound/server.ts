import { toRuntimeError } from '../../../base/errors.ts';
import { findDuplicateKey } from '../../../base/json/duplicate-key.ts';
import { isObject, Json, stringifyJson } from '../../../base/json/json.ts';
import { tryParseLossless } from '../../../base/json/parse.ts';
import type { DecisionDocument } from '../../../contract/document.ts';
import type { AskHooks, DecisionTime, InboundEvent, InboundServer, Told } from '../../inbound.ts';
import {
  afterAnswer,
  afterExecution,
  beforeExecution,
  changedText,
  reasonOf,
  textAt,
} from '../../inbound.ts';

/**
 * Answers PicoClaw, which keeps one process and sends it `hook.*` of JSON-RPC 2.0. Source: hook-json-protocol.md of
 * v0.2.8.
 */
export const inboundServer: InboundServer = { answer, settingsFor };

async function answer(message: Told, ask: AskHooks): Promise<Told | undefined> {
  const { id, method, params } = message;
  // An event needs no answer: Signalbox does not observe another system's turns.
  if (id === undefined || id === null) return undefined;
  const reply = (fields: Told) => ({ jsonrpc: '2.0', id, ...fields });
  if (method === 'hook.hello') return reply({ result: { ok: true, name: 'signalbox' } });
  const stage = typeof method === 'string' ? stages[method.replace(/^hook\./, '')] : undefined;
  if (stage === undefined)
    return reply({ error: { code: -32_601, message: `signalbox is not asked by that method` } });
  return fitting(reply, stage, await judge(stage, isObject(params) ? params : {}, ask));
}

/** Every failure is a denial, because PicoClaw continues after an error. */
async function judge(stage: Stage, params: Told, ask: AskHooks): Promise<Told> {
  try {
    const decision = await ask(stage.toEvent(params));
    const isKept =
      decision.verdict === 'allow' || (decision.verdict === 'modify' && stage.keepsRest === true);
    const rest = isKept ? stage.toEventOfRest?.(params) : undefined;
    const aside = rest && (await ask(rest));
    if (aside !== undefined && aside.verdict !== 'allow') return stage.toDenial(params, reasonOf(aside));
    return stage.toResult(params, decision);
  } catch (thrown) {
    const { code, message } = toRuntimeError(thrown);
    return stage.toDenial(params, `signalbox: [${code}] ${message}`);
  }
}

/** PicoClaw cannot read a line of 1 MiB or more, nor anything after it. */
function fitting(reply: (fields: Told) => Told, stage: Stage, result: Told): Told {
  const whole = reply({ result });
  if (Buffer.byteLength(stringifyJson(whole)) < LONGEST_LINE) return whole;
  return reply({ result: stage.toDenial({}, 'what a hook has left is too long for PicoClaw to read') });
}

const LONGEST_LINE = 1024 * 1024 - 1024;

export interface Stage {
  toEvent(params: Told): InboundEvent;
  /** A changed text leaves the other members in place; else it removes them. */
  readonly keepsRest?: true;
  toEventOfRest?(params: Told): InboundEvent | undefined;
  toResult(params: Told, decision: DecisionDocument): Told;
  toDenial(params: Told, reason: string): Told;
}

const goOn: Told = { action: 'continue' };

function callOf(params: Told) {
  return { name: params['tool'], args: params['arguments'] ?? {}, call_id: '' };
}

function callerOf(params: Told) {
  return { agent: 'picoclaw', session: textAt(objectAt(params, 'meta'), 'SessionKey'), cwd: '' };
}

function objectAt(params: Told, key: string): Told {
  const value = params[key];
  return isObject(value) ? value : {};
}

function restOf(params: Told, key: 'response' | 'result', text: string): string | undefined {
  const whole: unknown = params[key];
  const { [text]: shown, ...members } = objectAt(params, key);
  const own: [string, unknown][] = isObject(whole) ? Object.entries(members) : [[key, whole]];
  const rest = leftovers([
    ...own.filter(([name, value]) => value !== shown && !(known[name]?.includes(value) ?? false)),
    ...(shown === undefined || typeof shown === 'string' ? [] : [[text, shown] as const]),
  ]);
  return rest && stringifyJson(rest);
}

const known: Readonly<Record<string, readonly unknown[]>> = {
  role: ['assistant'],
  finish_reason: ['stop', 'tool_calls', 'length', 'content_filter'],
};

const abort = (_params: Told, reason: string): Told => ({ action: 'abort_turn', reason });

function refused(decision: DecisionDocument, denied: Told): Told {
  if (decision.verdict !== 'abort') return denied;
  return { action: decision.abort === 'session' ? 'hard_abort' : 'abort_turn', reason: reasonOf(decision) };
}

const cannotChange = (decision: DecisionDocument) => `${reasonOf(decision)}. It cannot be changed here.`;

const beforeModel: Stage = {
  toEvent: (params) => ({ hook: 'provider', phase: 'before_call', request: conversationOf(params) }),
  toResult: (params, decision) => {
    if (decision.verdict === 'allow') return goOn;
    if (decision.verdict !== 'modify') return refused(decision, abort(params, reasonOf(decision)));
    const request = changedRequest(params, decision);
    return request === undefined ? abort(params, cannotChange(decision)) : { action: 'modify', request };
  },
  toDenial: abort,
};

const afterModel: Stage = {
  keepsRest: true,
  toEvent: (params) => afterAnswer('picoclaw', textAt(objectAt(params, 'response'), 'content')),
  toEventOfRest: (params) => {
    const rest = restOf(params, 'response', 'content');
    return rest === undefined ? undefined : afterAnswer('picoclaw', rest);
  },
  toResult: (params, decision) => {
    if (decision.verdict === 'allow') return goOn;
    if (decision.verdict !== 'modify') return refused(decision, abort(params, reasonOf(decision)));
    const content = changedText(decision);
    if (content === undefined) return abort(params, cannotChange(decision));
    const response = { ...objectAt(params, 'response'), content };
    return { action: 'modify', response: { model: params['model'], response } };
  },
  toDenial: abort,
};

const beforeTool: Stage = {
  toEvent: (params) => beforeExecution(callOf(params)),
  toResult: (params, decision) => {
    const { verdict, replace, result } = decision;
    if (verdict === 'allow') return goOn;
    if (verdict === 'modify' && isObject(replace?.['args']))
      return { action: 'modify', call: { tool: params['tool'], arguments: replace['args'] } };
    if (verdict === 'respond' && typeof result === 'string')
      return { action: 'respond', result: { for_llm: result, is_error: false } };
    return refused(decision, beforeTool.toDenial(params, reasonOf(decision)));
  },
  toDenial: (_params, reason) => ({ action: 'deny_tool', reason }),
};

/** A second check: PicoClaw continues if the stage before times out, but not if this one does. */
const approveTool: Stage = {
  // People are asked once, about the call as the last hook left it.
  toEvent: (params) => beforeExecution(callOf(params), callerOf(params)),
  toResult: (params, decision) =>
    decision.verdict === 'allow' ? { approved: true } : approveTool.toDenial(params, reasonOf(decision)),
  toDenial: (_params, reason) => ({ approved: false, reason }),
};

const afterTool: Stage = {
  toEvent: (params) => {
    const result = objectAt(params, 'result');
    const text = textAt(result, 'for_llm');
    const nanoseconds = typeof params['duration'] === 'number' ? params['duration'] : 0;
    const outcome = result['is_error'] === true ? { error: text } : { content: text };
    return afterExecution(callOf(params), outcome, nanoseconds / 1e6);
  },
  toEventOfRest: (params) => {
    const rest = restOf(params, 'result', 'for_llm');
    return rest === undefined ? undefined : afterExecution(callOf(params), { content: rest });
  },
  toResult: (params, decision) => {
    const content = decision.replace?.['content'];
    if (decision.verdict === 'allow') return goOn;
    if (decision.verdict !== 'modify' || typeof content !== 'string')
      return refused(decision, afterTool.toDenial(params, reasonOf(decision)));
    return withResult(params, { for_llm: content, for_user: '', media: [] });
  },
  toDenial: (params, reason) =>
    withResult(params, { for_llm: `[withheld: ${reason}]`, for_user: '', media: [], is_error: true }),
};

/** Drops what a person would have seen, and files: no hook has checked them. */
function withResult(params: Told, fields: Told): Told {
  const result = { ...objectAt(params, 'result'), ...fields };
  const { tool, arguments: args, duration } = params;
  return { action: 'modify', result: { tool, arguments: args, result, duration } };
}

export const stages: Readonly<Record<string, Stage | undefined>> = Object.assign(Object.create(null), {
  ...{ before_llm: beforeModel, after_llm: afterModel },
  ...{ before_tool: beforeTool, approve_tool: approveTool, after_tool: afterTool },
});

/**
 * The conversation for native hooks: messages and tool calls. Everything else for the model is in `other`, by its path.
 */
export function conversationOf(params: Told) {
  const { model, messages, meta: _, context: __, channel: ___, chat_id: ____, ...rest } = params;
  const sent = listAt(params, 'messages');
  const other = leftovers([
    ...(typeof model === 'string' ? [] : [['model', model] as const]),
    ...(Array.isArray(messages) && messages.length === sent.length ? [] : [['messages', messages] as const]),
    ...Object.entries(rest),
    ...sent.flatMap((message, at) => besideMessage(message, `messages[${at}]`)),
  ]);
  return {
    ...{ provider_id: 'picoclaw', messages: sent.map(toNative) },
    ...(typeof model === 'string' && { model }),
    ...(other !== undefined && { other }),
  };
}

type Entry = readonly [path: string, value: unknown];

export function leftovers(entries: readonly Entry[]): Told | undefined {
  const held = entries.filter(
    ([path, value]) =>
      value !== undefined && (holdsText(value) || !knownKeys.has(path.replace(/^.*\./s, ''))),
  );
  return held.length === 0 ? undefined : Object.fromEntries(held);
}

/** PicoClaw's own members, which may be empty, a number or a flag. Source: hook-json-protocol.md. */
const knownKeys: ReadonlySet<string> = new Set([
  ...['messages', 'tools', 'options', 'model', 'graceful_terminal', 'media', 'attachments', 'system_parts'],
  ...['reasoning_content', 'tool_calls', 'tool_call_id', 'model_name', 'created_at', 'id', 'type', 'name'],
  ...['role', 'finish_reason', 'usage', 'reasoning', 'reasoning_details', 'for_user', 'silent', 'is_error'],
  ...['async', 'artifact_tags', 'response_handled', 'response', 'result', 'arguments', 'function'],
]);

function holdsText(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  if (Array.isArray(value)) return value.some(holdsText);
  if (!isObject(value) || JSON.isRawJSON(value)) return false;
  // A key is a text, too.
  return Object.keys(value).length > 0;
}

function besideMessage(message: Told, path: string): readonly Entry[] {
  const { role: _, content: __, tool_calls: calls, ...rest } = message;
  const known = listAt(message, 'tool_calls');
  const isList = Array.isArray(calls) && calls.length === known.length;
  return [
    ...(calls === undefined || isList ? [] : [[`${path}.tool_calls`, calls] as const]),
    ...Object.entries(rest).map(([key, value]): Entry => [`${path}.${key}`, value]),
    ...known.flatMap((call, at) => besideCall(call, `${path}.tool_calls[${at}]`)),
  ];
}

function besideCall(call: Told, path: string): readonly Entry[] {
  const { id, type, function: own, ...rest } = call;
  const { name, arguments: args, ...more } = functionOf(call);
  return [
    ...(typeof id === 'string' ? [] : [[`${path}.id`, id] as const]),
    ...(type === 'function' ? [] : [[`${path}.type`, type] as const]),
    ...(own === undefined || isObject(own) ? [] : [[`${path}.function`, own] as const]),
    ...(typeof name === 'string' ? [] : [[`${path}.function.name`, name] as const]),
    ...(isObject(readArgs(args)) ? [] : [[`${path}.function.arguments`, args] as const]),
    ...Object.entries(more).map(([key, value]): Entry => [`${path}.function.${key}`, value]),
    ...Object.entries(rest).map(([key, value]): Entry => [`${path}.${key}`, value]),
  ];
}

function listAt(object: Told, key: string): readonly Told[] {
  const list: unknown = object[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function toNative(message: Told): Told {
  const { role, content } = message;
  const calls = listAt(message, 'tool_calls').map((call) => {
    const { name, arguments: args } = functionOf(call);
    return { id: call['id'], name, args: readArgs(args) ?? {} };
  });
  return { role, content: content ?? '', ...(calls.length > 0 && { tool_calls: calls }) };
}

function readArgs(text: unknown): unknown {
  if (typeof text !== 'string') return isObject(text) ? text : undefined;
  const args = tryParseLossless(text);
  return isObject(args) && findDuplicateKey(text) === undefined ? args : undefined;
}

function functionOf(call: Told): Told {
  return isObject(call['function']) ? call['function'] : {};
}

/**
 * The request with the texts and arguments as the hooks changed them. Undefined if they made other changes, or changed
 * a system message: PicoClaw would restore all messages.
 */
export function changedRequest(params: Told, { replace }: DecisionDocument): Told | undefined {
  const changed: unknown = replace?.['messages'];
  const sent = listAt(params, 'messages');
  if (!Array.isArray(changed) || changed.length !== sent.length) return undefined;
  if (Object.keys(replace ?? {}).some((key) => key !== 'messages' && key !== 'other')) return undefined;
  const messages = sent.map((message, at) => withChanges(message, changed[at]));
  if (messages.includes(undefined)) return undefined;
  if (!loses(params, replace?.['other'], messages)) return undefined;
  const { model, tools, options } = params;
  return { model, messages, tools, options };
}

function loses(params: Told, changed: unknown, messages: readonly (Told | undefined)[]): boolean {
  if (changed === undefined) return true;
  const now = plainObject(changed);
  const left = leftovers(messages.flatMap((each, at) => besideMessage(each ?? {}, `messages[${at}]`))) ?? {};
  return Object.entries(conversationOf(params).other ?? {}).every(
    ([path, value]) =>
      stringifyJson(now[path] ?? null) === stringifyJson(value) ||
      (path.startsWith('messages[') && !(path in left)),
  );
}

function plainObject(value: unknown): Told {
  const plain = value instanceof Json ? value.value : value;
  return isObject(plain) ? plain : {};
}

function withChanges(message: Told, changed: unknown): Told | undefined {
  const before = toNative(message);
  if (!isObject(changed) || changed['role'] !== message['role']) return undefined;
  if (stringifyJson(pick(changed)) === stringifyJson(pick(before))) return message;
  const { content } = changed;
  const calls = withArguments(listAt(message, 'tool_calls'), before, changed);
  if (message['role'] === 'system' || typeof content !== 'string' || calls === undefined) return undefined;
  // These parts repeat the message's text.
  const { system_parts: _, media: __, reasoning_content: ___, ...rest } = message;
  return { ...rest, content, ...(calls.length > 0 && { tool_calls: calls }) };
}

const pick = ({ content, tool_calls }: Told) => [content, tool_calls ?? []];

function withArguments(calls: readonly Told[], before: Told, changed: Told): readonly Told[] | undefined {
  const [old, now] = [listAt(before, 'tool_calls'), listAt(changed, 'tool_calls')];
  if (old.length !== now.length) return undefined;
  if (now.some(({ id, name }, at) => id !== old[at]?.['id'] || name !== old[at]?.['name'])) return undefined;
  return calls.map((call, at) => {
    const args = now[at]?.['args'];
    if (stringifyJson(args ?? null) === stringifyJson(old[at]?.['args'] ?? null)) return call;
    return { ...call, function: { ...functionOf(call), arguments: stringifyJson(args ?? {}) } };
  });
}

export function settingsFor(
  words: readonly string[],
  phases: ReadonlySet<string>,
  { holdMs }: DecisionTime,
): string {
  const waitMs = Math.max(WAIT_MS, holdMs + 2 * MARGIN_MS);
  const intercept = Object.entries(stagesOf).flatMap(([phase, stages]) => (phases.has(phase) ? stages : []));
  // PicoClaw lets a call pass after a timeout, so Signalbox must deny before that.
  const command = [...words, '--answer-within', `${waitMs - MARGIN_MS}ms`];
  const processes = { signalbox: { enabled: true, transport: 'stdio', command, intercept } };
  const defaults = { interceptor_timeout_ms: waitMs, approval_timeout_ms: waitMs };
  return JSON.stringify({ hooks: { enabled: true, defaults, processes } }, null, 2);
}

const WAIT_MS = 60_000;
const MARGIN_MS = 5_000;

const stagesOf: Readonly<Record<string, readonly string[]>> = {
  'provider before_call': ['before_llm'],
  'provider after_call': ['after_llm'],
  'tool before_execution': ['before_tool', 'approve_tool'],
  'tool after_execution': ['after_tool'],
};
