import type { HookContext } from '../../contract/turn.ts';
import type { Payload } from '../foreign-dialect.ts';

/**
 * The payload members that come from the hook context. A host may set `summary`, `flock_goals` and
 * `tool_count`.
 */
export function contextMembers({ context_name, fuel, host }: HookContext): Payload {
  return {
    context_name,
    summary: host['summary'] ?? '',
    flock_goals: host['flock_goals'] ?? [],
    tool_count: host['tool_count'] ?? 0,
    current_fallback: 'call_user',
    ...(fuel && { fuel_remaining: fuel.remaining, fuel_total: fuel.total }),
  };
}

/** The context members of these keys; those without a value are absent. */
export function pickContextMembers(hookContext: HookContext, keys: readonly string[]): Payload {
  return Object.fromEntries(
    Object.entries(contextMembers(hookContext)).filter(([key]) => keys.includes(key)),
  );
}
