import { randomUUID } from 'node:crypto';
import { fstatSync, realpathSync, statSync, writeSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { RuntimeError } from '../../base/errors.ts';
import { systemCode } from '../../base/files/file-error.ts';
import { makeFolders } from '../../base/files/paths.ts';
import type { FileSink } from './reporter.ts';

/**
 * Opens a report file and creates its folders. Writes to a temporary file in the same folder until `publish`, so that
 * no reader sees a partial file. With `grows`, writes each text directly to the file, so that it survives a crash.
 * Throws FILE_UNREADABLE.
 */
export async function openFileSink(file: string, { grows }: { readonly grows: boolean }): Promise<FileSink> {
  return withFileErrors(file, async () => {
    makeFolders(dirname(file));
    const target = await findTarget(file);
    if (grows && !target.isSpecial) return await openGrowing(file, target.path);
    if (target.isSpecial) return await openInPlace(file, target.path, grows ? 0 : bufferSize);
    return await openTemporary(file, target.path);
  });
}

const bufferSize = 64 * 1024;

/**
 * Resolves a symbolic link, so that the link is kept. Devices, pipes and open descriptors such as `/dev/stderr` are
 * written directly, never replaced.
 */
async function findTarget(file: string): Promise<{ readonly path: string; readonly isSpecial: boolean }> {
  try {
    const found = await stat(file);
    if ((!found.isFile() && !found.isDirectory()) || ownDescriptor(file) !== undefined)
      return { path: file, isSpecial: true };
    return { path: await realpath(file), isSpecial: false };
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
    return { path: file, isSpecial: false };
  }
}

/** Uses synchronous writes. A round trip through the thread pool costs several times as much. */
async function openGrowing(file: string, path: string): Promise<FileSink> {
  const handle = await open(path, 'w');
  return {
    ...noTerminal,
    write: (text) => withFileErrors(file, async () => writeWhole(handle.fd, text)),
    flush: async () => {},
    publish: () => withFileErrors(file, () => handle.close()),
    discard: () => handle.close(),
  };
}

function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

async function openInPlace(file: string, path: string, size: number): Promise<FileSink> {
  const descriptor = ownDescriptor(path);
  // Inherited descriptors are shared and must not be closed.
  const nothing = async () => {};
  const kept = { ...noTerminal, flush: nothing, publish: nothing, discard: nothing };
  if (descriptor !== undefined && fstatSync(descriptor).isFile()) {
    // Opening the file again would overwrite what was already written.
    return { ...kept, write: (text) => withFileErrors(file, async () => writeWhole(descriptor, text)) };
  }
  const handle = await open(path, 'w').catch((thrown: unknown) => {
    // A socket cannot be opened by name.
    if (systemCode(thrown) !== 'ENXIO') throw thrown;
    return undefined;
  });
  if (handle === undefined) {
    if (descriptor === undefined) throw new RuntimeError('FILE_UNREADABLE', `${file} is a socket`);
    // Node gives child processes sockets as stdout and stderr.
    const socket = new Socket({ fd: descriptor, readable: false });
    socket.unref();
    socket.on('error', () => {});
    const write = promisify((text: string, done: (error?: Error | null) => void) => socket.write(text, done));
    return { ...kept, write: (text) => withFileErrors(file, () => write(text)) };
  }
  const buffer = newBuffer(handle, size);
  return {
    ...noTerminal,
    write: (text) => withFileErrors(file, () => buffer.write(text)),
    flush: () => withFileErrors(file, buffer.flush),
    publish: () => withFileErrors(file, () => buffer.flush().finally(() => handle.close())),
    discard: () => handle.close(),
  };
}

function ownDescriptor(path: string): number | undefined {
  const named = ['/dev/stdin', '/dev/stdout', '/dev/stderr'].indexOf(path);
  if (named !== -1) return named;
  const [, number] = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path) ?? [];
  return number === undefined ? undefined : Number(number);
}

async function openTemporary(file: string, path: string): Promise<FileSink> {
  const mode = await findMode(path);
  const temporary = join(dirname(path), `.signalbox-${randomUUID()}.tmp`);
  const handle = await open(temporary, 'wx', mode);
  const buffer = newBuffer(handle, bufferSize);
  const discard = async (): Promise<void> => {
    await handle.close();
    await rm(temporary, { force: true });
  };
  return {
    ...noTerminal,
    write: (text) => withFileErrors(file, () => buffer.write(text)),
    flush: () => withFileErrors(file, buffer.flush),
    publish: () =>
      withFileErrors(file, async () => {
        try {
          await buffer.flush();
          await handle.close();
          await rename(temporary, path);
        } catch (thrown) {
          await discard();
          throw thrown;
        }
      }),
    discard,
  };
}

/** The mode of the file to replace. Fails before the run if the file is not writable. */
async function findMode(path: string): Promise<number> {
  try {
    const handle = await open(path, 'r+');
    const { mode } = await handle.stat().finally(() => handle.close());
    return mode & 0o777;
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
    return 0o666;
  }
}

const noTerminal = { hasColour: false, columns: undefined } as const;

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

async function withFileErrors<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const why =
      whyUnwritable[String(systemCode(cause))] ??
      `cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new RuntimeError('FILE_UNREADABLE', `${file} ${why}`, { cause });
  }
}

const whyUnwritable: Readonly<Record<string, string>> = {
  EISDIR: 'is a folder',
  EACCES: 'cannot be written: permission denied',
  EPERM: 'cannot be written: permission denied',
  EROFS: 'cannot be written: the file system is read-only',
  ENOTDIR: 'cannot be created: a part of its path is a file',
  EEXIST: 'cannot be created: a part of its path is a file',
  ENOSPC: 'cannot be written: the disk is full',
};

/**
 * Writes a report to a temporary file, then renames it. Throws FILE_UNREADABLE, and USAGE if it would overwrite an
 * input.
 */
export async function writeReport(
  file: string,
  text: string,
  { inputs }: { readonly inputs: readonly InputFile[] },
): Promise<void> {
  refuseOverwriting([file], inputs);
  const sink = await openFileSink(file, { grows: false });
  try {
    await sink.write(text);
    await sink.flush();
  } catch (thrown) {
    await sink.discard();
    throw thrown;
  }
  await sink.publish();
}

export interface InputFile {
  readonly file: string;
  /** A description such as `the dataset`. */
  readonly what: string;
}

/** Throws USAGE for the first of `files` that is an input, even under another name or link. */
export function refuseOverwriting(files: readonly string[], inputs: readonly InputFile[]): void {
  if (files.length === 0) return;
  const byIdentity = new Map(inputs.toReversed().map((input) => [fileIdentity(input.file), input]));
  for (const file of files) {
    const input = byIdentity.get(fileIdentity(file) ?? '');
    if (input === undefined) continue;
    throw new RuntimeError('USAGE', `the report would overwrite ${file}, which is ${input.what}`, {
      hint: 'Choose another file for the report; nothing was written.',
    });
  }
}

function fileIdentity(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return join(realpathSync(dirname(resolve(file))), basename(file));
    return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
  } catch {
    // The folder does not exist yet or is not readable.
    return resolve(file);
  }
}
