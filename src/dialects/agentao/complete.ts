import type { Scene } from '../../contract/turn.ts';
import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign.ts';
import { invalidPayload } from '../invalid-payload.ts';
import { namesOf, toldNameOf } from './aliases.ts';
import { shortError } from './describe.ts';
import { type PointName, requirePoint } from './points.ts';
import { textAt, valueAt } from './tree.ts';
import { spell, unwrap } from './unwrap.ts';

type Kind = 'a string' | 'a string that is not empty' | 'a boolean' | 'an object' | 'a string or null';

interface Shape {
  readonly required?: Readonly<Record<string, Kind>>;
  readonly optional: Readonly<Record<string, Kind>>;
  /** Members that stand beside the envelope. */
  readonly beside?: Readonly<Record<string, Kind>>;
}

const envelope = { sessionId: 'a string', cwd: 'a string' } as const;
const beside = { transcript_path: 'a string or null', permission_mode: 'a string' } as const;
const call = {
  required: { toolName: 'a string that is not empty' },
  optional: { sessionId: 'a string', toolInput: 'an object' },
  beside: { ...beside, cwd: 'a string', tool_use_id: 'a string' },
} as const;
const flat = {
  session_id: 'a string',
  transcript_path: 'a string or null',
  cwd: 'a string',
  permission_mode: 'a string',
} as const;

const shapes: Readonly<Record<PointName, Shape>> = {
  UserPromptSubmit: { required: { userMessage: 'a string' }, optional: envelope, beside },
  SessionStart: { optional: envelope, beside: { ...beside, source: 'a string' } },
  SessionEnd: { optional: envelope, beside: { ...beside, reason: 'a string' } },
  PreToolUse: call,
  PostToolUse: { ...call, required: { ...call.required, toolOutput: 'a string' } },
  PostToolUseFailure: { ...call, required: { ...call.required, error: 'a string' } },
  Stop: {
    optional: {
      ...flat,
      stop_hook_active: 'a boolean',
      last_assistant_message: 'a string',
      turn_end_reason: 'a string',
      at_max_iter: 'a boolean',
    },
  },
  PreCompact: {
    optional: {
      ...flat,
      trigger: 'a string',
      custom_instructions: 'a string',
      compaction_type: 'a string',
      reason: 'a string',
    },
  },
};

/**
 * A host's payload: what stands on stdin, or less of it: the members of the envelope's `data` alone, or Claude's.
 * Throws EVENT_INVALID.
 */
export function complete(name: string, given: Payload, scene: Scene): Payload {
  const point = requirePoint(name);
  const { required = {}, optional, beside: around = {} } = shapes[point];
  const known = { own: Object.keys({ ...required, ...optional }), beside: Object.keys(around) };
  const { own, beside } = unwrap(point, given, known);
  requireShape(point, own, { required, optional });
  requireShape(point, beside, { optional: around });
  if (point === 'Stop') return completeStop(own, scene);
  if (point === 'PreCompact') return completeCompaction(own);
  const data = { ...own, sessionId: textAt(own, 'sessionId') ?? scene.session_id };
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
    if (value === undefined) throw invalidPayload(`${point} has no ${spell(key, point)}`);
    if (!isKind(value, kind)) throw invalidPayload(`the ${spell(key, point)} of ${point} is not ${kind}`);
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
  const about = { names: namesOf(toolName), tool_use_id };
  const told = { ...data, toolName: toldNameOf(toolName), toolInput };
  if (point !== 'PostToolUseFailure') return { data: told, ...about };
  const error = textAt(data, 'error') ?? '';
  return {
    data: { ...told, error: shortError(error) },
    ...about,
    error: textAt(beside, 'error') ?? error,
  };
}

function completeStop(given: Payload, { stops }: Scene): Payload {
  const end = textAt(given, 'turn_end_reason') ?? 'final_response';
  return {
    stop_hook_active: stops > 0,
    last_assistant_message: '',
    turn_end_reason: end,
    at_max_iter: end === 'max_iterations',
    ...given,
  };
}

/** Compaction by hand has its own reason, so that the trigger can always be told truly. */
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
