import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { loadKeys } from './keys.ts';
import { openAuditWriter } from './writer.ts';

export interface PruneOptions {
  readonly file: string;
  readonly signingKey: string | undefined;
  /** Milliseconds since 1970. */
  readonly before: number;
}

/**
 * Removes the first rows of an audit as far as they are older, and tells how many; a row of the chain says so. Throws FILE_UNREADABLE
 * where there is none, and STORE_FAILED.
 */
export async function pruneAudit({ file, signingKey, before }: PruneOptions): Promise<number> {
  if (!existsSync(file)) throw new RuntimeError('FILE_UNREADABLE', `there is no audit in ${file}`);
  const writer = await openAuditWriter(file, loadKeys(dirname(file), signingKey), BUSY_MS);
  try {
    let pruned = 0;
    for (let isPartial = true; isPartial; ) {
      const done = await writer.work({ what: 'prune', before });
      pruned += done.removed;
      ({ isPartial } = done);
    }
    return pruned;
  } finally {
    await writer.close();
  }
}

const BUSY_MS = 30_000;
