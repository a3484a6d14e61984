import { resolve } from 'node:path';
import type { RuntimeConfig } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { RuntimeError } from '../errors.ts';
import type { RunRecord } from '../store/store.ts';

/**
 * Several RuntimeConfigs may share one state store: a run goes on with the tools that it began with. Throws
 * USAGE when it belongs to another of them. A project that has been moved or copied keeps its runs.
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
    return ours.type === 'sqlite' && theirs?.type === 'sqlite' && theirs.file === ours.file;
  } catch {
    // There is no such file any more.
    return false;
  }
}
