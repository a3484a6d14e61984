import { Json } from '../../json/json.ts';
import { memberOf, scanMembers } from '../../json/scan.ts';
import type { HookAnswer } from '../compose.ts';

/** The change of the fuel: the new level where a plugin set one, else the sum of the differences. */
export interface FuelChange {
  readonly fuel?: bigint;
  readonly fuel_delta?: bigint;
}

/**
 * Plugin by plugin, in each of them `fuel` before `fuel_delta`, never below 0. Without a known level differences
 * add up. Source: apply_hook_overrides in api/send.rs.
 */
export function composeFuel(hookAnswers: readonly HookAnswer[], remaining: unknown): FuelChange {
  const start = toInteger(remaining === undefined ? undefined : Json.from(remaining));
  let level = start;
  let sum: bigint | undefined;
  let isSet = false;
  for (const { answer } of hookAnswers) {
    if (answer.verdict !== 'modify') continue;
    const { text } = answer.replace;
    const members = scanMembers(text);
    const fuel = toInteger(memberOf(text, members, 'fuel'));
    const delta = toInteger(memberOf(text, members, 'fuel_delta'));
    if (fuel !== undefined) {
      level = fuel;
      isSet = true;
    }
    if (delta === undefined) continue;
    sum = (sum ?? 0n) + delta;
    if (level !== undefined) level = clamp(level + delta);
  }
  if (isSet && level !== undefined) return { fuel: level };
  if (sum === undefined) return {};
  return { fuel_delta: level === undefined || start === undefined ? sum : level - start };
}

function clamp(level: bigint): bigint {
  if (level < 0n) return 0n;
  return level > MAX_FUEL ? MAX_FUEL : level;
}

/** chibi counts in 64 bits. */
const MAX_FUEL = 2n ** 64n - 1n;

function toInteger(json: Json | undefined): bigint | undefined {
  return json !== undefined && /^-?\d+$/.test(json.text) ? BigInt(json.text) : undefined;
}
