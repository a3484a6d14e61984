import type { FileHandle } from 'node:fs/promises';
import { appendLines, unwritableError } from './append-file.ts';

/** Appends lines to a file in the background, in order. */
export interface LineWriter {
  /**
   * Takes lines, without their ends, that belong together. Resolves at once, unless more than
   * `MAX_WAITING_CHARACTERS` wait. Rejects with FILE_UNREADABLE once the file could not be written.
   */
  write(lines: readonly string[]): Promise<void>;
  /** Throws FILE_UNREADABLE once the file could not be written. */
  throwIfFailed(): void;
  /** Writes pending lines and closes the file. Never rejects. */
  close(): Promise<void>;
}

/** Characters that may wait to be written before `write` itself waits. */
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;

/** `onFailure` is called once, with FILE_UNREADABLE, when the file cannot be written. */
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
        failure = unwritableError(file, thrown);
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
      if (size > MAX_WAITING_CHARACTERS) await writing;
      throwIfFailed();
    },
    close: async () => {
      await writing;
      await handle.close().catch(() => {});
    },
  };
}
