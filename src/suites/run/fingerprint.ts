import { createHash, hash } from 'node:crypto';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/parse.ts';
import type { EpochKey } from '../suite-run.ts';

/**
 * The fingerprint of what must not change before a run is resumed: a digest of each value by its name, as
 * JSON text.
 */
export function fingerprintOf(parts: Readonly<Record<string, unknown>>): string {
  const digests = Object.entries(parts).map(([name, part]) => [name, digestOf(part)]);
  return JSON.stringify(Object.fromEntries(digests));
}

function digestOf(part: unknown): string {
  return createHash('sha256')
    .update(stringifyJson(part ?? null))
    .digest('hex');
}

/** The names of the parts that differ. An option that one side does not have is one that is not given. */
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

/** Without parts where the fingerprint is damaged. */
function toDigests(fingerprint: string): Readonly<Record<string, unknown>> {
  const digests = tryParse(fingerprint);
  return isObject(digests) ? digests : {};
}

/** A digest of the row and identity of a case; a stored epoch is used only when it is the same. */
export function digestOfCase({ value, identity }: EpochKey): string {
  return hash('sha1', stringifyJson([identity, value]), 'base64');
}
