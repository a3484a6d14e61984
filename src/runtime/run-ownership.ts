import { resolve } from 'node:path';
import { RuntimeError } from '../base/errors.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { filesOf, identityOf } from '../config/overlay/identity.ts';
import { buildTextOf } from '../pipelines/run/new-run.ts';
import { hostEnv } from '../process/env.ts';
import type { RunRecord } from '../store/store.ts';
import type { BuildOf } from './worker/build.ts';

/**
 * Throws USAGE when the run belongs to another RuntimeConfig that shares the state store: a run continues
 * with the tools that it began with. Runs of a project that was moved or copied belong to its config.
 */
export function requireOwnRun(run: RunRecord, config: RuntimeConfig, buildOf: BuildOf): void {
  const { id, config: theirs, build } = run;
  // On another machine the same files may be elsewhere.
  if (build !== undefined && build === buildOf(buildTextOf(run))) return;
  if (theirs === identityOf(config)) return;
  const { file, overlays } = filesOf(theirs);
  // What a run began with may ask for approvals that the same file asks for no more without, or with, another overlay.
  const isMoved = overlays.length === (config.overlays?.length ?? 0) && file !== resolve(config.file);
  if (isMoved && !sharesStore(theirs, config)) return;
  const files = [file, ...overlays];
  throw new RuntimeError(
    'USAGE',
    `run ${id} was begun with ${files.join(' and ')}, not with ${namesOf(config)}`,
    {
      hint: `Add ${files.map((each) => `--config ${each}`).join(' ')}.`,
    },
  );
}

function namesOf({ file, overlays = [] }: RuntimeConfig): string {
  return [file, ...overlays].join(' and ');
}

function sharesStore(identity: string, { stateStore: ours }: RuntimeConfig): boolean {
  try {
    const { file, overlays } = filesOf(identity);
    const theirs = loadConfig(file, '', { env: hostEnv(), overlays }).config?.stateStore;
    if (ours.type === 'postgres') return theirs?.type === 'postgres' && theirs.urlEnv === ours.urlEnv;
    return ours.type === 'sqlite' && theirs?.type === 'sqlite' && theirs.file === ours.file;
  } catch {
    // There is no such file any more.
    return false;
  }
}
