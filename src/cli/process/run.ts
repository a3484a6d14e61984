import { userInfo } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { main } from '../program.ts';
import { exitOnCrash } from './crash.ts';
import { openSignals } from './interrupt.ts';

/** Runs the command line with the arguments, streams, signals and environment of this process, and sets its exit code. */
export async function runProcess(): Promise<void> {
  const { signal, onHangup, stopWithin } = openSignals();
  const crash = {
    isVerdict: false,
    canPrintDocument: () => process.argv.includes('--json') && !hasWritten(),
    isInterrupted: () => signal.aborted,
  };
  exitOnCrash(crash);
  process.exitCode = await main({
    // Absolute: Node makes them so.
    program: process.argv.slice(0, 2),
    argv: process.argv.slice(2),
    // Node opens a stream when it is first asked for, and not every command reads.
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

/** Whether anything was written to stdout; true also where that cannot be known, as of a file. */
function hasWritten(): boolean {
  const stdout: { readonly bytesWritten?: number } = process.stdout;
  return stdout.bytesWritten !== 0;
}

/**
 * Keeps the heap near what is in use. V8 lets the part for new objects grow to 128 MB for as long as work goes on, and
 * garbage gather to several times what lives, so that the memory of a run would depend on how long it lasts.
 */
function limitHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
}

/** The account name, recorded as the person who decides; the user id, or `unknown`, where there is none. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id without an account.
    return String(process.getuid?.() ?? 'unknown');
  }
}
