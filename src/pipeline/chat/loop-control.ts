import type { Decision } from '../../contract/hook.ts';
import type { Loop } from '../state/turn-record.ts';
import type { Talk } from './turn-state.ts';

/** What hooks decided of a chat's loop. */
export function loopOf(decision: Decision): Loop {
  const fallback = memberOf(decision, 'fallback');
  const fuel = memberOf(decision, 'fuel');
  const fuelDelta = memberOf(decision, 'fuel_delta');
  return {
    // What nobody knows ends the turn.
    ...(typeof fallback === 'string' && { fallback: fallback === 'call_agent' ? fallback : 'call_user' }),
    ...(isCount(fuel) && { fuel }),
    ...(typeof fuelDelta === 'number' && Number.isSafeInteger(fuelDelta) && { fuelDelta }),
    ...(decision.hook !== null && { by: decision.hook }),
  };
}

export function takeLoop(talk: Talk, { fallback, fuel, fuelDelta, by }: Loop): void {
  if (fuel !== undefined || fuelDelta !== undefined) talk.fuelSetBy = by;
  if (fallback !== undefined) talk.fallback = fallback;
  if (fuel !== undefined) talk.roundsLeft = fuel;
  if (fuelDelta !== undefined) talk.roundsLeft = Math.max(0, talk.roundsLeft + fuelDelta);
}

/** A model call is over, with all that it asked for. */
export function chargeRound(talk: Talk): void {
  talk.roundsLeft = Math.max(0, talk.roundsLeft - 1);
}

/** Whether a hook has left the turn without any further model call. */
export function hasNoFuel({ fuelSetBy, roundsLeft }: Talk): boolean {
  return fuelSetBy !== undefined && roundsLeft <= 0;
}

/** A member of what the hooks of a moment replaced. */
export function memberOf({ replace }: Decision, key: string): unknown {
  const value = replace?.value;
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
