import { RuntimeError } from '../../errors.ts';
import type { Point } from '../foreign-dialect.ts';
import { type Kind, optional, type Table, withFallback } from '../payload-table.ts';
import {
  anything,
  cached,
  call,
  context,
  context_name,
  count,
  fuel,
  history,
  list,
  loop,
  messageMembers,
  numberOrNull,
  object,
  optionalText,
  session,
  sizeOfContent,
  subAgent,
  system,
  text,
  textOrNull,
} from './members.ts';

/**
 * The family of a point: which answers count there and what they do. `observe`: none, its hooks only observe.
 */
export type Family = 'observe' | 'replace' | 'gate' | 'permission' | 'spawn' | 'delivery' | 'cache';

/** A hook point of chibi: the members of its payload and of its answers, and how answers are composed. */
export interface ChibiPoint extends Point {
  readonly family: Family;
  readonly fields: Table;
  readonly results: Readonly<Record<string, Kind>>;
  /** The reason of a denial that gives none. */
  readonly refusal: string;
}

function observerPoint(fields: ChibiPoint['fields']): ChibiPoint {
  const composition = { verdict: 'strictest' } as const;
  const observer = { order: 'serial', isFilter: false, isAwaited: true, composition } as const;
  return { ...observer, family: 'observe', fields, results: {}, refusal: '' };
}

type FilterOptions = Partial<Pick<ChibiPoint, 'composition' | 'refusal'>>;

function filterPoint(
  family: Exclude<Family, 'observe'>,
  shape: Pick<ChibiPoint, 'fields' | 'results'>,
  { composition = { verdict: 'strictest' }, refusal = '' }: FilterOptions = {},
): ChibiPoint {
  return { order: 'serial', isFilter: true, ends: ['abort'], family, ...shape, composition, refusal };
}

function permission(fields: ChibiPoint['fields']): ChibiPoint {
  // `approved` is how plugins answered before February 2026.
  const results = { denied: 'flag', reason: 'text', approved: 'flag' } as const;
  return filterPoint('permission', { fields, results }, { refusal: 'denied by plugin' });
}

const loopResults = { fallback: 'text', fuel: 'fuel', fuel_delta: 'delta' } as const;
const refusals = { block: 'flag', message: 'text' } as const;

/** The 33 points, in the order of chibi's own list. Source: docs/hooks.md and tools/hooks.rs. */
export const points = {
  on_start: observerPoint(session),
  on_end: observerPoint(session),
  pre_message: filterPoint('replace', { fields: { prompt: text, ...context }, results: { prompt: 'text' } }),
  post_message: observerPoint({
    prompt: text,
    original_prompt: withFallback(optionalText, (_context, { prompt }) => prompt),
    response: text,
    context_name,
  }),
  pre_system_prompt: filterPoint(
    'replace',
    { fields: system, results: { inject: 'text' } },
    { composition: { verdict: 'strictest', members: { inject: 'reversed' } } },
  ),
  post_system_prompt: filterPoint(
    'replace',
    { fields: system, results: { inject: 'text' } },
    { composition: { verdict: 'strictest', members: { inject: 'list' } } },
  ),
  pre_tool: filterPoint(
    'gate',
    { fields: call, results: { ...refusals, arguments: 'any' } },
    { refusal: 'Tool call blocked by hook' },
  ),
  post_tool: observerPoint({ ...call, result: text, cached }),
  pre_tool_output: filterPoint(
    'gate',
    { fields: { ...call, output: text }, results: { ...refusals, output: 'text' } },
    { refusal: 'Output blocked by hook' },
  ),
  post_tool_output: observerPoint({
    ...call,
    output: text,
    final_output: withFallback(text, (_context, { output }) => output),
    cached,
  }),
  pre_api_tools: filterPoint(
    'replace',
    { fields: { context_name, tools: list, ...fuel }, results: { include: 'list', exclude: 'list' } },
    { composition: { verdict: 'strictest', members: { include: 'intersection', exclude: 'union' } } },
  ),
  pre_api_request: filterPoint(
    'replace',
    { fields: { context_name, request_body: object, ...fuel }, results: { request_body: 'any' } },
    { composition: { verdict: 'strictest', members: { request_body: 'shallow' } } },
  ),
  pre_agentic_loop: filterPoint('replace', { fields: { ...loop, message: text }, results: loopResults }),
  post_tool_batch: filterPoint('replace', { fields: { ...loop, tool_calls: list }, results: loopResults }),
  pre_file_read: permission({ tool_name: text, path: text }),
  pre_file_write: permission({ tool_name: text, path: text, content: textOrNull, operation: optionalText }),
  pre_shell_exec: permission({ tool_name: text, command: text }),
  pre_fetch_url: permission({
    tool_name: text,
    safety: text,
    url: optionalText,
    reason: optionalText,
    summary: optionalText,
  }),
  pre_spawn_agent: filterPoint(
    'spawn',
    {
      fields: {
        ...subAgent,
        temperature: numberOrNull,
        max_tokens: numberOrNull,
      },
      results: { response: 'text', ...refusals },
    },
    { composition: { verdict: 'first' }, refusal: 'Sub-agent call blocked by hook' },
  ),
  post_spawn_agent: observerPoint({ ...subAgent, response: text }),
  pre_cache_output: filterPoint('cache', {
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
  pre_send_message: filterPoint(
    'delivery',
    { fields: messageMembers, results: { delivered: 'flag', via: 'text' } },
    { composition: { verdict: 'first' } },
  ),
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

/** Whether chibi has a point of that name. */
export function isPoint(name: string): name is PointName {
  return Object.hasOwn(points, name);
}

/** The point of that name. Throws INTERNAL for another one. */
export function requirePoint(name: string): ChibiPoint {
  if (isPoint(name)) return points[name];
  throw new RuntimeError('INTERNAL', `chibi has no point "${name}"`);
}
