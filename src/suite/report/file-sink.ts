import { randomUUID } from 'node:crypto';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RuntimeError } from '../../errors.ts';
import { makeFolders } from '../../files/make-folders.ts';
import type { Sink } from './reporter.ts';

/** A file that is being written. */
export interface FileSink extends Sink {
  /** Writes what is left. Throws FILE_UNREADABLE. */
  flush(): Promise<void>;
  /** Writes what is left, and gives the file its name. Throws FILE_UNREADABLE. */
  publish(): Promise<void>;
  /** Gives the file up; nothing of it stays, unless it is one that grows. */
  discard(): Promise<void>;
}

/**
 * Opens a file for a report, with the folders that it needs. It is written under another name in the same folder,
 * so that a reader never sees a part of it; one that `grows` is written in place, at once. Throws FILE_UNREADABLE.
 */
export async function openFileSink(file: string, { grows }: { readonly grows: boolean }): Promise<FileSink> {
  return explain(file, async () => {
    makeFolders(dirname(file));
    const target = await findTarget(file);
    if (grows || target.isSpecial) return openInPlace(file, target.path, grows ? 0 : bufferSize);
    return await openAside(file, target.path);
  });
}

const bufferSize = 64 * 1024;

/** Where a link leads, so that the link stays; a device or a pipe must never be replaced by a file. */
async function findTarget(file: string): Promise<{ readonly path: string; readonly isSpecial: boolean }> {
  try {
    const found = await stat(file);
    if (!found.isFile() && !found.isDirectory()) return { path: file, isSpecial: true };
    return { path: await realpath(file), isSpecial: false };
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT') throw thrown;
    return { path: file, isSpecial: false };
  }
}

async function openInPlace(file: string, path: string, size: number): Promise<FileSink> {
  const handle = await open(path, 'w');
  const buffer = newBuffer(handle, size);
  return {
    ...plain,
    write: (text) => explain(file, () => buffer.write(text)),
    flush: () => explain(file, buffer.flush),
    publish: () => explain(file, () => buffer.flush().finally(() => handle.close())),
    discard: () => handle.close(),
  };
}

async function openAside(file: string, path: string): Promise<FileSink> {
  const mode = await findMode(path);
  const aside = join(dirname(path), `.signalbox-${randomUUID()}.tmp`);
  const handle = await open(aside, 'wx', mode);
  const buffer = newBuffer(handle, bufferSize);
  const discard = async (): Promise<void> => {
    await handle.close();
    await rm(aside, { force: true });
  };
  return {
    ...plain,
    write: (text) => explain(file, () => buffer.write(text)),
    flush: () => explain(file, buffer.flush),
    publish: () =>
      explain(file, async () => {
        try {
          await buffer.flush();
          await handle.close();
          await rename(aside, path);
        } catch (thrown) {
          await discard();
          throw thrown;
        }
      }),
    discard,
  };
}

/** Who may read the file of before, may read the new one. One that may not be written is told now, not after the run. */
async function findMode(path: string): Promise<number> {
  try {
    const handle = await open(path, 'r+');
    const { mode } = await handle.stat().finally(() => handle.close());
    return mode & 0o777;
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT') throw thrown;
    return 0o666;
  }
}

const plain = { hasColour: false, columns: undefined } as const;

function newBuffer(
  handle: FileHandle,
  size: number,
): { write(text: string): Promise<void>; flush(): Promise<void> } {
  let text = '';
  const flush = async (): Promise<void> => {
    const ready = text;
    text = '';
    if (ready !== '') await handle.writeFile(ready);
  };
  return {
    flush,
    async write(more) {
      text += more;
      if (text.length > size) await flush();
    },
  };
}

async function explain<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnwritable(cause)}`, { cause });
  }
}

function whyUnwritable(cause: unknown): string {
  const code = codeOf(cause);
  if (code === 'EISDIR') return 'is a folder';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'may not be written';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'cannot be made: a part of its path is a file';
  if (code === 'ENOSPC') return 'cannot be written: the disk is full';
  return `cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`;
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}
