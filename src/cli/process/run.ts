import { utimesSync } from 'node:fs';
import { userInfo } from 'node:os';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { socketPlace } from '../../base/files/socket-place.ts';
import { main } from '../program.ts';
import type { Asked } from './ask-resident.ts';
import { exitOnCrash } from './crash.ts';
import { openSignals } from './interrupt.ts';

export async function runProcess({
  argv = process.argv.slice(2),
  input,
  releaseSignals,
  starts,
}: Partial<Asked> = {}): Promise<void> {
  const { signal, onHangup, stopWithin } = openSignals();
  const interruptedBy = releaseSignals?.();
  const interrupt = () => interruptedBy !== undefined && process.emit(interruptedBy, interruptedBy);
  if (input === undefined) interrupt();
  const crash = {
    isVerdict: false,
    canPrintDocument: () => process.argv.includes('--json') && !hasWritten(),
    isInterrupted: () => signal.aborted,
  };
  exitOnCrash(crash);
  process.exitCode = await main({
    program: process.argv.slice(0, 2),
    argv,
    // Node opens stdin on first access, and not every command reads it.
    get stdin() {
      // An event that has been read is denied in its own form.
      return input === undefined ? process.stdin : Readable.from([input]).once('close', interrupt);
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
  if (starts !== undefined && !signal.aborted) await startResident(starts);
}

/** Events that come meanwhile see by the time of the file that a resident is about to start. */
async function startResident(files: readonly string[]): Promise<void> {
  try {
    const now = new Date();
    utimesSync(socketPlace(files, process.env).wanted, now, now);
    const { loadOpener } = await import('../../runtime/runtime.ts');
    const { startDetached } = await loadOpener();
    const { residentWords } = await import('./ask-resident.ts');
    startDetached([...process.argv.slice(0, 2), ...residentWords(files)], process.env);
  } catch {
    // The event has its answer, and the next one tries again.
  }
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
