import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign-dialect.ts';

/** A member of a payload as a plain value. */
export function valueAt(tree: Payload, key: string): unknown {
  return toPlainValue(Object.hasOwn(tree, key) ? tree[key] : undefined);
}

/** A part of a payload as a plain value. */
export function toPlainValue(value: unknown): unknown {
  return value instanceof Json ? value.value : value;
}

/** A member of a payload that is a text; undefined when it is none. */
export function textAt(tree: Payload, key: string): string | undefined {
  const value = valueAt(tree, key);
  return typeof value === 'string' ? value : undefined;
}

/** The `data` of the envelope; empty for events without an envelope. */
export function dataOf({ data }: Payload): Payload {
  return isObject(data) ? data : {};
}

/** The members that the host gave beside the envelope's `data`. */
export function outerMembersOf({ beside }: Payload): Payload {
  return isObject(beside) ? beside : {};
}

/** The tool name in the payload of a tool event; empty when there is none. */
export function toolNameIn(payload: Payload): string {
  return textAt(dataOf(payload), 'toolName') ?? '';
}
