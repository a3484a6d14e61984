import type { FileHandle } from 'node:fs/promises';
import { appendLines, unwritable } from './append.ts';

/** Adds lines to a file behind the caller's back, in order. */
export interface LineWriter {
  /**
   * Takes lines, without their ends, that belong together. Settles at once, unless much is still to be written.
   * Rejects with FILE_UNREADABLE once the file could not be written.
   */
  write(lines: readonly string[]): Promise<void>;
  /** Throws FILE_UNREADABLE once the file could not be written. */
  throwIfFailed(): void;
  /** Writes what is left and lets the file go. Never rejects. */
  close(): Promise<void>;
}

/** Characters that may wait to be written before those who bring more have to wait too. */
const MOST_WAITING = 8 * 1024 * 1024;

/** `onFailure` is told once. */
export function createLineWriter(
  handle: FileHandle,
  file: string,
  onFailure: (error: Error) => void,
): LineWriter {
  let waiting: string[] = [];
  let size = 0;
  let failure: Error | undefined;
  let writing: Promise<void> | undefined;

  const writeAll = async () => {
    while (waiting.length > 0 && failure === undefined) {
      const lines = `${waiting.join('\n')}\n`;
      waiting = [];
      size = 0;
      try {
        await appendLines(handle, lines);
      } catch (thrown) {
        failure = unwritable(file, thrown);
        onFailure(failure);
      }
    }
    writing = undefined;
  };
  const throwIfFailed = () => {
    if (failure !== undefined) throw failure;
  };
  return {
    throwIfFailed,
    write: async (lines) => {
      throwIfFailed();
      waiting.push(...lines);
      for (const line of lines) size += line.length;
      writing ??= writeAll();
      if (size > MOST_WAITING) await writing;
      throwIfFailed();
    },
    close: async () => {
      await writing;
      await handle.close().catch(() => {});
    },
  };
}
