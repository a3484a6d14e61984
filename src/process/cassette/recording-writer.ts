import { randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';

export interface RecordingWriter {
  /** Throws FILE_UNREADABLE after a write error, unless the writer is durable. */
  begin(): { readonly recorder: string; readonly number: number };
  /**
   * A durable writer resolves when the lines are on disk; it rejects with FILE_UNREADABLE if that fails. Any other
   * writer waits only while more than `MAX_WAITING_CHARACTERS` are pending.
   */
  write(lines: readonly string[]): Promise<void>;
  ready(): Promise<void>;
  /** Resolves once all lines are written; to FILE_UNREADABLE if that failed. Never rejects. */
  findFault(): Promise<Error | undefined>;
  close(): Promise<void>;
}

interface RecordingWriterOptions {
  readonly isDurable: boolean;
  readonly inspect?: (handle: FileHandle) => Promise<void>;
  /** Called once with FILE_UNREADABLE if the file cannot be written. */
  readonly onFailure?: (error: Error) => void;
}

const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;

/** A new recording is readable by its owner only. Never throws. */
export function openRecordingWriter(
  file: string,
  { isDurable, inspect = async () => {}, onFailure = () => {} }: RecordingWriterOptions,
): RecordingWriter {
  const opening = openToAppend(file, inspect);
  opening.catch(() => {});
  const recorder = randomUUID();
  let begun = 0;
  let failure: Error | undefined;
  let waiting: Batch | undefined;
  let last: Promise<void> = Promise.resolve();
  const flush = async (lines: readonly string[]) => {
    waiting = undefined;
    if (failure !== undefined) return;
    try {
      const handle = await opening;
      await appendLines(handle, `${lines.join('\n')}\n`);
      if (isDurable) await handle.datasync();
    } catch (thrown) {
      const error = unwritableError(file, thrown);
      if (isDurable) throw error;
      failure = error;
      onFailure(error);
    }
  };
  const startBatch = (): Batch => {
    const lines: string[] = [];
    const written = last.then(() => flush(lines));
    last = written.catch(() => {});
    return { lines, size: 0, written };
  };
  const throwIfFailed = () => {
    if (failure !== undefined) throw failure;
  };
  return {
    begin: () => {
      throwIfFailed();
      begun += 1;
      return { recorder, number: begun };
    },
    write: async (lines) => {
      throwIfFailed();
      waiting ??= startBatch();
      const batch = waiting;
      batch.lines.push(...lines);
      for (const line of lines) batch.size += line.length;
      if (isDurable || batch.size > MAX_WAITING_CHARACTERS) await batch.written;
      throwIfFailed();
    },
    ready: async () => {
      await opening;
    },
    findFault: async () => {
      await last;
      const isGone = await opening.then(isRemoved).catch(() => false);
      return (
        failure ?? (isGone ? unwritableError(file, new Error('it was removed in the meantime')) : undefined)
      );
    },
    close: async () => {
      await last;
      await opening.then((handle) => handle.close()).catch(() => {});
    },
  };
}

interface Batch {
  readonly lines: string[];
  size: number;
  readonly written: Promise<void>;
}

/** Ends and marks an incomplete last line of a killed writer, unless `inspect` rejects first. */
async function openToAppend(
  file: string,
  inspect: (handle: FileHandle) => Promise<void>,
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

async function isRemoved(handle: FileHandle): Promise<boolean> {
  const found = await handle.stat();
  return found.isFile() && found.nlink === 0;
}

async function endLastLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  if (size === 0) return;
  const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: size - 1 });
  if (buffer.toString() !== '\n') await appendLines(handle, '\n{"cut":true}\n');
}

/** A single write, so that lines of concurrent writers do not interleave. */
async function appendLines(handle: FileHandle, lines: string): Promise<void> {
  const bytes = Buffer.from(lines);
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
}

function unwritableError(file: string, thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const message = `the recording ${file} cannot be written: ${toRuntimeError(thrown).message}`;
  return new RuntimeError('FILE_UNREADABLE', message, { cause: thrown });
}
