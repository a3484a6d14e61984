import { toFault } from '../../errors.ts';
import { requirePlatform } from '../../runtime/platform.ts';

/** Says on a platform that will not do which one would, and ends with 2; whether it is such a one. */
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
