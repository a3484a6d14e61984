import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { hostEnv } from '../../process/env.ts';
import type { Store } from '../../store/store.ts';

export interface FoundState {
  readonly store: string;
  /** The RuntimeConfig file, absolute: as recorded, or beside the store if that was moved or copied. */
  readonly config: string;
  readonly isUsable: boolean;
  readonly ids: readonly string[];
}

/**
 * Finds state stores in and below `folder`, an absolute path. In each store, the configs that ran last come first.
 * Skips unreadable stores. Throws STORE_FAILED if there are stores and none is readable.
 */
export async function findStates(folder: string): Promise<FoundState[]> {
  return await readAll(findFiles(folder, 'state.db'), readStates);
}

/** Throws as `findStates`. */
export async function findResults(folder: string): Promise<FoundState[]> {
  return await readAll(findFiles(folder, 'evals.db'), readResults);
}

async function readAll(
  files: readonly string[],
  read: (file: string) => Promise<FoundState[]>,
): Promise<FoundState[]> {
  const results = await Promise.allSettled(files.map(read));
  const failed = results.find((each) => each.status === 'rejected');
  if (failed !== undefined && results.every(({ status }) => status === 'rejected')) throw failed.reason;
  return results.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}

const MAX_DEPTH = 5;
const MAX_FOLDERS = 5_000;

function findFiles(folder: string, name: string): string[] {
  const found: string[] = [];
  let level = [folder];
  let visited = 0;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const current of level) {
      visited += 1;
      if (visited > MAX_FOLDERS) return found;
      const store = join(current, '.signalbox', name);
      if (existsSync(store)) found.push(store);
      next.push(...foldersIn(current));
    }
    level = next;
  }
  return found;
}

/** Does not follow links, so there are no cycles. */
function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
      .map(({ name }) => join(folder, name))
      .toSorted();
  } catch {
    return [];
  }
}

async function readStates(file: string): Promise<FoundState[]> {
  const { openSqliteStore } = await import('../../store/sqlite-store.ts');
  const store = await openSqliteStore(file);
  try {
    return await statesOf(store);
  } finally {
    await store.close();
  }
}

async function statesOf(store: Store): Promise<FoundState[]> {
  const ids = new Map<string, string[]>();
  const configOf = new Map<string, string>();
  for (const { id, config } of await store.listRuns()) {
    configOf.set(id, config);
    const known = ids.get(config);
    if (known === undefined) ids.set(config, [id]);
    else known.push(id);
  }
  for (let after: number | undefined, isLast = false; !isLast; ) {
    const page = await store.pagePendings({ after, limit: PAGE_SIZE }, Date.now());
    for (const { record } of page) ids.get(configOf.get(record.runId) ?? '')?.push(record.id);
    after = page.at(-1)?.place;
    isLast = page.length < PAGE_SIZE;
  }
  return [...ids].map(([recorded, known]) => {
    const besideStore = join(dirname(dirname(store.location)), basename(recorded));
    const config = [recorded, besideStore].find((each) => worksWith(each, store.location));
    return {
      store: store.location,
      config: config ?? recorded.replaceAll('\n', ' with '),
      isUsable: config !== undefined,
      ids: known,
    };
  });
}

/** Calls may be long, and many. */
const PAGE_SIZE = 500;

async function readResults(file: string): Promise<FoundState[]> {
  const { openSqliteResults } = await import('../../store/sqlite-result-store.ts');
  const results = await openSqliteResults(file);
  try {
    const state = join(dirname(file), 'state.db');
    const configs = configsIn(dirname(dirname(file)));
    const config = configs.find((each) => worksWith(each, state));
    const ids = (await results.listRuns()).map(({ id }) => id);
    return [{ store: file, config: config ?? configs[0], isUsable: config !== undefined, ids }];
  } finally {
    await results.close();
  }
}

/**
 * Suite runs do not record their config, so all configs of the folder are candidates. `runtime.yaml` comes first, even
 * if missing.
 */
function configsIn(folder: string): readonly [string, ...string[]] {
  const others = readdirSync(folder)
    .filter((name) => /(?<!\.(suite|pipeline))\.ya?ml$/.test(name) && name !== DEFAULT_CONFIG)
    .map((name) => join(folder, name))
    .filter((file) => loadConfig(file, '', { env: hostEnv() }).config !== undefined)
    .toSorted();
  return [join(folder, DEFAULT_CONFIG), ...others];
}

const DEFAULT_CONFIG = 'runtime.yaml';

function worksWith(config: string, store: string): boolean {
  if (!existsSync(config)) return false;
  const { stateStore } = loadConfig(config, hostEnv()['PATH'] ?? '', { env: hostEnv() }).config ?? {};
  // An invalid config counts as usable; opening it reports its problems.
  return stateStore === undefined || (stateStore.type === 'sqlite' && stateStore.file === store);
}
