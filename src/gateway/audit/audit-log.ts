import { dirname, join } from 'node:path';
import { type RuntimeError, toRuntimeError } from '../../base/errors.ts';
import type { StateStoreConfig } from '../../config/config.ts';
import type { Scrubber } from '../../contract/scrub.ts';
import type { HostEnv } from '../../process/env.ts';
import { memoryFile } from '../../store/sqlite/connection.ts';
import { toStoreError } from '../../store/sqlite/store-error.ts';
import { unusableStoreError } from '../../store/store-rules.ts';
import type { AuditLog, AuditRecord } from '../ports.ts';
import { RefusedCall } from '../wire/refusal.ts';
import { createGroupCommit } from './group-commit.ts';
import { createHeadOutput, type HeadOptions } from './head-output.ts';
import { type AuditKeys, loadKeys, makeKeys } from './keys.ts';
import { type NewCall, toNewCall } from './row.ts';
import type { SharedWriterOptions } from './shared/writer.ts';
import { type AuditWriter, openAuditWriter } from './writer.ts';
import type { AuditDone, AuditWork } from './writer-message.ts';

export interface AuditLogOptions {
  /** The audit is in the same database, or `audit.db` in the folder of this store; in memory where that is. */
  readonly store: StateStoreConfig;
  /** Has the address of a database. */
  readonly env: HostEnv;
  /** Whether calls are refused while rows cannot be kept; otherwise that is only told. */
  readonly isRequired: boolean;
  /** Whether the bodies that records have are kept. */
  readonly keepsContent: boolean;
  /** Rows that are older go, in ms; undefined: none does. */
  readonly keepMs: number | undefined;
  /** Where signed heads go; undefined: nowhere but the database. */
  readonly head: HeadOptions | undefined;
  /** A private Ed25519 key in PEM, in place of the one that is made beside the audit. */
  readonly signingKey: string | undefined;
  readonly scrubber: Scrubber;
  /** How long other processes may be in the way. Default: three seconds. */
  readonly waitMs?: number;
  /** Of a database that replicas share. */
  readonly replica?: Omit<SharedWriterOptions, 'signingKey'>;
  /** Told why rows or heads could not be kept. */
  readonly warn: (error: RuntimeError) => void;
}

/** The name of the database in the folder of the state store. */
export const auditFile = 'audit.db';

/** Opens the audit of a gateway, or begins it. Throws STORE_FAILED. */
export async function openAuditLog(options: AuditLogOptions): Promise<AuditLog> {
  const writer = await openWriter(options);
  const state = trackState(writer, options);
  const calls = createGroupCommit<NewCall>(
    (group) => state.work({ what: 'append', calls: group }),
    MOST_TOGETHER,
  );
  const heads = createHeadOutput(options.head, options.warn);
  const pruning = startPruning(state, options.keepMs);
  state.onHead(heads.take);
  await state.work({ what: 'touch' });
  heads.keep();
  return {
    ensureWritable: async () => {
      if (options.isRequired) await state.requireWorking();
    },
    write: async (record: AuditRecord) => {
      const call = toNewCall(record, options.scrubber, options.keepsContent);
      if (options.isRequired) await calls.add(call).catch(throwRefusal);
      else if (calls.count() < MOST_WAITING) calls.add(call).catch(() => {});
    },
    close: async () => {
      pruning.stop();
      await calls.onIdle();
      await writer.close();
      heads.close();
    },
  };
}

async function openWriter(options: AuditLogOptions): Promise<AuditWriter> {
  const { store, env, signingKey, waitMs = BUSY_MS, replica } = options;
  if (store.type === 'postgres') {
    // Nothing of it is loaded for other stores.
    const { readAddress } = await import('../../store/postgres/connection/address.ts');
    const { openSharedWriter } = await import('./shared/writer.ts');
    return await openSharedWriter(readAddress(store.urlEnv, env), { signingKey, ...replica });
  }
  const file = fileOf(store);
  return await openAuditWriter(file, keysFor(file, signingKey), waitMs);
}

function fileOf(store: Exclude<StateStoreConfig, { type: 'postgres' }>): string {
  switch (store.type) {
    case 'memory':
      return memoryFile;
    case 'sqlite':
      return join(dirname(store.file), auditFile);
    case 'refused':
      throw unusableStoreError(store.reason);
  }
}

function keysFor(file: string, given: string | undefined): AuditKeys {
  if (file === memoryFile) return makeKeys(given);
  try {
    return loadKeys(dirname(file), given);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

interface State {
  work(work: AuditWork): Promise<AuditDone>;
  /** Rejects with RefusedCall after work that failed, unless work does not fail any more. */
  requireWorking(): Promise<void>;
  onHead(take: (head: AuditDone['head']) => void): void;
}

/** Knows whether the last work succeeded. */
function trackState(writer: AuditWriter, { warn }: AuditLogOptions): State {
  let isBroken = false;
  let warnedAt = 0;
  let probing: Promise<unknown> | undefined;
  let takeHead: (head: AuditDone['head']) => void = () => {};
  const work = async (request: AuditWork): Promise<AuditDone> => {
    try {
      const done = await writer.work(request);
      isBroken = false;
      takeHead(done.head);
      return done;
    } catch (error) {
      if (!isBroken || performance.now() - warnedAt > WARN_EVERY_MS) {
        warnedAt = performance.now();
        warn(toRuntimeError(error));
      }
      isBroken = true;
      throw error;
    }
  };
  const probe = async () => {
    try {
      await work({ what: 'touch' });
    } finally {
      probing = undefined;
    }
  };
  return {
    work,
    requireWorking: async () => {
      if (!isBroken) return;
      probing ??= probe();
      await probing.catch(throwRefusal);
    },
    onHead: (take) => {
      takeHead = take;
    },
  };
}

function throwRefusal(cause: unknown): never {
  throw new RefusedCall(
    {
      status: 503,
      code: 'audit_failed',
      message: 'the call cannot be recorded, so it is refused',
      isRetryable: false,
    },
    cause,
  );
}

/** Removes what is too old, now and every ten minutes, a little at a time. */
function startPruning(state: State, keepMs: number | undefined): { readonly stop: () => void } {
  let isStopped = false;
  const prune = async () => {
    for (let isPartial = true; isPartial && !isStopped && keepMs !== undefined; ) {
      ({ isPartial } = await state.work({ what: 'prune', before: Date.now() - keepMs }));
    }
  };
  // What went wrong was told already.
  const start = () => void prune().catch(() => {});
  if (keepMs === undefined) return { stop: () => {} };
  const timer = setInterval(start, PRUNE_EVERY_MS);
  timer.unref();
  start();
  return {
    stop: () => {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

/** How often the same trouble is told at most. */
const WARN_EVERY_MS = 60_000;
const PRUNE_EVERY_MS = 600_000;
const BUSY_MS = 3000;
/** Rows in one transaction. */
const MOST_TOGETHER = 500;
/** Rows that wait where nobody waits for them; what comes beyond is not kept. */
const MOST_WAITING = 10_000;
