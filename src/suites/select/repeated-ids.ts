import type { CaseCandidate, SelectionStage } from './select.ts';

/**
 * Passes every candidate on, and reports the first case that repeats the id and tags of an earlier one. Equal ids with
 * different tags may be two sides of a comparison. Checks only the first `most` cases, which limits memory to 8 MiB.
 */
export function watchRepeatedIds(
  onRepeat: (candidate: CaseCandidate) => void,
  most = 500_000,
): SelectionStage {
  return async function* (candidates) {
    let seen: ReturnType<typeof newSeenKeys> | undefined = newSeenKeys();
    for await (const candidate of candidates) {
      if (seen !== undefined && !('problem' in candidate)) {
        const isRepeated = !seen.add(keyOf(candidate));
        if (isRepeated) onRepeat(candidate);
        if (isRepeated || seen.size() >= most) seen = undefined;
      }
      yield candidate;
    }
  };
}

/** Length prefixes make the key unambiguous. */
function keyOf({ id, tags }: CaseCandidate): string {
  let key = `${id.length} ${id}`;
  for (const tag of tags) key += ` ${tag.length} ${tag}`;
  return key;
}

interface SeenKeys {
  /** Returns false for a known key. A false positive by hash collision occurs less than once in 10,000 full sets. */
  add(key: string): boolean;
  size(): number;
}

/** Stores a 53-bit hash per key in a table that doubles when half full. */
export function newSeenKeys(): SeenKeys {
  let table = new Float64Array(1024);
  let size = 0;
  const grow = () => {
    const old = table;
    table = new Float64Array(old.length * 2);
    for (const hash of old) if (hash !== EMPTY) table[placeOf(table, hash)] = hash;
  };
  return {
    add(key) {
      const hash = hash53(key);
      const place = placeOf(table, hash);
      if (table[place] === hash) return false;
      table[place] = hash;
      size += 1;
      if (size * 2 > table.length) grow();
      return true;
    },
    size: () => size,
  };
}

const EMPTY = 0;

function placeOf(table: Float64Array, hash: number): number {
  let place = hash % table.length;
  while (table[place] !== EMPTY && table[place] !== hash) place = (place + 1) % table.length;
  return place;
}

/** From 1 to 2^53 - 1. Two 32-bit lanes with multiplication by odd numbers and final mixing, as in MurmurHash3. */
function hash53(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  high = mix(high) ^ mix(low);
  low = mix(low) ^ mix(high);
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0) || 1;
}

function mix(lane: number): number {
  const once = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}
