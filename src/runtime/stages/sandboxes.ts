import type { HostEnv } from '../../binding/env.ts';
import { stateFolderOf } from '../../config/build/state-store.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { summarize } from '../../config/load.ts';
import { RuntimeError } from '../../errors.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';
import type { Launcher } from '../../transport/launch/launch.ts';
import { findMissingBackends } from '../../transport/sandbox/backends.ts';

/**
 * Sees to it that every sandbox which an entry names can be had, and that there is a state folder to be hidden before the first
 * process could look for it. Throws CONFIG_INVALID with `details.problems`.
 */
export async function requireSandboxes(
  config: RuntimeConfig,
  host: HostEnv,
  launch: Launcher,
): Promise<void> {
  const problems = await findMissingBackends(config, host, launch);
  if (problems.length > 0)
    throw new RuntimeError('CONFIG_INVALID', summarize(config.file, problems), { details: { problems } });
  const folder = stateFolderOf(config.stateStore);
  if (folder === undefined) return;
  try {
    makeFolder(folder);
  } catch {
    // Whoever needs the store is told.
  }
}
