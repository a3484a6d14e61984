import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { LaunchedProcess } from './launch.ts';
import { errorName, type Libc, loadLibc, O_CLOEXEC } from './libc.ts';

/** The standard streams of a process that another process starts for us. */
export interface HandedPipes {
  /** Its stdin, stdout and stderr, for whoever starts it to open by /proc/PID/fd. */
  readonly childEnds: readonly [number, number, number];
  /** How /proc shows its stdout. */
  readonly stdoutName: string;
  /** Closes our copies of its ends: without them its stdout and stderr end with it. */
  closeChildEnds(): void;
  /** Our ends as streams, once; the input is written already, as far as it fits. */
  open(): Pick<LaunchedProcess, 'stdin' | 'stdout' | 'stderr'>;
  /** Closes our ends, where they are not to be opened. */
  discard(): void;
}

/** Makes pipes that another process can hand to its child; undefined without glibc and koffi. */
export function pipeMaker(): ((input: Uint8Array) => HandedPipes) | undefined {
  libc ??= process.platform === 'linux' ? loadLibc() : undefined;
  const found = libc;
  return found && ((input) => makePipes(found, input));
}

let libc: Libc | undefined;

function makePipes(found: Libc, input: Uint8Array): HandedPipes {
  const opened: number[] = [];
  const close = (fds: readonly number[]) => {
    for (const fd of fds) found.close(fd);
  };
  const pipe = () => {
    const ends: number[] = [-1, -1];
    if (found.pipe2(ends, O_CLOEXEC) !== 0) {
      const reason = errorName(found.errno());
      close(opened);
      throw new Error(`no pipe could be made (${reason})`);
    }
    opened.push(...ends);
    const [read = -1, write = -1] = ends;
    return { read, write };
  };
  const [stdin, stdout, stderr] = [pipe(), pipe(), pipe()];
  const fits = input.length <= PIPE_BYTES;
  // The reading end is open here as well, so this cannot fail.
  if (fits) writeSync(stdin.write, input);
  if (fits) found.close(stdin.write);
  return {
    childEnds: [stdin.read, stdout.write, stderr.write],
    stdoutName: `pipe:[${fstatSync(stdout.write).ino}]`,
    closeChildEnds: () => close([stdin.read, stdout.write, stderr.write]),
    open: () => ({
      stdin: fits ? null : writeRest(stdin.write, input),
      stdout: new Socket({ fd: stdout.read, readable: true, writable: false }),
      stderr: new Socket({ fd: stderr.read, readable: true, writable: false }),
    }),
    discard: () => close([...(fits ? [] : [stdin.write]), stdout.read, stderr.read]),
  };
}

/** A pipe holds at least one page, so this much never blocks. */
const PIPE_BYTES = 4096;

function writeRest(fd: number, input: Uint8Array): Socket {
  const stream = new Socket({ fd, readable: false, writable: true });
  // A child that does not read is no fault of the call.
  stream.on('error', () => {});
  stream.end(input);
  return stream;
}
