import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign.ts';

/** A member of a payload as a plain value. */
export function valueAt(tree: Payload, key: string): unknown {
  return plain(Object.hasOwn(tree, key) ? tree[key] : undefined);
}

/** A part of a payload as a plain value. */
export function plain(value: unknown): unknown {
  return value instanceof Json ? value.value : value;
}

/** A member of a payload that is a text; undefined when it is none. */
export function textAt(tree: Payload, key: string): string | undefined {
  const value = valueAt(tree, key);
  return typeof value === 'string' ? value : undefined;
}

/** What Agentao's envelope holds of an event; empty for the events that have none. */
export function dataOf({ data }: Payload): Payload {
  return isObject(data) ? data : {};
}

/** What a host has put beside the envelope, as it is told. */
export function besideOf({ beside }: Payload): Payload {
  return isObject(beside) ? beside : {};
}

/** The name by which the payloads of a tool's events call it. */
export function toldToolOf(payload: Payload): string {
  return textAt(dataOf(payload), 'toolName') ?? '';
}
