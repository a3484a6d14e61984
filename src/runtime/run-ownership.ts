import { resolve } from 'node:path';
import type { RuntimeConfig } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { RuntimeError } from '../errors.ts';
import type { RunRecord } from '../store/store.ts';

/**
 * Throws USAGE when the run belongs to another RuntimeConfig that shares the state store: a run continues
 * with the tools that it began with. Runs of a project that was moved or copied belong to its config.
 */
export function requireOwnRun({ id, config: theirs }: RunRecord, config: RuntimeConfig): void {
  if (theirs === resolve(config.file) || !sharesStore(theirs, config)) return;
  throw new RuntimeError('USAGE', `run ${id} was begun with ${theirs}, not with ${config.file}`, {
    hint: `Add --config ${theirs}.`,
  });
}

function sharesStore(file: string, { stateStore: ours }: RuntimeConfig): boolean {
  try {
    const theirs = loadConfig(file, '').config?.stateStore;
    if (ours.type === 'postgres') return theirs?.type === 'postgres' && theirs.urlEnv === ours.urlEnv;
    return ours.type === 'sqlite' && theirs?.type === 'sqlite' && theirs.file === ours.file;
  } catch {
    // There is no such file any more.
    return false;
  }
}
