import { userInfo } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { main } from '../program.ts';
import { exitOnCrash } from './crash.ts';
import { openSignals } from './interrupt.ts';

export async function runProcess(): Promise<void> {
  const { signal, onHangup, stopWithin } = openSignals();
  const crash = {
    isVerdict: false,
    canPrintDocument: () => process.argv.includes('--json') && !hasWritten(),
    isInterrupted: () => signal.aborted,
  };
  exitOnCrash(crash);
  process.exitCode = await main({
    program: process.argv.slice(0, 2),
    argv: process.argv.slice(2),
    // Node opens stdin on first access, and not every command reads it.
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    env: process.env,
    cwd: process.cwd(),
    signal,
    onHangup,
    stopWithin,
    onVerdictCommand: () => {
      crash.isVerdict = true;
    },
    interrupt: () => process.kill(process.pid, 'SIGINT'),
    userName,
    limitHeapGrowth,
  });
}

function hasWritten(): boolean {
  const stdout: { readonly bytesWritten?: number } = process.stdout;
  return stdout.bytesWritten !== 0;
}

/**
 * Keeps the heap near its live size. V8 lets the young generation grow to 128 MB during work, and garbage to several
 * times the live data. Memory would then depend on the duration of a run.
 */
function limitHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
}

/** Returns the account name, which identifies the person who decides; else the user id or `unknown`. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user id may have no account.
    return String(process.getuid?.() ?? 'unknown');
  }
}
