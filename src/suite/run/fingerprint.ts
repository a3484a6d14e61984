import { createHash } from 'node:crypto';
import { isObject, stringifyJson } from '../../json/json.ts';
import type { EpochPlace } from './run-suite.ts';

/** What must be the same for a run to go on: a digest of each JSON value under its name, as JSON. */
export function fingerprintOf(parts: Readonly<Record<string, unknown>>): string {
  const digests = Object.entries(parts).map(([name, part]) => {
    const digest = createHash('sha256').update(stringifyJson(part ?? null));
    return [name, digest.digest('hex')];
  });
  return JSON.stringify(Object.fromEntries(digests));
}

/** The names of what differs between two fingerprints; undefined when one of them does not tell. */
export function findChanges(before: string, now: string): readonly string[] | undefined {
  const [old, current] = [toDigests(before), toDigests(now)];
  if (old === undefined || current === undefined) return undefined;
  return [...new Set([...Object.keys(current), ...Object.keys(old)])].filter(
    (name) => old[name] !== current[name],
  );
}

/** Runs that are older have one digest of everything, which is no JSON. */
function toDigests(fingerprint: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const digests: unknown = JSON.parse(fingerprint);
    return isObject(digests) ? digests : undefined;
  } catch {
    return undefined;
  }
}

/** A digest of one row as its case: what was judged before counts only for the same row. */
export function digestOfCase({ value, identity }: EpochPlace): string {
  return createHash('sha1')
    .update(stringifyJson([identity, value]))
    .digest('base64');
}
