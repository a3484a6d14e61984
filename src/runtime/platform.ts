import { RuntimeError } from '../errors.ts';

/**
 * Throws PLATFORM_UNSUPPORTED where Signalbox would fail later and in stranger words: on an older Node, which `imports`
 * nothing that it lacks before it comes here, and on Bun, whose child processes are never heard.
 */
export function requirePlatform(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): void {
  const { bun, node = '' } = versions;
  if (bun !== undefined) {
    throw new RuntimeError('PLATFORM_UNSUPPORTED', `Signalbox does not run on Bun (this is Bun ${bun})`);
  }
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const isOld = major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1]);
  if (!isOld) return;
  const least = LEAST.join('.');
  throw new RuntimeError(
    'PLATFORM_UNSUPPORTED',
    `Signalbox needs Node.js ${least} or newer, and this is ${node} (${process.execPath})`,
  );
}

/** The same as `engines` of package.json. */
const LEAST = [22, 18] as const;
