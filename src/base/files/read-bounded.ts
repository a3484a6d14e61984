import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { RuntimeError } from '../errors.ts';

/** In bytes. A YAML parser reads this much within seconds. */
const LARGEST_TEXT = 16 * 1024 * 1024;

/**
 * Reads at most `most` bytes of a file, whose size the system may not know. Refuses pipes, except those that this
 * process was started with. Throws Error, or the system error.
 */
export function readBounded(file: string, most = LARGEST_TEXT): Buffer {
  const isHanded = handedFile.test(file);
  const fd = openSync(file, constants.O_RDONLY | (isHanded ? 0 : constants.O_NONBLOCK));
  try {
    const stat = fstatSync(fd);
    if (!isHanded && (stat.isFIFO() || stat.isSocket())) throw new Error('it is a pipe');
    if (stat.size > most) throw tooLarge(most);
    return readAll(fd, stat.isFile() ? stat.size : 0, most);
  } finally {
    closeSync(fd);
  }
}

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
