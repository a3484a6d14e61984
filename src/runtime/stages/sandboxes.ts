import { RuntimeError } from '../../base/errors.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { summarize } from '../../config/load.ts';
import { stateFolderOf } from '../../config/store.ts';
import type { HostEnv } from '../../process/env.ts';
import type { Launcher } from '../../process/launch/launch.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';
import { findMissingBackends } from '../binding/sandbox-backends.ts';

/** Throws CONFIG_INVALID with `details.problems` for sandboxes that an entry names and this machine cannot make. */
export async function requireSandboxes(
  config: RuntimeConfig,
  host: HostEnv,
  launch: Launcher,
): Promise<void> {
  const problems = await findMissingBackends(config, host, launch);
  if (problems.length > 0)
    throw new RuntimeError('CONFIG_INVALID', summarize(config.file, problems), { details: { problems } });
}

/** Makes the state folder that sandboxes hide, before the first process could look for it. */
export function makeStateFolder({ stateStore }: RuntimeConfig): void {
  const folder = stateFolderOf(stateStore);
  if (folder === undefined) return;
  try {
    makeFolder(folder);
  } catch {
    // Whoever needs the store is told.
  }
}
