import type { HookContext } from '../../contract/turn.ts';
import type { Payload } from '../foreign-dialect.ts';
import { textAt } from '../payload.ts';
import { defaultsOf, type Member, member, optional, type Table, withFallback } from '../payload-table.ts';

export const text = member('text', 'is no text');
export const count = member('count', 'is no whole number from 0');
export const list = member('list', 'is no list');
export const object = member('object', 'is no object');
export const anything = member('any', 'is no value');
const flag = member('flag', 'is no boolean');
export const textOrNull = withFallback(member('text or null', 'is no text, nor null'), null);
export const numberOrNull = withFallback(member('number or null', 'is no number, nor null'), null);
export const optionalText = optional(text);

/** What comes from the hook context; a host may set `summary`, `flock_goals` and `tool_count` there. */
const contextRows = {
  context_name: withFallback(text, (context) => context.context_name),
  summary: withFallback(text, ({ host }) => host['summary'] ?? ''),
  flock_goals: withFallback(list, ({ host }) => host['flock_goals'] ?? []),
  tool_count: withFallback(count, ({ host }) => host['tool_count'] ?? 0),
  current_fallback: withFallback(text, 'call_user'),
  fuel_remaining: optional(withFallback(count, ({ fuel }) => fuel?.remaining)),
  fuel_total: optional(withFallback(count, ({ fuel }) => fuel?.total)),
} as const;

const { summary, flock_goals, tool_count, current_fallback } = contextRows;
export const { context_name } = contextRows;
export const fuel = { fuel_remaining: contextRows.fuel_remaining, fuel_total: contextRows.fuel_total };
export const session = { chibi_home: optionalText, project_root: optionalText, tool_count };
export const context = { context_name, summary };
export const system = { ...context, flock_goals };
export const loop = { context_name, current_fallback, ...fuel };
export const call = { tool_name: text, arguments: object };
export const subAgent = { system_prompt: text, input: text, model: textOrNull };
export const messageMembers = { from: text, to: text, content: text, context_name };
export const history = { ...context, message_count: count };
export const cached = withFallback(flag, false);

/** The sizes of `content`, counted where a host leaves them out. */
export const sizeOfContent = {
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

/** The members of a payload that come from the hook context; those without a value are absent. */
export function contextMembersOf(table: Table, hookContext: HookContext): Payload {
  const known = new Set<Member>(Object.values(contextRows));
  const rows = Object.entries(table).filter(([, row]) => known.has(row));
  return defaultsOf(Object.fromEntries(rows), {}, hookContext);
}
