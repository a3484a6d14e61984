import { RuntimeError } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import type { HookEvent, ToolHookRequest } from '../../contract/hook.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { Payload } from '../foreign-dialect.ts';
import {
  defaultsOf,
  member,
  optional,
  requireMembers,
  type Table,
  textAt,
  toPlainValue,
  withFallback,
} from '../payload-table.ts';
import { spellings, unwrap } from './envelope.ts';
import { isFlat, type PointName, requirePoint } from './points.ts';
import { allToolNames, toolNameForHooks } from './tool-names.ts';

interface Shape {
  /** The members of the envelope's `data`, or of a flat event. */
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

/** The members of each event. */
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

/** The reason of a manual compaction; it and the trigger are derived from each other. */
const byHand = 'manual_cli';

function triggerOf(given: Payload): string {
  return textAt(given, 'trigger') ?? (textAt(given, 'reason') === byHand ? 'manual' : 'auto');
}

/**
 * Completes a payload from the host: the full envelope, only the members of its `data`, or Claude's names for
 * them; defaults are filled in. Throws EVENT_INVALID.
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

/**
 * The payload for a pipeline event: the envelope's `data` or the flat members, and values for the encoder.
 */
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
      throw new RuntimeError('INTERNAL', `agentao hears nothing of ${event.phase} at ${point}`);
  }
}

/**
 * The last answer of the model, or Agentao's stock text for an empty one. Source:
 * agentao/runtime/chat_loop/_runner.py.
 */
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

/** The first 200 characters of an error, as Agentao sends it. */
function shortError(error: string): string {
  return Array.from(error).slice(0, 200).join('');
}
