import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import type { Message } from '../../contract/exchange.ts';
import type { Answer } from '../../contract/hook.ts';
import type { HookContext } from '../../contract/turn.ts';
import { toMessage } from '../dialect.ts';
import type { HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { toPlainValue, valueAt } from '../payload-table.ts';
import {
  everyPicoclawKind,
  type PicoclawKind,
  type PicoclawSettings,
  picoclawKinds,
} from './config/settings.ts';
import { toScope } from './wire.ts';

export function kindOf(payload: Payload): PicoclawKind | undefined {
  const names = ['kind', 'KindName', 'Kind'].map((key) => valueAt(payload, key));
  return names.map(findKind).find((kind) => kind !== undefined);
}

export function findKind(named: unknown): PicoclawKind | undefined {
  if (named === undefined) return undefined;
  return picoclawKinds.find(
    ({ number, legacy, dotted }) => number === named || legacy === named || dotted === named,
  );
}

export function isObserved(observe: readonly string[], { legacy, dotted }: PicoclawKind): boolean {
  return observe.some((name) => name === dotted || name === legacy || everyPicoclawKind.includes(name));
}

/** The params of `hook.event`: CamelCase, without members of the newer form. */
function toLegacyEvent(
  payload: Payload,
  row: PicoclawKind,
  eventKind: PicoclawSettings['eventKind'],
): Payload {
  const legacy = 'kind' in payload ? fromRuntimeEvent(payload) : payload;
  const { Time, Meta, Context } = legacy;
  return {
    Kind: eventKind === 'name' ? row.legacy : row.number,
    KindName: row.legacy,
    Time,
    Meta,
    Context,
    Payload: row.legacy === 'turn_end' ? withoutNewer(legacy['Payload']) : legacy['Payload'],
  };
}

/** The params of `hook.runtime_event`: snake_case, except for the payload of an agent's event. */
function toRuntimeEvent(payload: Payload, row: PicoclawKind, hookContext: HookContext): Payload {
  if ('kind' in payload) return payload;
  const meta = objectAt(payload, 'Meta');
  const parent = meta['ParentTurnID'];
  return {
    id: payload['id'],
    kind: row.dotted,
    time: payload['Time'],
    source: { component: 'agent', name: meta['AgentID'] },
    scope: {
      agent_id: meta['AgentID'],
      session_key: meta['SessionKey'],
      turn_id: meta['TurnID'],
      ...toScope(hookContext),
    },
    correlation: {
      trace_id: meta['TracePath'],
      ...(typeof parent === 'string' && parent !== '' && { parent_turn_id: parent }),
    },
    severity: severityOf(row, objectAt(payload, 'Payload')),
    payload: payload['Payload'],
    attrs: { agent_source: meta['Source'], iteration: meta['Iteration'] },
  };
}

/** Source: PicoClaw's runtime events. */
export function severityOf({ legacy = '' }: PicoclawKind, payload: Payload): 'error' | 'warn' | 'info' {
  if (['error', 'subturn_orphan'].includes(legacy)) return 'error';
  if (['llm_retry', 'context_compress', 'tool_exec_skipped'].includes(legacy)) return 'warn';
  if (legacy === 'turn_end' && payload['Status'] === 'error') return 'error';
  if (legacy === 'turn_end' && payload['Status'] === 'aborted') return 'warn';
  return legacy === 'tool_exec_end' && payload['IsError'] === true ? 'warn' : 'info';
}

function fromRuntimeEvent(payload: Payload): Payload {
  const scope = objectAt(payload, 'scope');
  const correlation = objectAt(payload, 'correlation');
  const attrs = objectAt(payload, 'attrs');
  const { channel = 'cli', chat_id = scope['session_key'] ?? '', sender_id = '' } = scope;
  return {
    Time: payload['time'],
    Meta: {
      AgentID: scope['agent_id'] ?? 'main',
      TurnID: scope['turn_id'] ?? '',
      ParentTurnID: correlation['parent_turn_id'] ?? '',
      SessionKey: scope['session_key'] ?? '',
      Iteration: attrs['iteration'] ?? 0,
      TracePath: correlation['trace_id'] ?? '',
      Source: attrs['agent_source'] ?? 'runTurn',
    },
    Context: { inbound: { channel, chat_id, sender_id } },
    Payload: payload['payload'],
  };
}

const legacyEndKeys = ['Status', 'Iterations', 'Duration', 'FinalContentLen'];

function withoutNewer(payload: unknown): unknown {
  const parts = Object.entries(membersOf(Json.from(payload)));
  return Object.fromEntries(parts.filter(([key]) => legacyEndKeys.includes(key)));
}

function objectAt(payload: Payload, key: string): Payload {
  const value = valueAt(payload, key);
  return isObject(value) ? value : {};
}

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

export function toCall(method: string, params: Payload, timeoutMs: number): Message {
  const { body } = toMessage(stringifyJson(params));
  return { method, body, timeoutMs };
}

function shapeEvent({ version, eventKind }: PicoclawSettings, { payload, hookContext }: Question): Payload {
  const kind = kindOf(payload);
  if (kind === undefined) throw new RuntimeError('INTERNAL', 'an event of an unknown kind was to be told');
  return version === 'head'
    ? toRuntimeEvent(payload, kind, hookContext)
    : toLegacyEvent(payload, kind, eventKind);
}

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
