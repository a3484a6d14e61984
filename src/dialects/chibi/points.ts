import { RuntimeError } from '../../base/errors.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { Composition } from '../compose.ts';
import type { Payload, Point } from '../foreign-dialect.ts';
import {
  defaultsOf,
  type Kind,
  type Member,
  member,
  optional,
  type Table,
  textAt,
  withFallback,
} from '../payload-table.ts';

/** A chibi plugin. Its points come from its own `--schema` when the runtime opens. */
export interface ChibiSettings {
  /** The element of the plugin's schema for this hook. Empty before the schema is known. */
  readonly tool: string;
  readonly points: readonly string[];
  readonly chibiHome: string;
  readonly projectRoot: string;
}

const text = member('text', 'is not a string');
const count = member('count', 'is not a whole number from 0');
const list = member('list', 'is not a list');
const object = member('object', 'is not an object');
const anything = member('any', 'is not a value');
const flag = member('flag', 'is not a boolean');
const textOrNull = withFallback(member('text or null', 'is neither a string nor null'), null);
const numberOrNull = withFallback(member('number or null', 'is neither a number nor null'), null);
const optionalText = optional(text);

const contextRows = {
  context_name: withFallback(text, (context) => context.context_name),
  summary: withFallback(text, ({ host }) => host['summary'] ?? ''),
  flock_goals: withFallback(list, ({ host }) => host['flock_goals'] ?? []),
  tool_count: withFallback(count, ({ host }) => host['tool_count'] ?? 0),
  current_fallback: withFallback(text, 'call_user'),
  fuel_remaining: optional(withFallback(count, ({ fuel }) => fuel?.remaining)),
  fuel_total: optional(withFallback(count, ({ fuel }) => fuel?.total)),
} as const;

const { context_name, summary, flock_goals, tool_count, current_fallback } = contextRows;
const fuel = { fuel_remaining: contextRows.fuel_remaining, fuel_total: contextRows.fuel_total };
const session = { chibi_home: optionalText, project_root: optionalText, tool_count };
const context = { context_name, summary };
const system = { ...context, flock_goals };
const loop = { context_name, current_fallback, ...fuel };
const call = { tool_name: text, arguments: object };
const subAgent = { system_prompt: text, input: text, model: textOrNull };
const messageMembers = { from: text, to: text, content: text, context_name };
const history = { ...context, message_count: count };
const cached = withFallback(flag, false);

const sizeOfContent = {
  char_count: countedIn((content) => [...content].length),
  line_count: countedIn(
    (content) => content.split('\n').length - (content === '' || content.endsWith('\n') ? 1 : 0),
  ),
  output_size: countedIn((content) => Buffer.byteLength(content)),
} as const;

function countedIn(countIn: (content: string) => number): Member {
  return withFallback(count, (_context, given) => {
    const content = textAt(given, 'content');
    return content === undefined ? undefined : countIn(content);
  });
}

export function contextMembersOf(table: Table, hookContext: HookContext): Payload {
  const known = new Set<Member>(Object.values(contextRows));
  const rows = Object.entries(table).filter(([, row]) => known.has(row));
  return defaultsOf(Object.fromEntries(rows), {}, hookContext);
}

/** The family of a point: the answers that count, and their effect. At an `observe` point no answer counts. */
export type Family = 'observe' | 'replace' | 'gate' | 'permission' | 'spawn' | 'delivery' | 'cache';

interface ChibiPoint extends Point {
  readonly family: Family;
  readonly fields: Table;
  readonly results: Readonly<Record<string, Kind>>;
  readonly refusal: string;
}

function observerPoint(fields: Table): ChibiPoint {
  const composition = { verdict: 'strictest' } as const;
  const observer = { order: 'serial', isFilter: false, isAwaited: true, composition } as const;
  return { ...observer, family: 'observe', fields, results: {}, refusal: '' };
}

type FilterShape = Pick<ChibiPoint, 'family' | 'fields' | 'results'> &
  Partial<Pick<ChibiPoint, 'composition' | 'refusal'>>;

function filterPoint(shape: FilterShape): ChibiPoint {
  const composition = { verdict: 'strictest' } as const;
  return { order: 'serial', isFilter: true, ends: ['abort'], composition, refusal: '', ...shape };
}

function replacePoint(
  fields: Table,
  results: ChibiPoint['results'],
  members: Composition['members'] = {},
): ChibiPoint {
  const composition = { verdict: 'strictest', members } as const;
  return filterPoint({ family: 'replace', fields, results, composition });
}

function gatePoint(fields: Table, results: ChibiPoint['results'], refusal: string): ChibiPoint {
  const refusing = { block: 'flag', message: 'text' } as const;
  return filterPoint({ family: 'gate', fields, results: { ...refusing, ...results }, refusal });
}

function permissionPoint(fields: Table): ChibiPoint {
  // Plugins used `approved` before February 2026.
  const results = { denied: 'flag', reason: 'text', approved: 'flag' } as const;
  return filterPoint({ family: 'permission', fields, results, refusal: 'denied by plugin' });
}

const loopResults = { fallback: 'text', fuel: 'fuel', fuel_delta: 'delta' } as const;

/** The 33 points, in the order of chibi's own list. Source: docs/hooks.md and tools/hooks.rs. */
export const points = {
  on_start: observerPoint(session),
  on_end: observerPoint(session),
  pre_message: replacePoint({ prompt: text, ...context }, { prompt: 'text' }),
  post_message: observerPoint({
    prompt: text,
    original_prompt: withFallback(optionalText, (_context, { prompt }) => prompt),
    response: text,
    context_name,
  }),
  pre_system_prompt: replacePoint(system, { inject: 'text' }, { inject: 'reversed' }),
  post_system_prompt: replacePoint(system, { inject: 'text' }, { inject: 'list' }),
  pre_tool: gatePoint(call, { arguments: 'any' }, 'Tool call blocked by hook'),
  post_tool: observerPoint({ ...call, result: text, cached }),
  pre_tool_output: gatePoint({ ...call, output: text }, { output: 'text' }, 'Output blocked by hook'),
  post_tool_output: observerPoint({
    ...call,
    output: text,
    final_output: withFallback(text, (_context, { output }) => output),
    cached,
  }),
  pre_api_tools: replacePoint(
    { context_name, tools: list, ...fuel },
    { include: 'list', exclude: 'list' },
    { include: 'intersection', exclude: 'union' },
  ),
  pre_api_request: replacePoint(
    { context_name, request_body: object, ...fuel },
    { request_body: 'any' },
    { request_body: 'shallow' },
  ),
  pre_agentic_loop: replacePoint({ ...loop, message: text }, loopResults),
  post_tool_batch: replacePoint({ ...loop, tool_calls: list }, loopResults),
  pre_file_read: permissionPoint({ tool_name: text, path: text }),
  pre_file_write: permissionPoint({
    tool_name: text,
    path: text,
    content: textOrNull,
    operation: optionalText,
  }),
  pre_shell_exec: permissionPoint({ tool_name: text, command: text }),
  pre_fetch_url: permissionPoint({
    tool_name: text,
    safety: text,
    url: optionalText,
    reason: optionalText,
    summary: optionalText,
  }),
  pre_spawn_agent: filterPoint({
    family: 'spawn',
    fields: { ...subAgent, temperature: numberOrNull, max_tokens: numberOrNull },
    results: { response: 'text', block: 'flag', message: 'text' },
    composition: { verdict: 'first' },
    refusal: 'Sub-agent call blocked by hook',
  }),
  post_spawn_agent: observerPoint({ ...subAgent, response: text }),
  pre_cache_output: filterPoint({
    family: 'cache',
    fields: {
      ...call,
      content: text,
      char_count: optional(sizeOfContent.char_count),
      line_count: optional(sizeOfContent.line_count),
      output_size: optional(sizeOfContent.output_size),
    },
    results: { summary: 'text', block: 'flag' },
  }),
  post_cache_output: observerPoint({
    tool_name: text,
    cache_id: text,
    output_size: sizeOfContent.output_size,
    preview_size: count,
  }),
  pre_send_message: filterPoint({
    family: 'delivery',
    fields: messageMembers,
    results: { delivered: 'flag', via: 'text' },
    composition: { verdict: 'first' },
  }),
  post_send_message: observerPoint({ ...messageMembers, delivery_result: anything }),
  post_index_file: observerPoint({ path: text, lang: text, symbol_count: count, ref_count: count }),
  pre_vfs_write: observerPoint({ tool_name: text, path: text, content: textOrNull, caller: text }),
  post_vfs_write: observerPoint({ tool_name: text, path: text, caller: text }),
  pre_clear: observerPoint(history),
  post_clear: observerPoint({ ...history, message_count: optional(count) }),
  pre_compact: observerPoint(history),
  post_compact: observerPoint(history),
  pre_rolling_compact: observerPoint({ ...history, non_system_count: count }),
  post_rolling_compact: observerPoint({ ...history, messages_archived: count }),
} as const satisfies Readonly<Record<string, ChibiPoint>>;

export type PointName = keyof typeof points;

export function isPoint(name: string): name is PointName {
  return Object.hasOwn(points, name);
}

export function requirePoint(name: string): ChibiPoint {
  if (isPoint(name)) return points[name];
  throw new RuntimeError('INTERNAL', `chibi has no point "${name}"`);
}
