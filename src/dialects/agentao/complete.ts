import type { HookContext } from '../../contract/turn.ts';
import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign-dialect.ts';
import { invalidPayload } from '../invalid-payload.ts';
import { shortError } from './describe.ts';
import { spellings, unwrap } from './host-payload.ts';
import { textAt, valueAt } from './payload.ts';
import { type PointName, requirePoint } from './points.ts';
import { allToolNames, toolNameForHooks } from './tool-names.ts';

type Kind = 'a string' | 'a string that is not empty' | 'a boolean' | 'an object' | 'a string or null';

interface Shape {
  readonly required?: Readonly<Record<string, Kind>>;
  readonly optional: Readonly<Record<string, Kind>>;
  /** Members that stand beside the envelope. */
  readonly beside?: Readonly<Record<string, Kind>>;
}

const envelope = { sessionId: 'a string', cwd: 'a string' } as const;
const outerMembers = { transcript_path: 'a string or null', permission_mode: 'a string' } as const;
const callShape = {
  required: { toolName: 'a string that is not empty' },
  optional: { sessionId: 'a string', toolInput: 'an object' },
  beside: { ...outerMembers, cwd: 'a string', tool_use_id: 'a string' },
} as const;
const flatMembers = {
  session_id: 'a string',
  transcript_path: 'a string or null',
  cwd: 'a string',
  permission_mode: 'a string',
} as const;

const shapes: Readonly<Record<PointName, Shape>> = {
  UserPromptSubmit: { required: { userMessage: 'a string' }, optional: envelope, beside: outerMembers },
  SessionStart: { optional: envelope, beside: { ...outerMembers, source: 'a string' } },
  SessionEnd: { optional: envelope, beside: { ...outerMembers, reason: 'a string' } },
  PreToolUse: callShape,
  PostToolUse: { ...callShape, required: { ...callShape.required, toolOutput: 'a string' } },
  PostToolUseFailure: { ...callShape, required: { ...callShape.required, error: 'a string' } },
  Stop: {
    optional: {
      ...flatMembers,
      stop_hook_active: 'a boolean',
      last_assistant_message: 'a string',
      turn_end_reason: 'a string',
      at_max_iter: 'a boolean',
    },
  },
  PreCompact: {
    optional: {
      ...flatMembers,
      trigger: 'a string',
      custom_instructions: 'a string',
      compaction_type: 'a string',
      reason: 'a string',
    },
  },
};

/**
 * Completes a payload from the host: the full envelope, only the members of its `data`, or Claude's names for
 * them; defaults are filled in. Throws EVENT_INVALID.
 */
export function complete(name: string, given: Payload, hookContext: HookContext): Payload {
  const point = requirePoint(name);
  const { required = {}, optional, beside: around = {} } = shapes[point];
  const known = { own: Object.keys({ ...required, ...optional }), beside: Object.keys(around) };
  const { own, beside } = unwrap(point, given, known);
  requireShape(point, own, { required, optional });
  requireShape(point, beside, { optional: around });
  if (point === 'Stop') return completeStop(own, hookContext);
  if (point === 'PreCompact') return completeCompaction(own);
  const data = { ...own, sessionId: textAt(own, 'sessionId') ?? hookContext.session_id };
  const toolName = textAt(own, 'toolName');
  const isCall = Object.hasOwn(required, 'toolName') && toolName !== undefined;
  return {
    ...(isCall ? completeCall(point, { data, beside }, toolName) : { data }),
    ...(Object.keys(beside).length > 0 && { beside }),
  };
}

function requireShape(point: PointName, given: Payload, { required = {}, optional }: Shape): void {
  for (const [key, kind] of Object.entries({ ...required, ...optional })) {
    const value = valueAt(given, key);
    if (value === undefined && !Object.hasOwn(required, key)) continue;
    if (value === undefined) throw invalidPayload(`${point} has no ${spellings(key, point)}`);
    if (!isKind(value, kind)) throw invalidPayload(`the ${spellings(key, point)} of ${point} is not ${kind}`);
  }
}

function isKind(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case 'a string':
      return typeof value === 'string';
    case 'a string that is not empty':
      return typeof value === 'string' && value !== '';
    case 'a boolean':
      return typeof value === 'boolean';
    case 'an object':
      return isObject(value);
    case 'a string or null':
      return typeof value === 'string' || value === null;
  }
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

function completeStop(given: Payload, { forcedTurns }: HookContext): Payload {
  const end = textAt(given, 'turn_end_reason') ?? 'final_response';
  return {
    stop_hook_active: forcedTurns > 0,
    last_assistant_message: '',
    turn_end_reason: end,
    at_max_iter: end === 'max_iterations',
    ...given,
  };
}

/** `trigger` and `reason` are derived from each other: a manual compaction has the reason `manual_cli`. */
function completeCompaction(given: Payload): Payload {
  const byHand = 'manual_cli';
  const trigger = textAt(given, 'trigger') ?? (textAt(given, 'reason') === byHand ? 'manual' : 'auto');
  return {
    trigger,
    custom_instructions: '',
    compaction_type: 'full',
    reason: trigger === 'manual' ? byHand : 'compression_threshold',
    ...given,
  };
}
