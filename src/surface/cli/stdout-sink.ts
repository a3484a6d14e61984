import { once } from 'node:events';

/** Where a report goes that has no file: stdout, as fast as whoever reads it. */
export interface StdoutSink {
  readonly hasColour: boolean;
  /** Undefined where no terminal is. */
  readonly columns: number | undefined;
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
}

export function openStdoutSink(hasColour: boolean): StdoutSink {
  const { stdout } = process;
  return {
    hasColour,
    columns: stdout.isTTY === true ? stdout.columns : undefined,
    write: async (text) => {
      if (stdout.destroyed || stdout.write(text)) return;
      // Whoever reads it may go away before it is drained.
      await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => {});
    },
  };
}
