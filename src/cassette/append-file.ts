import { type FileHandle, open } from 'node:fs/promises';
import { RuntimeError, toRuntimeError } from '../errors.ts';

/** The line that marks the one before it as possibly cut off. */
export const truncationMark = '{"cut":true}';

/**
 * Opens a file to add lines to it, or begins one that its owner alone may read. An incomplete last line, as a
 * killed writer leaves it, is ended and marked, unless `inspect` rejects first. Throws FILE_UNREADABLE.
 */
export async function openToAppend(
  file: string,
  inspect: (handle: FileHandle) => Promise<void> = async () => {},
): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'a+', 0o600);
    await inspect(handle);
    await endLastLine(handle);
    return handle;
  } catch (thrown) {
    await handle?.close();
    throw unwritableError(file, thrown);
  }
}

/**
 * Adds lines in one write, so that those of another writer of the file stand before or after them, never in between.
 * Rejects as the system does.
 */
export async function appendLines(handle: FileHandle, lines: string): Promise<void> {
  const bytes = Buffer.from(lines);
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
}

/** The error of a recording that cannot be written. */
export function unwritableError(file: string, thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const message = `the recording ${file} cannot be written: ${toRuntimeError(thrown).message}`;
  return new RuntimeError('FILE_UNREADABLE', message, { cause: thrown });
}

async function endLastLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  if (size === 0) return;
  const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: size - 1 });
  if (buffer.toString() !== '\n') await appendLines(handle, `\n${truncationMark}\n`);
}
