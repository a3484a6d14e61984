import type { Scene } from '../../contract/turn.ts';
import type { Payload } from '../foreign.ts';

/** What payloads tell of the place of an event. A host may say `summary`, `flock_goals` and `tool_count`. */
export function placeOf({ context_name, fuel, host }: Scene): Payload {
  return {
    context_name,
    summary: host['summary'] ?? '',
    flock_goals: host['flock_goals'] ?? [],
    tool_count: host['tool_count'] ?? 0,
    current_fallback: 'call_user',
    ...(fuel && { fuel_remaining: fuel.remaining, fuel_total: fuel.total }),
  };
}

/** Some members of the place; what it does not have stays absent. */
export function placed(scene: Scene, keys: readonly string[]): Payload {
  return Object.fromEntries(Object.entries(placeOf(scene)).filter(([key]) => keys.includes(key)));
}
