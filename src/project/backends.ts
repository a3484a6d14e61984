import { hostEnv } from '../binding/env.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { openLauncher } from '../transport/launch/open.ts';
import { findMissingBackends } from '../transport/sandbox/backends.ts';
import type { Problem } from '../yaml/problem.ts';

/** An error for each sandbox that an entry names and this machine cannot make. */
export async function findBackendProblems(config: RuntimeConfig): Promise<Problem[]> {
  return await findMissingBackends(config, hostEnv(), await openLauncher('auto'));
}
