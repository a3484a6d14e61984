import { type RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { Payload } from '../foreign-dialect.ts';
import {
  defaultsOf,
  invalidPayload,
  type Member,
  member,
  omitUndefined,
  requireMembers,
  type Table,
  toPlainValue,
  withFallback,
} from '../payload-table.ts';
import type { PicoclawKind } from './config/settings.ts';
import { kindOf, severityOf } from './events.ts';
import {
  defaultResponse,
  defaultResult,
  readMessages,
  readResponseObject,
  readResultObject,
  readToolDefs,
  toContext,
  toMeta,
  toScope,
  tracePaths,
} from './wire.ts';

export function complete(point: string, given: Payload, hookContext: HookContext): Payload {
  if (point === 'event' || point === 'runtime_event') {
    const table = point === 'event' ? legacyTable(given) : runtimeTable(given);
    return completeBy({ point, table, checked: table }, given, hookContext);
  }
  if (!isMethod(point)) throw invalid(point, 'cannot be used: picoclaw has no such point');
  const own = methodTables[point];
  const first: Table = {
    meta: withFallback(object, (context) => toMeta(context, tracePaths[point])),
    context: withFallback(object, (context) => toContext(context).context),
  };
  const shape = { point, table: { ...first, ...last, ...own }, checked: { ...first, ...own, ...last } };
  return fillInside(completeBy(shape, given, hookContext));
}

const text = member('text', 'is not a string');
const flag = member('flag', 'is neither true nor false');
const object = member('object', 'is not an object');
const anything = member('any', '');
const withEmptyObject = withFallback(object, {});

function readableBy(read: (json: Json, what: string) => unknown): Member {
  const check = (json: Json, key: string) => {
    try {
      read(json, `\`${key}\``);
      return undefined;
    } catch (thrown) {
      return `does not fit: ${toRuntimeError(thrown).message}`;
    }
  };
  return { check };
}

const last: Table = {
  channel: withFallback(text, (context) => toContext(context).channel),
  chat_id: withFallback(text, (context) => toContext(context).chat_id),
};
const call: Table = { tool: text, arguments: withEmptyObject };
export const methodTables = {
  before_llm: {
    model: withFallback(text, ''),
    messages: readableBy(readMessages),
    tools: withFallback(readableBy(readToolDefs), []),
    options: withEmptyObject,
    graceful_terminal: withFallback(flag, false),
  },
  after_llm: { model: withFallback(text, ''), response: readableBy(readResponseObject) },
  before_tool: call,
  approve_tool: call,
  after_tool: {
    ...call,
    result: readableBy(readResultObject),
    duration: withFallback(member('integer', 'is not an integer of nanoseconds'), 0),
  },
} as const satisfies Readonly<Record<string, Table>>;

export function isMethod(point: string): point is keyof typeof methodTables {
  return Object.hasOwn(methodTables, point);
}

function legacyTable(given: Payload): Table {
  const kind = kindOf(given);
  if (kind?.legacy === undefined) throw invalid('event', 'has no known `Kind` or `KindName`');
  return {
    id: withFallback(text, idOf(kind.legacy)),
    Kind: { ...anything, fallback: kind.number },
    KindName: withFallback(text, kind.legacy),
    Time: withFallback(text, ({ now }) => now),
    Meta: withFallback(object, (context) => toMeta(context, '')),
    Context: withFallback(object, (context) => toContext(context).context),
    Payload: withEmptyObject,
  };
}

function runtimeTable(given: Payload): Table {
  const kind = kindOf({ kind: given['kind'] });
  if (kind === undefined) throw invalid('runtime_event', 'has no known `kind`');
  return {
    id: withFallback(text, idOf(kind.dotted)),
    kind: withFallback(text, kind.dotted),
    time: withFallback(text, ({ now }) => now),
    source: withFallback(object, ({ agent }) => ({ component: kind.dotted.split('.')[0], name: agent })),
    scope: withFallback(object, scopeOf),
    correlation: withEmptyObject,
    severity: withFallback(text, (_context, { payload }) => severityIn(kind, payload)),
    payload: withEmptyObject,
    attrs: withEmptyObject,
  };
}

const idOf =
  (kind: string) =>
  ({ turn_id, round }: HookContext) =>
    `evt-${turn_id}-${round}-${kind}`;

function scopeOf(hookContext: HookContext): Payload {
  const { agent, session_id, turn_id } = hookContext;
  return { agent_id: agent, session_key: session_id, turn_id, ...toScope(hookContext) };
}

function severityIn(kind: PicoclawKind, payload: unknown): string {
  const plain = toPlainValue(payload);
  return severityOf(kind, isObject(plain) ? plain : {});
}

interface Shape {
  readonly point: string;
  /** In the order of the wire. */
  readonly table: Table;
  /** The same members in the order in which they are checked. */
  readonly checked: Table;
}

function completeBy({ point, table, checked }: Shape, given: Payload, hookContext: HookContext): Payload {
  const payload = { ...defaultsOf(table, given, hookContext), ...omitUndefined(given) };
  const unknown = Object.keys(payload).find((key) => !Object.hasOwn(table, key));
  if (unknown !== undefined) throw invalid(point, `has a member \`${unknown}\`, which is unknown`);
  requireMembers(checked, payload, (key, problem) =>
    toMessage(point, problem === undefined ? `has no \`${key}\`` : `has a \`${key}\` that ${problem}`),
  );
  return payload;
}

function fillInside(payload: Payload): Payload {
  const { result, response } = payload;
  return {
    ...payload,
    ...(result !== undefined && { result: { ...defaultResult, ...membersOf(Json.from(result)) } }),
    ...(response !== undefined && { response: { ...defaultResponse, ...membersOf(Json.from(response)) } }),
  };
}

function invalid(point: string, what: string): RuntimeError {
  return invalidPayload(toMessage(point, what));
}

function toMessage(point: string, what: string): string {
  return `the payload of ${point} ${what}`;
}
