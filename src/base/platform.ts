import { RuntimeError } from './errors.ts';

/**
 * Throws PLATFORM_UNSUPPORTED on an older Node and on Bun, where child processes do not work. Must run before any
 * import that an older Node lacks.
 */
export function requirePlatform(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): void {
  const { bun, node = '' } = versions;
  if (bun !== undefined) {
    throw new RuntimeError('PLATFORM_UNSUPPORTED', `Signalbox does not run on Bun (this is Bun ${bun})`);
  }
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const isOld = major < MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor < MIN_NODE_VERSION[1]);
  if (!isOld) return;
  const least = MIN_NODE_VERSION.join('.');
  throw new RuntimeError(
    'PLATFORM_UNSUPPORTED',
    `Signalbox needs Node.js ${least} or newer, but this is ${node} (${process.execPath})`,
  );
}

/** Must equal `engines` in package.json. */
const MIN_NODE_VERSION = [22, 18] as const;
