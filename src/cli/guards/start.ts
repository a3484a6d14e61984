import { requirePlatform } from '../../base/platform.ts';
import type { GuardName } from '../../builtins/guards/guards.ts';

/** Runs a guard in this process. */
export async function startGuard(host: NodeJS.Process, name: GuardName): Promise<void> {
  try {
    requirePlatform();
  } catch (error) {
    host.stderr.write(`${name}: ${error instanceof Error ? error.message : error}\n`);
    host.exit(2);
  }
  // Everything else is loaded behind the check: an older Node could not even read it.
  const { begin } = await import('./begin.ts');
  await begin(host, name);
}
