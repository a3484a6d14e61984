import { once } from 'node:events';
import type { OutputStream } from './invocation.ts';

/** Stdout as the sink of reports without a file, with back-pressure. */
export interface StdoutSink {
  readonly hasColour: boolean;
  /** Undefined where no terminal is, or one that does not know its width. */
  readonly columns: number | undefined;
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
}

export function openStdoutSink(hasColour: boolean, stdout: OutputStream): StdoutSink {
  return {
    hasColour,
    columns: stdout.isTTY === true && (stdout.columns ?? 0) >= minColumns ? stdout.columns : undefined,
    write: async (text) => {
      if (stdout.destroyed || stdout.write(text)) return;
      // The reader may close the pipe before it is drained.
      await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => {});
    },
  };
}

/** A pseudo-terminal without a width reports fewer columns. */
const minColumns = 20;
