import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import {
  type Connection,
  ignoreErrors,
  memoryFile,
  openConnection,
  retryWhileBusy,
} from '../../store/sqlite/connection.ts';
import { toStoreError } from '../../store/sqlite/store-error.ts';
import { startThread, type Thread } from '../../store/sqlite/write/thread.ts';
import {
  type AuditDone,
  type AuditReply,
  type AuditThreadData,
  type AuditWork,
  doWork,
  openChain,
} from './chain-writer.ts';
import { auditLayout } from './database.ts';
import { type AuditKeys, loadKeys } from './keys.ts';

export interface AuditWriter {
  /** Resolves when the work is durable. Rejects with STORE_FAILED if nothing was written. */
  work(work: AuditWork): Promise<AuditDone>;
  /** Closes after all pending work. Never rejects. */
  close(): Promise<void>;
}

/** Opens the audit in a file or in memory and creates its chain if it has none. Throws STORE_FAILED. */
export async function openAuditWriter(file: string, keys: AuditKeys, waitMs: number): Promise<AuditWriter> {
  try {
    const connection = await openConnection({ file, layout: auditLayout, commitWaitsFor: 'disk', waitMs });
    try {
      const chain = await retryWhileBusy(() => openChain(connection, keys, newChainId), waitMs);
      if (file === memoryFile) return inOrder(async (work) => doWork(chain, work), connection);
      return await openInThread(connection, { file, identity: connection.identity, keys, waitMs });
    } catch (error) {
      connection.database.close();
      throw error;
    }
  } catch (error) {
    throw toStoreError(error, file);
  }
}

function newChainId(): string {
  return randomBytes(16).toString('hex');
}

type AuditThread = Thread<AuditWork, AuditReply>;

async function openInThread(connection: Connection, data: AuditThreadData): Promise<AuditWriter> {
  const start = async (): Promise<AuditThread> =>
    await startThread<AuditWork, AuditReply>({
      address: new URL(`./audit-thread${extname(import.meta.url)}`, import.meta.url),
      ...{ name: 'signalbox-audit', data, endedError: (why) => endedError(data.file, why) },
    });
  let thread = await start();
  const ask = async (work: AuditWork): Promise<AuditDone> => {
    if (thread.hasEnded()) thread = await start();
    const reply = await thread.ask(work);
    if (reply.status === 'done') return reply;
    if (reply.status === 'ready') throw endedError(data.file, 'it answered something else');
    const { code, message, hint, details } = reply.fault;
    throw new RuntimeError(code, message, { hint, ...(details && { details }) });
  };
  return inOrder(ask, connection, () => thread.close());
}

function inOrder(
  ask: (work: AuditWork) => Promise<AuditDone>,
  connection: Connection,
  end = async () => {},
): AuditWriter {
  let last: Promise<unknown> = Promise.resolve();
  return {
    work: async (work) => {
      const done = last.then(async () => await ask(work));
      last = done.catch(() => {});
      try {
        return await done;
      } catch (error) {
        throw toStoreError(error, connection.location);
      }
    },
    close: async () => {
      await last;
      await end();
      ignoreErrors(() => connection.database.close());
    },
  };
}

function endedError(file: string, why: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `the thread that writes the audit ${file} ended: ${why}`);
}

export interface PruneOptions {
  readonly file: string;
  readonly signingKey: string | undefined;
  /** Milliseconds since 1970. */
  readonly before: number;
}

/** Returns the number of removed rows. Throws FILE_UNREADABLE if there is no audit, and STORE_FAILED. */
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
