import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hostEnv } from '../binding/env.ts';
import { loadConfig } from '../config/load.ts';
import type { Store } from '../store/store.ts';

/** A state store, one of the RuntimeConfigs that work with it, and what the store keeps for that one. */
export interface FoundState {
  /** The database file, absolute. */
  readonly store: string;
  /** The RuntimeConfig file, absolute: where it was when it worked, or beside the store if that was moved or copied. */
  readonly config: string;
  /** Whether that file is there and works with this store. */
  readonly isUsable: boolean;
  /** Of its runs and their pending calls. */
  readonly ids: readonly string[];
}

/**
 * What the state stores in and below `folder`, an absolute path, have kept; those that worked last come first
 * within one store. Throws STORE_FAILED when there are stores and none of them can be read.
 */
export async function findStates(folder: string): Promise<FoundState[]> {
  return await readAll(findFiles(folder, 'state.db'), readStates);
}

/** The same of the results of suites, which lie beside state stores. Throws STORE_FAILED likewise. */
export async function findResults(folder: string): Promise<FoundState[]> {
  return await readAll(findFiles(folder, 'evals.db'), readResults);
}

async function readAll(
  files: readonly string[],
  read: (file: string) => Promise<FoundState[]>,
): Promise<FoundState[]> {
  const settled = await Promise.allSettled(files.map(read));
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed !== undefined && settled.every(({ status }) => status === 'rejected')) throw failed.reason;
  return settled.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}

/** How far down stores are looked for, and in how many folders: a home folder has no end. */
const DEEPEST = 5;
const MOST = 5_000;

function findFiles(folder: string, name: string): string[] {
  const found: string[] = [];
  let level = [folder];
  let visited = 0;
  for (let depth = 0; depth <= DEEPEST && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const place of level) {
      visited += 1;
      if (visited > MOST) return found;
      const store = join(place, '.signalbox', name);
      if (existsSync(store)) found.push(store);
      next.push(...foldersIn(place));
    }
    level = next;
  }
  return found;
}

/** Links are not followed, so there are no circles. */
function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
      .map(({ name }) => join(folder, name))
      .toSorted();
  } catch {
    // What may not be read is nobody's workplace.
    return [];
  }
}

async function readStates(file: string): Promise<FoundState[]> {
  const { openSqliteStore } = await import('../store/sqlite.ts');
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
  for (const { id, runId } of await store.listPendings({}, Date.now())) {
    ids.get(configOf.get(runId) ?? '')?.push(id);
  }
  return [...ids].map(([recorded, known]) => {
    const beside = join(dirname(dirname(store.place)), basename(recorded));
    const config = [recorded, beside].find((each) => worksWith(each, store.place));
    return { store: store.place, config: config ?? recorded, isUsable: config !== undefined, ids: known };
  });
}

async function readResults(file: string): Promise<FoundState[]> {
  const { openSqliteResults } = await import('../store/sqlite-results.ts');
  const results = await openSqliteResults(file);
  try {
    const state = join(dirname(file), 'state.db');
    const configs = configsIn(dirname(dirname(file)));
    const config = configs.find((each) => worksWith(each, state));
    const ids = results.listRuns().map(({ id }) => id);
    return [{ store: file, config: config ?? configs[0], isUsable: config !== undefined, ids }];
  } finally {
    results.close();
  }
}

/** The RuntimeConfigs of a folder, whether or not the usual one is there: a suite's run does not say which it had. */
function configsIn(folder: string): readonly [string, ...string[]] {
  const others = readdirSync(folder)
    .filter((name) => /(?<!\.(suite|pipeline))\.ya?ml$/.test(name) && name !== USUAL)
    .map((name) => join(folder, name))
    .filter((file) => loadConfig(file, '').config !== undefined)
    .toSorted();
  return [join(folder, USUAL), ...others];
}

const USUAL = 'runtime.yaml';

function worksWith(config: string, store: string): boolean {
  if (!existsSync(config)) return false;
  const { stateStore } = loadConfig(config, hostEnv()['PATH'] ?? '').config ?? {};
  // What is wrong with a config is told by whoever opens it.
  return stateStore === undefined || (stateStore.type === 'sqlite' && stateStore.file === store);
}
