import { dirname, join, resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import type { StateStoreConfig } from '../../config/config.ts';
import { requireConfig } from '../../config/load.ts';
import type { HostEnv } from '../../process/env.ts';
import { type CopySource, copiedResults, copiedState } from '../../store/copy/copied-table.ts';
import { copyPart, type TableCopy } from '../../store/copy/copy-part.ts';
import { unusableStoreError } from '../../store/store-rules.ts';

export interface CopyStoreOptions {
  readonly file: string;
  readonly overlays?: readonly string[];
  readonly to: CopyAddress;
  readonly env: HostEnv;
  readonly onProgress: (rows: number, of: number) => void;
  readonly signal: AbortSignal;
}

export interface CopyAddress {
  readonly name: string;
  readonly text: string;
}

export interface CopiedStore {
  readonly from: string;
  readonly to: string;
  readonly tables: readonly TableCopy[];
  readonly wasThere: boolean;
  readonly notCopied: readonly string[];
}

/**
 * Copies the SQLite store of a RuntimeConfig file and its suite results to a Postgres database. The database must be
 * empty or have the same rows. Results come first; each part is one transaction, so an interrupted copy can be
 * repeated. Throws CONFIG_INVALID, FILE_UNREADABLE, STORE_FAILED, RUN_BUSY while runs are active, USAGE for other
 * stores, ABORTED.
 */
export async function copyStore(options: CopyStoreOptions): Promise<CopiedStore> {
  const { file, to, signal, onProgress } = options;
  const config = requireConfig(resolve(file), options.env['PATH'] ?? '', {
    env: options.env,
    overlays: options.overlays ?? [],
  });
  const { stateStore } = config;
  const path = requireCopyable(stateStore, to.text);
  const [{ openSqliteSource }, { openPostgresTarget }, { readAddress }] = await Promise.all([
    import('../../store/copy/sqlite-end.ts'),
    import('../../store/copy/postgres-end.ts'),
    import('../../store/postgres/connection/address.ts'),
  ]);
  const state = await openSqliteSource(path, copiedState);
  if (state === undefined) {
    throw new RuntimeError(
      'STORE_FAILED',
      `the state store of ${file} does not exist: nothing is stored yet`,
      {
        hint: 'Check spec.state_store and --config.',
      },
    );
  }
  const opened: (CopySource | undefined)[] = [state];
  try {
    const results = await openSqliteSource(join(dirname(path), 'evals.db'), copiedResults);
    opened.push(results);
    requireIdle([...state.held, ...(results?.held ?? [])]);
    const address = readAddress(to.name, { [to.name]: to.text });
    const copies = [];
    for (const [part, source] of [[copiedResults, results] as const, [copiedState, state] as const]) {
      if (source === undefined) continue;
      const target = await openPostgresTarget(address, part);
      try {
        const copy = await copyPart({ part, source, target, onProgress, signal });
        copies.push({ ...copy, location: target.location });
      } finally {
        await target.close();
      }
    }
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
  'keys, usage and audit of a gateway, and its data of calls that wait',
  'which version of the files a run belongs to, and which worker has it',
];

function requireCopyable(store: StateStoreConfig, to: string): string {
  if (store.type === 'refused') throw unusableStoreError(store.reason);
  if (store.type === 'memory') throw new RuntimeError('USAGE', 'a store in memory ends with its process');
  if (store.type === 'postgres') {
    throw new RuntimeError('USAGE', 'a store in Postgres cannot be copied', {
      hint: 'For another database, use pg_dump --schema=signalbox and pg_restore; a new store in a file starts empty.',
    });
  }
  if (!/^postgres(ql)?:/i.test(to)) {
    throw new RuntimeError(
      'USAGE',
      'a store can be copied only to Postgres, and this is not the address of a database',
      {
        hint: `Give postgres://USER@HOST:5432/DATABASE. To copy to a file, stop everything that uses the store and run: sqlite3 ${store.file} ".backup 'FILE'".`,
      },
    );
  }
  return store.file;
}

function requireIdle(ids: readonly string[]): void {
  const held = new Set(ids);
  if (held.size === 0) return;
  const [first = ''] = held;
  const others = held.size === 1 ? 'is' : `and ${held.size - 1} more are`;
  throw new RuntimeError(
    'RUN_BUSY',
    `run ${first} ${others} in progress, and would continue in both places`,
    { hint: 'Stop everything that executes runs or suites on this store, then copy it.' },
  );
}
