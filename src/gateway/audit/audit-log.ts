import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { replaceAtomically, writeDurably } from '../../base/files/new-file.ts';
import type { StateStoreConfig } from '../../config/config.ts';
import type { Scrubber } from '../../contract/scrub.ts';
import type { HostEnv } from '../../process/env.ts';
import { memoryFile } from '../../store/sqlite/connection.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';
import { toStoreError } from '../../store/sqlite/store-error.ts';
import { unusableStoreError } from '../../store/store-rules.ts';
import type { AuditLog, AuditRecord } from '../ports.ts';
import { RefusedCall, refusal } from '../wire/refusal.ts';
import type { AuditDone, AuditWork } from './chain-writer.ts';
import { type AuditKeys, formatHead, type Head, loadKeys, makeKeys, readHead } from './keys.ts';
import { type NewCall, toNewCall } from './row.ts';
import type { SharedWriterOptions } from './shared/writer.ts';
import { type AuditWriter, openAuditWriter } from './writer.ts';

export interface AuditLogOptions {
  /**
   * The state store. The audit uses the same PostgreSQL database, `audit.db` in the SQLite store's folder, or memory.
   */
  readonly store: StateStoreConfig;
  readonly env: HostEnv;
  /** Whether calls are refused while rows cannot be written. Otherwise failures only cause warnings. */
  readonly isRequired: boolean;
  readonly keepsContent: boolean;
  /** Rows older than this many milliseconds are removed; undefined keeps all rows. */
  readonly keepMs: number | undefined;
  readonly head: HeadOptions | undefined;
  /** A private Ed25519 key in PEM that replaces the generated key. */
  readonly signingKey: string | undefined;
  readonly scrubber: Scrubber;
  /** How long to wait for locks of other processes, in milliseconds. Default: 3000. */
  readonly waitMs?: number;
  readonly replica?: Omit<SharedWriterOptions, 'signingKey'>;
  readonly warn: (error: RuntimeError) => void;
}

export const auditFile = 'audit.db';

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
  /** Retries after a failure. Rejects with RefusedCall if the retry fails too. */
  requireWorking(): Promise<void>;
  onHead(take: (head: AuditDone['head']) => void): void;
}

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
  throw new RefusedCall(refusal(503, 'audit_failed', 'the call cannot be recorded, so it is refused'), cause);
}

function startPruning(state: State, keepMs: number | undefined): { readonly stop: () => void } {
  let isStopped = false;
  const prune = async () => {
    for (let isPartial = true; isPartial && !isStopped && keepMs !== undefined; ) {
      ({ isPartial } = await state.work({ what: 'prune', before: Date.now() - keepMs }));
    }
  };
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

const WARN_EVERY_MS = 60_000;
const PRUNE_EVERY_MS = 600_000;
const BUSY_MS = 3000;
const MOST_TOGETHER = 500;
/** The maximum number of rows queued when the audit is not required. Further rows are dropped. */
const MOST_WAITING = 10_000;

interface GroupCommit<Item> {
  add(item: Item): Promise<void>;
  count(): number;
  onIdle(): Promise<void>;
}

function createGroupCommit<Item>(
  commit: (items: readonly Item[]) => Promise<unknown>,
  most: number,
): GroupCommit<Item> {
  let waiting: Waiting<Item>[] = [];
  let underWay = 0;
  let running: Promise<void> | undefined;
  const run = async () => {
    while (waiting.length > 0) {
      const group = waiting.slice(0, most);
      waiting = waiting.slice(most);
      underWay = group.length;
      await settle(group, commit);
      underWay = 0;
    }
    running = undefined;
  };
  return {
    add: async (item) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.push({ item, resolve, reject });
      running ??= run();
      await promise;
    },
    count: () => waiting.length + underWay,
    onIdle: async () => await running,
  };
}

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

async function settle<Item>(
  group: readonly Waiting<Item>[],
  commit: (items: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  try {
    await commit(group.map(({ item }) => item));
    for (const { resolve } of group) resolve();
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}

interface HeadOptions {
  readonly file?: string | undefined;
  readonly print?: ((line: string) => void) | undefined;
  readonly everyMs: number;
}

interface HeadOutput {
  take(head: Head): void;
  /** Writes the head file but does not print, because stdout must first name the server's address. Never throws. */
  keep(): void;
  close(): void;
}

function createHeadOutput(options: HeadOptions | undefined, warn: (error: RuntimeError) => void): HeadOutput {
  let newest: Head | undefined;
  let written: number | undefined;
  const keep = () => {
    try {
      if (options?.file !== undefined && newest !== undefined) replaceHead(options.file, newest);
    } catch (error) {
      warn(toHeadError(error, options?.file));
    }
  };
  const write = () => {
    if (options === undefined || newest === undefined || newest.seq === written) return;
    written = newest.seq;
    keep();
    options.print?.(formatHead(newest));
  };
  const timer = options && setInterval(write, options.everyMs);
  timer?.unref();
  return {
    take: (head) => {
      newest = head;
    },
    keep,
    close: () => {
      clearInterval(timer);
      write();
    },
  };
}

/** Replaces the file atomically unless another server on the same chain has written a later head. */
function replaceHead(file: string, head: Head): void {
  const kept = readHead(readIfThere(file));
  if (kept !== undefined && kept.chain === head.chain && kept.seq >= head.seq) return;
  makeFolder(dirname(file));
  replaceAtomically(file, (draft) => writeDurably(draft, `${formatHead(head)}\n`, 0o644));
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function toHeadError(error: unknown, file: string | undefined): RuntimeError {
  const why = error instanceof Error ? error.message : String(error);
  return new RuntimeError(
    'STORE_FAILED',
    `the head of the audit cannot be written to ${file ?? 'stdout'}: ${why}`,
    {
      hint: 'Check that its folder is writable and its disk has room.',
      cause: error,
    },
  );
}
