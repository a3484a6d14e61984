import { isObject, Json } from '../../json/json.ts';
import { partsOf } from '../../json/scan.ts';
import type { Payload } from '../foreign.ts';
import { invalidPayload } from '../invalid-payload.ts';
import { isFlat, type PointName } from './points.ts';
import { plain } from './tree.ts';

/** A host's payload, whichever of the published forms it has. */
interface Unwrapped {
  /** The members of the envelope's `data`, or of a flat event. */
  readonly own: Payload;
  /** What stands beside the envelope, for Claude scripts alone. */
  readonly beside: Payload;
}

/** Agentao's name of a member by Claude's. */
const pairs: Readonly<Record<string, string>> = {
  session_id: 'sessionId',
  prompt: 'userMessage',
  tool_name: 'toolName',
  tool_input: 'toolInput',
  tool_response: 'toolOutput',
};

/** The member in every spelling that a host may give it. */
export function spell(key: string, point: PointName): string {
  const claude = isFlat(point) ? undefined : Object.keys(pairs).find((each) => pairs[each] === key);
  return claude === undefined ? `\`${key}\`` : `\`${key}\` (or \`${claude}\`)`;
}

/** The members that a point knows: of its own, and those that stand beside its envelope. */
interface Known {
  readonly own: readonly string[];
  readonly beside: readonly string[];
}

/**
 * Takes a payload apart: Agentao's envelope, its members alone, or Claude's names in the place of either. The
 * envelope comes before members beside it, and Agentao's names before Claude's. Throws EVENT_INVALID.
 */
export function unwrap(point: PointName, given: Payload, known: Known): Unwrapped {
  requireSameEvent(point, given);
  const data = dataIn(point, given);
  const { event: _event, data: _data, hook_event_name: _name, ...top } = withoutUndefined(given);
  if (isFlat(point)) return { own: { ...top, ...data }, beside: {} };
  const members = Object.entries(top).map(([key, value]) => place(key, value, known, data !== undefined));
  return {
    own: Object.assign({}, ...members.map(({ claude }) => claude), ...members.map(({ own }) => own), data),
    beside: Object.assign({}, ...members.map(({ beside }) => beside)),
  };
}

interface Placed {
  readonly claude?: Payload;
  readonly own?: Payload;
  readonly beside?: Payload;
}

/** Where a member at top level belongs. Beside an envelope an error is whole, and whatever is unknown stays there. */
function place(key: string, value: unknown, known: Known, isEnvelope: boolean): Placed {
  const own = Object.hasOwn(pairs, key) ? pairs[key] : undefined;
  if (own !== undefined && known.own.includes(own)) {
    return { claude: { [own]: own === 'toolOutput' ? toText(value) : value } };
  }
  if (known.beside.includes(key)) return { beside: { [key]: value } };
  if (!isEnvelope) return { own: { [key]: value } };
  if (key === 'error' && known.own.includes(key)) return { own: { [key]: value }, beside: { [key]: value } };
  return known.own.includes(key) ? { own: { [key]: value } } : { beside: { [key]: value } };
}

/** A structured result is its JSON text. */
function toText(value: unknown): string {
  const result = plain(value);
  return typeof result === 'string' ? result : Json.from(value).text;
}

function requireSameEvent(point: PointName, given: Payload): void {
  for (const key of ['event', 'hook_event_name']) {
    const name = plain(given[key]);
    if (name === undefined || name === point) continue;
    throw invalidPayload(`the \`${key}\` of ${point} is ${JSON.stringify(name)}`);
  }
}

function dataIn(point: PointName, { data }: Payload): Payload | undefined {
  if (data === undefined) return undefined;
  if (data instanceof Json) {
    if (isObject(data.value)) return partsOf(data);
  } else if (isObject(data)) return withoutUndefined(data);
  throw invalidPayload(`the \`data\` of ${point} is not an object`);
}

function withoutUndefined(given: Payload): Payload {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
