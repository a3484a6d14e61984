import { createHash } from 'node:crypto';
import { stringifyJson } from '../../json.ts';
import type { EpochPlace } from '../suite.ts';

/** What must be the same for a run to go on: a digest of JSON values. */
export function fingerprintOf(parts: unknown): string {
  return createHash('sha256').update(stringifyJson(parts)).digest('hex');
}

/** A digest of one row as its case: what was judged before counts only for the same row. */
export function digestOfCase({ value, identity }: EpochPlace): string {
  return createHash('sha1')
    .update(stringifyJson([identity, value]))
    .digest('base64');
}
