import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { RuntimeError } from '../errors.ts';

/** In bytes. A YAML parser reads this much within seconds. */
const LARGEST_TEXT = 16 * 1024 * 1024;

/**
 * Reads at most `most` bytes of a file, whose size the system may not know. Refuses pipes, except those that this
 * process was started with. Throws Error, or the system error.
 */
export function readBounded(file: string, most = LARGEST_TEXT): Buffer {
  const isHanded = handedFile.test(file);
  const fd = openWatched(file, constants.O_RDONLY | (isHanded ? 0 : constants.O_NONBLOCK));
  try {
    const stat = fstatSync(fd);
    tellWatchers(file, settledState(stat));
    if (!isHanded && (stat.isFIFO() || stat.isSocket())) throw new Error('it is a pipe');
    if (stat.size > most) throw tooLarge(most);
    return readAll(fd, stat.isFile() ? stat.size : 0, most);
  } finally {
    closeSync(fd);
  }
}

type ReadWatcher = (path: string, state: string) => void;

const watchers = new Set<ReadWatcher>();

function openWatched(file: string, flags: number): number {
  try {
    return openSync(file, flags);
  } catch (thrown) {
    tellWatchers(file, stateOfFile(file));
    throw thrown;
  }
}

function tellWatchers(file: string, state: string): void {
  for (const watch of watchers) watch(resolve(file), state);
}

/** Like `existsSync`, and reported to those who watch reads. */
export function existsWatched(path: string): boolean {
  const state = stateOfFile(path);
  tellWatchers(path, state);
  return state !== ABSENT;
}

/** Reports each file that `readBounded` reads or fails to read, until the returned function is called. */
export function watchReads(watch: ReadWatcher): () => void {
  watchers.add(watch);
  return () => void watchers.delete(watch);
}

/** Differs from the state at a read if the file may have changed since. */
export function stateOfFile(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? ABSENT : stateOf(stat);
  } catch {
    return ABSENT;
  }
}

const ABSENT = 'absent';
/** The state of a file that has just changed. */
export const CHANGING = 'changing';

function stateOf({ dev, ino, mode, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, mode, size, mtimeMs, ctimeMs].join(' ');
}

/**
 * A change right after the read could leave the same times, so a file that has just changed equals no later state. Any
 * change sets `ctime`; programs can set `mtime` to a time in the future.
 */
function settledState(stat: Stats): string {
  return Date.now() - stat.ctimeMs < TICK_MS ? CHANGING : stateOf(stat);
}

/** File times have the resolution of the clock tick, at most 10 ms; this is twice that. */
const TICK_MS = 20;

/** As in `--config <(command)`. */
const handedFile = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/\d+)$/;

function readAll(fd: number, size: number, most: number): Buffer {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.max(size - total + 1, CHUNK_BYTES));
    const count = readSync(fd, chunk);
    if (count === 0) return chunks.length === 1 ? (chunks[0] ?? chunk) : Buffer.concat(chunks, total);
    chunks.push(chunk.subarray(0, count));
    total += count;
    if (total > most) throw tooLarge(most);
  }
}

const CHUNK_BYTES = 64 * 1024;

function tooLarge(most: number): RuntimeError {
  const [size, unit] = most < 1024 * 1024 ? [most / 1024, 'KiB'] : [most / 1024 / 1024, 'MiB'];
  return new RuntimeError('FILE_UNREADABLE', `it has more than ${size} ${unit}`, {
    hint: `Such files may have at most ${size} ${unit}. Put data into a dataset, which is read row by row.`,
  });
}
