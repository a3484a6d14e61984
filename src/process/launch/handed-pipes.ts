import { fstatSync } from 'node:fs';
import type { LaunchedProcess } from './launch.ts';
import { closeAll, findNativeParts, openPipes, openStdin, writeInput } from './native.ts';
import { keepNodeAlive } from './system/stream-output.ts';

/** The standard streams of a process that another process starts for us. */
export interface HandedPipes {
  /** Its stdin, stdout and stderr, for whoever starts it to open by /proc/PID/fd. */
  readonly childEnds: readonly [number, number, number];
  /** How /proc shows its stdout. */
  readonly stdoutName: string;
  /** Closes our copies of its ends: without that its outputs do not end with it. */
  closeChildEnds(): void;
  /** Our ends, once the process is started; the input is written already, as far as it fits. To be called once. */
  open(): HandedStreams;
  /** Closes our ends, where no process was started. */
  discard(): void;
}

/** Our ends of the streams of a started process. */
interface HandedStreams extends Pick<LaunchedProcess, 'stdin' | 'stdout' | 'stderr' | 'keepAlive'> {
  /** The process has ended: what little it wrote is given to who listens. */
  settle(): void;
}

/** Makes pipes that another process can hand to its child; undefined without glibc and koffi. */
export function findPipeMaker(): ((input: Uint8Array) => HandedPipes) | undefined {
  const parts = findNativeParts();
  if (parts === undefined) return undefined;
  const { libc, reader } = parts;
  return (input) => {
    const [stdin, stdout, stderr] = openPipes(libc);
    // The reading end is open here as well, so this cannot fail.
    const isWritten = writeInput(libc, stdin.write, input);
    return {
      childEnds: [stdin.read, stdout.write, stderr.write],
      stdoutName: `pipe:[${fstatSync(stdout.write).ino}]`,
      closeChildEnds: () => closeAll(libc, [stdin.read, stdout.write, stderr.write]),
      open: () => {
        const outputs = reader.open(stdout.read, stderr.read);
        const rest = isWritten ? null : openStdin(stdin.write, input);
        const keepAlive = (keeps: boolean) => {
          keepNodeAlive(rest, keeps);
          for (const output of [outputs.stdout, outputs.stderr]) output.keepAlive(keeps);
        };
        return { ...outputs, stdin: rest, settle: () => reader.settle(outputs), keepAlive };
      },
      discard: () => closeAll(libc, [...(isWritten ? [] : [stdin.write]), stdout.read, stderr.read]),
    };
  };
}
