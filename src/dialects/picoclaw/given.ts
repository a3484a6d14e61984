import { type RuntimeError, toRuntimeError } from '../../errors.ts';
import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign.ts';
import { invalidPayload } from '../invalid-payload.ts';

/** What is wrong with a member, as the end of a sentence; undefined when it fits. */
export type Check = (value: Json, key: string) => string | undefined;

/** The members that a host may give at a point, and what stands for those that it leaves out. */
export interface Shape {
  readonly members: Readonly<Record<string, Check>>;
  readonly defaults: Payload;
}

/** The given members and the defaults of the others. Throws EVENT_INVALID naming a member that is wrong or missing. */
export function fillIn(point: string, given: Payload, { members, defaults }: Shape): Payload {
  const payload = { ...defaults, ...withoutUndefined(given) };
  for (const key of Object.keys(payload)) {
    if (!Object.hasOwn(members, key)) throw invalid(point, `has a member \`${key}\`, which is unknown`);
  }
  for (const [key, check] of Object.entries(members)) {
    if (payload[key] === undefined) throw invalid(point, `has no \`${key}\``);
    const problem = check(Json.from(payload[key]), key);
    if (problem !== undefined) throw invalid(point, `has a \`${key}\` that ${problem}`);
  }
  return payload;
}

/** The error of a payload that a host got wrong. */
export function invalid(point: string, what: string): RuntimeError {
  return invalidPayload(`the payload of ${point} ${what}`);
}

export const isText: Check = ({ value }) => (typeof value === 'string' ? undefined : 'is not a string');
export const isTruth: Check = ({ value }) =>
  typeof value === 'boolean' ? undefined : 'is neither true nor false';
export const isMembers: Check = ({ value }) => (isObject(value) ? undefined : 'is not an object');
export const isDuration: Check = ({ value }) =>
  Number.isInteger(value) ? undefined : 'is not an integer of nanoseconds';
export const isAnything: Check = () => undefined;

/** What a reader that throws has against it. */
export const readBy =
  (read: (json: Json, what: string) => unknown): Check =>
  (value, key) => {
    try {
      read(value, `\`${key}\``);
      return undefined;
    } catch (thrown) {
      return `does not fit: ${toRuntimeError(thrown).message}`;
    }
  };

function withoutUndefined(given: Payload): Payload {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
