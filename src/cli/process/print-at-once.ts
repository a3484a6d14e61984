import { fstatSync, readFileSync, writeSync } from 'node:fs';
import { versionOf } from '../../base/version.ts';

/**
 * Prints the version or the stored help. Returns false if the program must do it: on a terminal, or if stdout is not
 * writable.
 */
export function printAtOnce(argv: readonly string[]): boolean {
  const [asked, ...more] = argv;
  if (more.length > 0) return false;
  try {
    if (asked === '--version' || asked === '-V') writeSync(1, `${versionOf()}\n`);
    else if ((asked === '--help' || asked === '-h') && !isTerminal()) writeSync(1, keptHelp());
    else return false;
    return true;
  } catch {
    return false;
  }
}

function isTerminal(): boolean {
  // Importing `node:tty` would take longer than everything else here.
  return fstatSync(1).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(1);
}

/** Throws if build/help.ts has not made the file, which exists only beside the bundle. */
function keptHelp(): string {
  return readFileSync(new URL('./help.txt', import.meta.url), 'utf8');
}
