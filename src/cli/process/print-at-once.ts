import { fstatSync, readFileSync, writeSync } from 'node:fs';
import { versionOf } from '../version.ts';

/** Prints the version or the kept help. False where the program has to: on a terminal, or where stdout takes nothing. */
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
  // To load what knows terminals takes longer than all else here.
  return fstatSync(1).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(1);
}

/** Made by build/help.ts, beside the bundle alone. Throws where there is none. */
function keptHelp(): string {
  return readFileSync(new URL('./help.txt', import.meta.url), 'utf8');
}
