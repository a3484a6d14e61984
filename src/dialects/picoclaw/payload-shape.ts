import { type RuntimeError, toRuntimeError } from '../../errors.ts';
import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign-dialect.ts';
import { invalidPayload } from '../invalid-payload.ts';

/** What is wrong with a member, as the end of a sentence; undefined when it fits. */
export type Check = (value: Json, key: string) => string | undefined;

/** The members that a host may give at a point, with their checks and defaults. */
export interface Shape {
  readonly members: Readonly<Record<string, Check>>;
  readonly defaults: Payload;
}

/** The given members and the defaults of the others. Throws EVENT_INVALID naming a member that is wrong or missing. */
export function completeShape(point: string, given: Payload, { members, defaults }: Shape): Payload {
  const payload = { ...defaults, ...omitUndefined(given) };
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

/** The EVENT_INVALID error for a payload from the host. */
export function invalid(point: string, what: string): RuntimeError {
  return invalidPayload(`the payload of ${point} ${what}`);
}

export const isText: Check = ({ value }) => (typeof value === 'string' ? undefined : 'is not a string');
export const isBoolean: Check = ({ value }) =>
  typeof value === 'boolean' ? undefined : 'is neither true nor false';
export const isJsonObject: Check = ({ value }) => (isObject(value) ? undefined : 'is not an object');
export const isDuration: Check = ({ value }) =>
  Number.isInteger(value) ? undefined : 'is not an integer of nanoseconds';
export const isAny: Check = () => undefined;

/** A check by a reader that throws: its message is the problem. */
export const isReadableBy =
  (read: (json: Json, what: string) => unknown): Check =>
  (value, key) => {
    try {
      read(value, `\`${key}\``);
      return undefined;
    } catch (thrown) {
      return `does not fit: ${toRuntimeError(thrown).message}`;
    }
  };

function omitUndefined(given: Payload): Payload {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
