import { createHash, hash } from 'node:crypto';
import { isObject, stringifyJson } from '../../json/json.ts';
import { tryParse } from '../../json/try-parse.ts';
import type { EpochKey } from './suite-run.ts';

/**
 * The fingerprint of what must not change before a run is resumed: a digest of each value by its name, as
 * JSON text.
 */
export function fingerprintOf(parts: Readonly<Record<string, unknown>>): string {
  const digests = Object.entries(parts).map(([name, part]) => {
    const digest = createHash('sha256').update(stringifyJson(part ?? null));
    return [name, digest.digest('hex')];
  });
  return JSON.stringify(Object.fromEntries(digests));
}

/**
 * The names of the parts that differ; undefined when one fingerprint is of the older format without parts.
 */
export function findChanges(before: string, now: string): readonly string[] | undefined {
  const [old, current] = [toDigests(before), toDigests(now)];
  if (old === undefined || current === undefined) return undefined;
  return [...new Set([...Object.keys(current), ...Object.keys(old)])].filter(
    (name) => old[name] !== current[name],
  );
}

/** Undefined for the older format, one digest of everything, which is not JSON. */
function toDigests(fingerprint: string): Readonly<Record<string, unknown>> | undefined {
  const digests = tryParse(fingerprint);
  return isObject(digests) ? digests : undefined;
}

/** A digest of the row and identity of a case; a stored epoch is used only when it is the same. */
export function digestOfCase({ value, identity }: EpochKey): string {
  return hash('sha1', stringifyJson([identity, value]), 'base64');
}
