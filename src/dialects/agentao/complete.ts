import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import type { HookEvent, ToolHookRequest } from '../../contract/hook.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { Payload } from '../foreign-dialect.ts';
import {
  defaultsOf,
  invalidPayload,
  member,
  omitUndefined,
  optional,
  requireMembers,
  type Table,
  textAt,
  toPlainValue,
  withFallback,
} from '../payload-table.ts';
import { allToolNames, isFlat, type PointName, requirePoint, toolNameForHooks } from './points.ts';

interface Shape {
  readonly own: Table;
  readonly beside: Table;
}

const text = member('text', 'a string');
const filledText = member('filled text', 'a string that is not empty');
const optionalText = optional(text);
const optionalFlag = optional(member('flag', 'a boolean'));

const envelope = { sessionId: optionalText, cwd: optionalText };
const outerMembers = {
  transcript_path: optional(member('text or null', 'a string or null')),
  permission_mode: optionalText,
};
const besideCall = { ...outerMembers, cwd: optionalText, tool_use_id: optionalText };
const call = { sessionId: optionalText, toolInput: optional(member('object', 'an object')) };
const flat = {
  session_id: optionalText,
  transcript_path: outerMembers.transcript_path,
  cwd: optionalText,
  permission_mode: optionalText,
};

export const shapes: Readonly<Record<PointName, Shape>> = {
  UserPromptSubmit: { own: { userMessage: text, ...envelope }, beside: outerMembers },
  SessionStart: { own: envelope, beside: { ...outerMembers, source: optionalText } },
  SessionEnd: { own: envelope, beside: { ...outerMembers, reason: optionalText } },
  PreToolUse: { own: { toolName: filledText, ...call }, beside: besideCall },
  PostToolUse: { own: { toolName: filledText, toolOutput: text, ...call }, beside: besideCall },
  PostToolUseFailure: { own: { toolName: filledText, error: text, ...call }, beside: besideCall },
  Stop: {
    own: {
      ...flat,
      stop_hook_active: withFallback(optionalFlag, ({ forcedTurns }) => forcedTurns > 0),
      last_assistant_message: withFallback(optionalText, ''),
      turn_end_reason: withFallback(optionalText, 'final_response'),
      at_max_iter: withFallback(
        optionalFlag,
        (_context, given) => textAt(given, 'turn_end_reason') === 'max_iterations',
      ),
    },
    beside: {},
  },
  PreCompact: {
    own: {
      ...flat,
      trigger: withFallback(optionalText, (_context, given) => triggerOf(given)),
      custom_instructions: withFallback(optionalText, ''),
      compaction_type: withFallback(optionalText, 'full'),
      reason: withFallback(optionalText, (_context, given) =>
        triggerOf(given) === 'manual' ? byHand : 'compression_threshold',
      ),
    },
    beside: {},
  },
};

/** The reason of a manual compaction. It and the trigger are derived from each other. */
const byHand = 'manual_cli';

function triggerOf(given: Payload): string {
  return textAt(given, 'trigger') ?? (textAt(given, 'reason') === byHand ? 'manual' : 'auto');
}

/**
 * Accepts the full envelope, only the members of its `data`, or Claude's names for them. Fills in defaults. Throws
 * EVENT_INVALID.
 */
export function complete(name: string, given: Payload, hookContext: HookContext): Payload {
  const point = requirePoint(name);
  const shape = shapes[point];
  const known = { own: Object.keys(shape.own), beside: Object.keys(shape.beside) };
  const { own, beside } = unwrap(point, given, known);
  requireMembersAt(point, shape.own, own);
  requireMembersAt(point, shape.beside, beside);
  if (isFlat(point)) return { ...defaultsOf(shape.own, own, hookContext), ...own };
  const data = { ...own, sessionId: textAt(own, 'sessionId') ?? hookContext.session_id };
  const toolName = Object.hasOwn(shape.own, 'toolName') ? textAt(own, 'toolName') : undefined;
  return {
    ...(toolName === undefined ? { data } : completeCall(point, { data, beside }, toolName)),
    ...(Object.keys(beside).length > 0 && { beside }),
  };
}

function requireMembersAt(point: PointName, table: Table, given: Payload): void {
  requireMembers(table, given, (key, kind) => {
    const names = spellings(key, point);
    return kind === undefined ? `${point} has no ${names}` : `the ${names} of ${point} is not ${kind}`;
  });
}

function completeCall(
  point: PointName,
  { data, beside }: { readonly data: Payload; readonly beside: Payload },
  toolName: string,
): Payload {
  const toolInput = Json.from(data['toolInput'] ?? {});
  const tool_use_id = textAt(beside, 'tool_use_id') ?? textAt(data, 'tool_use_id') ?? '';
  const callMembers = { names: allToolNames(toolName), tool_use_id };
  const payloadData = { ...data, toolName: toolNameForHooks(toolName), toolInput };
  if (point !== 'PostToolUseFailure') return { data: payloadData, ...callMembers };
  const error = textAt(data, 'error') ?? '';
  return {
    data: { ...payloadData, error: shortError(error) },
    ...callMembers,
    error: textAt(beside, 'error') ?? error,
  };
}

export function describe(
  point: string,
  event: HookEvent,
  { session_id: sessionId, forcedTurns }: HookContext,
): Payload {
  switch (event.phase) {
    case 'session_start':
    case 'session_end':
      return { data: { sessionId } };
    case 'prompt':
      return { data: { userMessage: event.turn.prompt, sessionId } };
    case 'before_execution':
      return describeCall(event.request, sessionId);
    case 'after_execution':
      return describeResult(event, sessionId);
    case 'stop':
      return {
        stop_hook_active: forcedTurns > 0,
        last_assistant_message: assistantMessageOf(event),
        turn_end_reason: event.end,
        at_max_iter: event.end === 'max_iterations',
      };
    default:
      throw new RuntimeError('INTERNAL', `agentao has no event for ${event.phase} at ${point}`);
  }
}

/** Agentao sends a stock text for an empty answer. Source: agentao/runtime/chat_loop/_runner.py. */
function assistantMessageOf({ response, end, turn }: HookEvent & { readonly phase: 'stop' }): string {
  if (end === 'max_iterations') return response === '' ? 'Maximum tool call iterations reached.' : response;
  if (response.trim() !== '') return response;
  const reasoning = toPlainValue(turn.messages.findLast(({ role }) => role === 'assistant')?.['reasoning']);
  return typeof reasoning === 'string' && reasoning !== '' ? '[No text response]' : '[No response]';
}

function describeCall(
  { name, aliases, args, call_id, tool_use_id = call_id }: ToolHookRequest,
  sessionId: string,
) {
  const data = { toolName: toolNameForHooks(name, aliases), toolInput: Json.from(args), sessionId };
  return { data, names: allToolNames(name, aliases), tool_use_id };
}

function describeResult(
  event: HookEvent & { readonly phase: 'after_execution' },
  sessionId: string,
): Payload {
  const { content, error } = event.response;
  const { data, ...callMembers } = describeCall(event.request, sessionId);
  if (error === '') return { data: { ...data, toolOutput: content }, ...callMembers };
  return { data: { ...data, error: shortError(error) }, ...callMembers, error };
}

function shortError(error: string): string {
  return Array.from(error).slice(0, 200).join('');
}

interface Unwrapped {
  readonly own: Payload;
  readonly beside: Payload;
}

const agentaoNames: Readonly<Record<string, string>> = {
  session_id: 'sessionId',
  prompt: 'userMessage',
  tool_name: 'toolName',
  tool_input: 'toolInput',
  tool_response: 'toolOutput',
};

function spellings(key: string, point: PointName): string {
  const claude = isFlat(point)
    ? undefined
    : Object.keys(agentaoNames).find((each) => agentaoNames[each] === key);
  return claude === undefined ? `\`${key}\`` : `\`${key}\` (or \`${claude}\`)`;
}

interface Known {
  readonly own: readonly string[];
  readonly beside: readonly string[];
}

/** Members of `data` win over the same members at top level, and Agentao's names win over Claude's. */
function unwrap(point: PointName, given: Payload, known: Known): Unwrapped {
  requireSameEvent(point, given);
  const data = dataIn(point, given);
  const { event: _event, data: _data, hook_event_name: _name, ...top } = omitUndefined(given);
  if (isFlat(point)) return { own: { ...top, ...data }, beside: {} };
  const members = Object.entries(top).map(([key, value]) =>
    sortMember(key, value, known, data !== undefined),
  );
  return {
    own: Object.assign({}, ...members.map(({ claude }) => claude), ...members.map(({ own }) => own), data),
    beside: Object.assign({}, ...members.map(({ beside }) => beside)),
  };
}

interface SortedMember {
  readonly claude?: Payload;
  readonly own?: Payload;
  readonly beside?: Payload;
}

function sortMember(key: string, value: unknown, known: Known, isEnvelope: boolean): SortedMember {
  const own = Object.hasOwn(agentaoNames, key) ? agentaoNames[key] : undefined;
  if (own !== undefined && known.own.includes(own)) {
    return { claude: { [own]: own === 'toolOutput' ? toText(value) : value } };
  }
  if (known.beside.includes(key)) return { beside: { [key]: value } };
  if (!isEnvelope) return { own: { [key]: value } };
  if (key === 'error' && known.own.includes(key)) return { own: { [key]: value }, beside: { [key]: value } };
  return known.own.includes(key) ? { own: { [key]: value } } : { beside: { [key]: value } };
}

function toText(value: unknown): string {
  const result = toPlainValue(value);
  return typeof result === 'string' ? result : Json.from(value).text;
}

function requireSameEvent(point: PointName, given: Payload): void {
  for (const key of ['event', 'hook_event_name']) {
    const name = toPlainValue(given[key]);
    if (name === undefined || name === point) continue;
    throw invalidPayload(`the \`${key}\` of ${point} is ${JSON.stringify(name)}`);
  }
}

function dataIn(point: PointName, { data }: Payload): Payload | undefined {
  if (data === undefined) return undefined;
  if (data instanceof Json) {
    if (isObject(data.value)) return membersOf(data);
  } else if (isObject(data)) return omitUndefined(data);
  throw invalidPayload(`the \`data\` of ${point} is not an object`);
}

export function dataOf({ data }: Payload): Payload {
  return isObject(data) ? data : {};
}

export function outerMembersOf({ beside }: Payload): Payload {
  return isObject(beside) ? beside : {};
}

export function toolNameIn(payload: Payload): string {
  return textAt(dataOf(payload), 'toolName') ?? '';
}
