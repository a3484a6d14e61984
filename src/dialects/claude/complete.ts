import type { HookContext } from '../../contract/turn.ts';
import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign-dialect.ts';
import { invalidPayload } from '../invalid-payload.ts';
import { type Field, fields } from './payload-fields.ts';

/** A payload from the host, with defaults filled in. Throws EVENT_INVALID, which names the member. */
export function complete(point: string, given: Payload, hookContext: HookContext): Payload {
  const known = Object.hasOwn(fields, point) ? fields[point] : undefined;
  if (known === undefined) throw invalidPayload(`claude has no event "${point}"`);
  const name = toPlainValue(given['hook_event_name']);
  if (name !== undefined && name !== point) {
    throw invalidPayload(`the \`hook_event_name\` of ${point} is ${JSON.stringify(name)}`);
  }
  const filled = Object.entries({ ...common, ...known }).flatMap(([key, field]) => {
    const own = given[key];
    const value = own === undefined ? defaultOf(field, hookContext) : own;
    if (value === undefined && field.isOptional) return [];
    if (value === undefined) throw invalidPayload(`${point} has no \`${key}\``);
    if (isKind(toPlainValue(value), field)) return [[key, value]];
    throw invalidPayload(`the \`${key}\` of ${point} is no ${field.kind}`);
  });
  return { ...given, ...Object.fromEntries(filled) };
}

const optionalText: Field = { kind: 'string', isOptional: true };
const common: Readonly<Record<string, Field>> = {
  session_id: optionalText,
  prompt_id: optionalText,
  transcript_path: optionalText,
  cwd: optionalText,
  permission_mode: optionalText,
};

function defaultOf({ fallback }: Field, hookContext: HookContext): unknown {
  return typeof fallback === 'function' ? fallback(hookContext) : fallback;
}

function toPlainValue(value: unknown): unknown {
  return value instanceof Json ? value.value : value;
}

function isKind(value: unknown, { kind, isNullable }: Field): boolean {
  if (value === null) return isNullable === true || kind === 'value';
  switch (kind) {
    case 'list':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'value':
      return true;
    default:
      return typeof value === kind;
  }
}
