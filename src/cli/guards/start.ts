import { requirePlatform } from '../../base/platform.ts';
import type { GuardName } from '../../builtins/guards/guards.ts';

export async function startGuard(host: NodeJS.Process, name: GuardName): Promise<void> {
  try {
    requirePlatform();
  } catch (error) {
    host.stderr.write(`${name}: ${error instanceof Error ? error.message : error}\n`);
    host.exit(2);
  }
  // Imports everything else after the check, because an older Node could not parse it.
  const { begin } = await import('./begin.ts');
  await begin(host, name);
}
