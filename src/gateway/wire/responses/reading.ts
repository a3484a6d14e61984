import type { WireRules } from '../codec.ts';
import type { Place } from '../place.ts';
import type { RefusedCall } from '../refusal.ts';
import type { Facets } from './facets.ts';
import { isQuiet } from './quiet.ts';

/** What reading an item needs to know. */
export interface Reading {
  readonly rules: WireRules;
  /** The error for a kind that hooks cannot be shown; `path` names members only. */
  unknown(kind: unknown, path: string): RefusedCall;
  /** The error for content that the upstream keeps. */
  reference(path: string): RefusedCall;
  /** The error for a member that is not of the type that the API gives it. */
  malformed(path: string): RefusedCall;
  /** The name of the tool that was called under this id before. */
  toolName(callId: string): string;
}

/** Where a value stands: in which list or object, under which key, and the path that names it in `other`. */
export interface Spot {
  readonly place: Place;
  readonly owner: Place;
  readonly entry: string | number;
  readonly path: string;
}

/** The members of an object by their paths; `path` is that of the object, empty for the outermost. */
export function joinPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** A member as a spot; undefined when it is absent or null. */
export function memberSpot({ place, path }: Spot, key: string): Spot | undefined {
  const member = place.at(key);
  if (member === undefined || member.kind === 'null') return undefined;
  return { place: member, owner: place, entry: key, path: joinPath(path, key) };
}

/** The elements of a list as spots. */
export function elementSpots({ place, path }: Spot): Spot[] {
  return place.items.map((item, index) => ({
    place: item,
    owner: place,
    entry: index,
    path: `${path}[${index}]`,
  }));
}

/** Shows what a member tells in `other`, unless it is quiet. */
export function tellRest({ place, path }: Spot, told: ReadonlySet<string>, { leftovers }: Facets): void {
  for (const [key, member] of place.members) {
    if (told.has(key) || isQuiet(key, member)) continue;
    leftovers.add(joinPath(path, key), { place: member, owner: place, entry: key });
  }
}

/** The text of a string; null and absent are undefined. Throws RefusedCall for anything else. */
export function requireText(spot: Spot | undefined, reading: Reading): string | undefined {
  if (spot === undefined) return undefined;
  const { text } = spot.place;
  if (text === undefined) throw reading.malformed(spot.path);
  return text;
}
