import { Json } from '../../json/json.ts';
import { memberOf, scanMembers } from '../../json/scan.ts';
import type { Spoken } from '../compose.ts';

/** What plugins make of the fuel: where one set it the level, else the difference to what there was. */
export interface Fuel {
  readonly fuel?: bigint;
  readonly fuel_delta?: bigint;
}

/**
 * Plugin by plugin, in each of them `fuel` before `fuel_delta`, never below 0. Without a known level differences
 * add up. Source: apply_hook_overrides in api/send.rs.
 */
export function burnFuel(spoken: readonly Spoken[], remaining: unknown): Fuel {
  const start = integer(remaining === undefined ? undefined : Json.from(remaining));
  let level = start;
  let sum: bigint | undefined;
  let isSet = false;
  for (const { answer } of spoken) {
    if (answer.verdict !== 'modify') continue;
    const { text } = answer.replace;
    const members = scanMembers(text);
    const fuel = integer(memberOf(text, members, 'fuel'));
    const delta = integer(memberOf(text, members, 'fuel_delta'));
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
  return level > MOST ? MOST : level;
}

/** chibi counts in 64 bits. */
const MOST = 2n ** 64n - 1n;

function integer(json: Json | undefined): bigint | undefined {
  return json !== undefined && /^-?\d+$/.test(json.text) ? BigInt(json.text) : undefined;
}
