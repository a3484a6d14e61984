import { once } from 'node:events';

/** Where a report goes that has no file: stdout, as fast as whoever reads it. */
export interface StdoutSink {
  readonly hasColour: boolean;
  /** Undefined where no terminal is, or one that does not know its width. */
  readonly columns: number | undefined;
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
}

export function openStdoutSink(hasColour: boolean, stdout: NodeJS.WriteStream = process.stdout): StdoutSink {
  return {
    hasColour,
    columns: stdout.isTTY === true && stdout.columns >= leastColumns ? stdout.columns : undefined,
    write: async (text) => {
      if (stdout.destroyed || stdout.write(text)) return;
      // Whoever reads it may go away before it is drained.
      await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => {});
    },
  };
}

/** Fewer are no width, but a pseudo-terminal that was given none. */
const leastColumns = 20;
