import { dirname, join, resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import type { StateStoreConfig } from '../../config/config.ts';
import { environmentOf } from '../../config/environment/host.ts';
import { requireConfig } from '../../config/load.ts';
import type { HostEnv } from '../../process/env.ts';
import { type CopiedPart, resultTables, stateTables } from '../../store/copy/copied-table.ts';
import type { CopySource, CopyTarget } from '../../store/copy/copy-end.ts';
import { copyPart, type TableCopy } from '../../store/copy/copy-part.ts';
import { unusableStoreError } from '../../store/store-rules.ts';

export interface CopyStoreOptions {
  /** The RuntimeConfig file of the store that is copied. */
  readonly file: string;
  /** Files that are laid over it. */
  readonly overlays?: readonly string[];
  readonly to: CopyAddress;
  readonly env: HostEnv;
  readonly onProgress: (rows: number, of: number) => void;
  readonly signal: AbortSignal;
}

/** A file, or the address of a Postgres database; `name` is the flag or the variable that has it. */
export interface CopyAddress {
  readonly name: string;
  readonly text: string;
}

export interface CopiedStore {
  readonly from: string;
  readonly to: string;
  readonly tables: readonly TableCopy[];
  /** All of it was there already, by an earlier copy. */
  readonly wasThere: boolean;
  /** What of a store stays where it is, for people. */
  readonly notCopied: readonly string[];
}

/**
 * Copies the state store of a RuntimeConfig file with the results of its suites: to a file, or to a Postgres database, either of
 * which has to be empty or to have the very same rows. Results come first, each of the two in one transaction: a copy that is cut
 * off is made again by the same command. Throws CONFIG_INVALID, FILE_UNREADABLE, STORE_FAILED, RUN_BUSY while runs are being
 * executed, USAGE for stores between which nothing is copied, ABORTED.
 */
export async function copyStore(options: CopyStoreOptions): Promise<CopiedStore> {
  const { file, to } = options;
  const config = requireConfig(resolve(file), options.env['PATH'] ?? '', {
    env: options.env,
    overlays: options.overlays ?? [],
  });
  const { stateStore } = config;
  const env = environmentOf(config, options.env);
  const isToPostgres = isPostgresAddress(to.text);
  requireCopyable(stateStore, isToPostgres);
  const state = await openSource(stateStore, stateTables, env);
  if (state === undefined) throw missingStoreError(file);
  const opened: (CopySource | undefined)[] = [state];
  try {
    const results = await openSource(stateStore, resultTables, env);
    opened.push(results);
    requireIdle(state, results, isToPostgres);
    const copies = [];
    for (const [part, source] of [[resultTables, results] as const, [stateTables, state] as const])
      if (source !== undefined) copies.push(await copyTo({ ...options, part, source }));
    return {
      ...{ from: state.location, to: copies.at(-1)?.location ?? '', notCopied },
      tables: copies.flatMap(({ tables }) => tables),
      wasThere: copies.every(({ outcome }) => outcome === 'kept'),
    };
  } finally {
    for (const source of opened) await source?.close();
  }
}

const notCopied = [
  'keys, use and audit of a gateway, and what it keeps of calls that wait',
  'which build a run belongs to, and who works on it',
];

/** Whether it is an address, rather than a path. */
export function isPostgresAddress(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

function requireCopyable(store: StateStoreConfig, isToPostgres: boolean): void {
  if (store.type === 'refused') throw unusableStoreError(store.reason);
  if (store.type === 'memory') throw new RuntimeError('USAGE', 'a store in memory ends with its process');
  if (store.type === 'postgres' && isToPostgres) {
    throw new RuntimeError('USAGE', 'both stores are in Postgres', {
      hint: 'Use pg_dump --schema=signalbox and pg_restore, which know Postgres better.',
    });
  }
}

function missingStoreError(file: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `the state store of ${file} is not there: nothing was kept yet`, {
    hint: 'Check spec.state_store, and --config.',
  });
}

function requireIdle(state: CopySource, results: CopySource | undefined, isToPostgres: boolean): void {
  const held = new Set([...state.held, ...(results?.held ?? [])]);
  if (held.size > 0) {
    const [first = ''] = held;
    const others = held.size === 1 ? 'is' : `and ${held.size - 1} more are`;
    throw new RuntimeError(
      'RUN_BUSY',
      `run ${first} ${others} being executed, and would go on at both places`,
      {
        hint: 'End whatever executes runs or suites on this store, and copy it then.',
      },
    );
  }
  if (state.queued > 0 && !isToPostgres) {
    throw new RuntimeError('RUN_BUSY', `${state.queued} runs wait for workers, which a file does not have`, {
      hint: 'Let workers end them, or cancel them with `signalbox runs cancel`.',
    });
  }
}

async function openSource(
  store: StateStoreConfig,
  part: CopiedPart,
  env: HostEnv,
): Promise<CopySource | undefined> {
  if (store.type === 'postgres') {
    const { readAddress } = await import('../../store/postgres/connection/address.ts');
    const { openPostgresSource } = await import('../../store/copy/postgres-end.ts');
    return await openPostgresSource(readAddress(store.urlEnv, env));
  }
  if (store.type !== 'sqlite') return undefined;
  const { openSqliteSource } = await import('../../store/copy/sqlite-end.ts');
  return await openSqliteSource(fileOf(store.file, part), part);
}

/** Results are in a file beside that of the state. */
function fileOf(file: string, { name }: CopiedPart): string {
  return name === 'state' ? file : join(dirname(file), 'evals.db');
}

interface CopyOne extends CopyStoreOptions {
  readonly part: CopiedPart;
  readonly source: CopySource;
}

async function copyTo({ to, part, source, onProgress, signal }: CopyOne) {
  const target = await openTarget(to, part);
  try {
    return { ...(await copyPart({ part, source, target, onProgress, signal })), location: target.location };
  } finally {
    await target.close();
  }
}

async function openTarget({ name, text }: CopyAddress, part: CopiedPart): Promise<CopyTarget> {
  if (!isPostgresAddress(text)) {
    const { openSqliteTarget } = await import('../../store/copy/sqlite-end.ts');
    return await openSqliteTarget(fileOf(resolve(text), part), part);
  }
  const { readAddress } = await import('../../store/postgres/connection/address.ts');
  const { openPostgresTarget } = await import('../../store/copy/postgres-end.ts');
  return await openPostgresTarget(readAddress(name, { [name]: text }), part);
}
