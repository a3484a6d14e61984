import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Bytes; far more than anybody writes by hand, and what a parser of YAML reads within seconds. */
const LARGEST_TEXT = 16 * 1024 * 1024;

/**
 * The bytes of a file, of which the system may know no size; at most `most` of them, and never those of a pipe that nobody
 * may write to, unless this process was started with it. Throws Error, and what the system says.
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
    // One byte more than a regular file has shows its end.
    const chunk = Buffer.allocUnsafe(Math.max(size - total + 1, CHUNK_BYTES));
    const count = readSync(fd, chunk);
    if (count === 0) return chunks.length === 1 ? (chunks[0] ?? chunk) : Buffer.concat(chunks, total);
    chunks.push(chunk.subarray(0, count));
    total += count;
    if (total > most) throw tooLarge(most);
  }
}

const CHUNK_BYTES = 64 * 1024;

function tooLarge(most: number): Error {
  const [size, unit] = most < 1024 * 1024 ? [most / 1024, 'KiB'] : [most / 1024 / 1024, 'MiB'];
  return new Error(`it has more than ${size} ${unit}`);
}
