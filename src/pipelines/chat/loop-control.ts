import type { Decision } from '../../contract/hook.ts';
import type { LoopControl } from '../state/turn-record.ts';
import type { TurnState } from './turn-state.ts';

/** The loop control that the hooks decided: fallback, remaining rounds, change of the rounds. */
export function loopControlOf(decision: Decision): LoopControl {
  const fallback = replacedMember(decision, 'fallback');
  const fuel = replacedMember(decision, 'fuel');
  const fuelDelta = replacedMember(decision, 'fuel_delta');
  return {
    // An unknown fallback ends the turn.
    ...(typeof fallback === 'string' && { fallback: fallback === 'call_agent' ? fallback : 'call_user' }),
    ...(isCount(fuel) && { fuel }),
    ...(typeof fuelDelta === 'number' && Number.isSafeInteger(fuelDelta) && { fuelDelta }),
    ...(decision.hook !== null && { by: decision.hook }),
  };
}

export function applyLoopControl(state: TurnState, { fallback, fuel, fuelDelta, by }: LoopControl): void {
  if (fallback !== undefined) state.fallback = fallback;
  if (fuel === undefined && fuelDelta === undefined) return;
  const level = (fuel ?? roundsLeft(state)) + (fuelDelta ?? 0);
  state.fuel = { level: Math.max(0, level), setBy: by };
}

/** The model calls that are left: what the hooks made of them, and never more than the file allows. */
export function roundsLeft({ callsLeft, fuel }: TurnState): number {
  return Math.min(callsLeft, fuel?.level ?? callsLeft);
}

/** Counts one round, after its model call and tool calls. */
export function chargeRound(state: TurnState): void {
  state.callsLeft = Math.max(0, state.callsLeft - 1);
  if (state.fuel !== undefined) state.fuel = { ...state.fuel, level: Math.max(0, state.fuel.level - 1) };
}

/** Whether a hook has set the rounds and none are left. */
export function hasNoFuel({ fuel }: TurnState): boolean {
  return fuel !== undefined && fuel.level <= 0;
}

/** One member of what the hooks replaced; undefined if absent. */
export function replacedMember({ replace }: Decision, key: string): unknown {
  const value = replace?.value;
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
