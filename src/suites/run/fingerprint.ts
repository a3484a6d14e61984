import { createHash, hash } from 'node:crypto';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/parse.ts';
import type { EpochKey } from '../suite-run.ts';

/** Digests each value that must not change before a run is resumed. Returns JSON with the digests by name. */
export function fingerprintOf(parts: Readonly<Record<string, unknown>>): string {
  const digests = Object.entries(parts).map(([name, part]) => [name, digestOf(part)]);
  return JSON.stringify(Object.fromEntries(digests));
}

function digestOf(part: unknown): string {
  return createHash('sha256')
    .update(stringifyJson(part ?? null))
    .digest('hex');
}

/** The names of the parts that differ. A missing option counts as not set. */
export function findChanges(before: string, now: string): readonly string[] {
  const [old, current] = [toDigests(before), toDigests(now)];
  const nothing = digestOf(null);
  return [...new Set([...Object.keys(current), ...Object.keys(old)])].filter(
    (name) => (old[name] ?? nothing) !== (current[name] ?? nothing),
  );
}

export function isUnchanged(before: string, now: string): boolean {
  return before === now || findChanges(before, now).length === 0;
}

function toDigests(fingerprint: string): Readonly<Record<string, unknown>> {
  const digests = tryParse(fingerprint);
  return isObject(digests) ? digests : {};
}

/** A digest of the row and identity of a case. A stored epoch is reused only if it is equal. */
export function digestOfCase({ value, identity }: EpochKey): string {
  return hash('sha1', stringifyJson([identity, value]), 'base64');
}
