import { isObject, Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import type { Payload } from '../foreign-dialect.ts';
import { invalidPayload, omitUndefined, textAt, toPlainValue } from '../payload-table.ts';
import { isFlat, type PointName } from './points.ts';

interface Unwrapped {
  /** The members of the envelope's `data`, or of a flat event. */
  readonly own: Payload;
  /** What stands beside the envelope, for Claude scripts alone. */
  readonly beside: Payload;
}

const agentaoNames: Readonly<Record<string, string>> = {
  session_id: 'sessionId',
  prompt: 'userMessage',
  tool_name: 'toolName',
  tool_input: 'toolInput',
  tool_response: 'toolOutput',
};

/** The accepted spellings of a member, for messages. */
export function spellings(key: string, point: PointName): string {
  const claude = isFlat(point)
    ? undefined
    : Object.keys(agentaoNames).find((each) => agentaoNames[each] === key);
  return claude === undefined ? `\`${key}\`` : `\`${key}\` (or \`${claude}\`)`;
}

interface Known {
  readonly own: readonly string[];
  readonly beside: readonly string[];
}

/**
 * Splits a host payload into the members of `data` and those beside it. Members of `data` win over the same
 * members at top level, and Agentao's names over Claude's. Throws EVENT_INVALID.
 */
export function unwrap(point: PointName, given: Payload, known: Known): Unwrapped {
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

/**
 * Assigns a top-level member to the data or to the members beside it. With `data` given, unknown ones stay
 * outside.
 */
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
