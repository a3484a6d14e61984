import { createHash, hash } from 'node:crypto';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/try-parse.ts';
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

/** That of an option that is not given. */
const digestOfNothing = digestOf(null);

/**
 * The names of the parts that differ; undefined when one fingerprint is of the older format without parts.
 */
export function findChanges(before: string, now: string): readonly string[] | undefined {
  const [old, current] = [toDigests(before), toDigests(now)];
  if (old === undefined || current === undefined) return undefined;
  // An earlier version kept no digests of programs: whether they have changed since is unknown.
  const keepsPrograms = Object.keys(old).some(isProgram);
  return [...new Set([...Object.keys(current), ...Object.keys(old)])].filter(
    (name) =>
      (keepsPrograms || !isProgram(name)) &&
      (old[name] ?? digestOfNothing) !== (current[name] ?? digestOfNothing),
  );
}

/** The name of the digest of a program. */
export function programPart(name: string): string {
  return `${PROGRAM}${name}`;
}

function isProgram(part: string): boolean {
  return part.startsWith(PROGRAM);
}

const PROGRAM = 'the program ';

/** Whether nothing differs. An option that an earlier version did not have is like one that is not given. */
export function isUnchanged(before: string, now: string): boolean {
  return before === now || findChanges(before, now)?.length === 0;
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
