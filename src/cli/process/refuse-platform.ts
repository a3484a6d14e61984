import { toFault } from '../../base/errors.ts';
import { requirePlatform } from '../../base/platform.ts';

/** On an unsupported platform prints the reason, sets exit code 2 and returns true. */
export function refusePlatform(): boolean {
  try {
    requirePlatform();
    return false;
  } catch (thrown) {
    const error = toFault(thrown);
    if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ error })}\n`);
    process.stderr.write(`error: [${error.code}] ${error.message}\nhint: ${error.hint}\n`);
    process.exitCode = 2;
    return true;
  }
}
