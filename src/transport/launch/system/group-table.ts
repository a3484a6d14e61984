import { randomUUID } from 'node:crypto';
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One line of a table. */
export interface Row {
  /** Replaces the line, before it returns. At most 250 bytes of UTF-8 without a newline. Throws the system error. */
  write(text: string): void;
  /** Empties the line for whoever adds the next one. Throws the system error. */
  free(): void;
}

/**
 * Lines in a file without a name, for a process that was given the descriptor: it can read them for as long as it likes,
 * however this process ends.
 */
export interface Table {
  readonly fd: number;
  /** Adds a line. Throws the system error. */
  add(text: string): Row;
  close(): void;
}

/** Opens an empty table. Throws the system error. */
export function openTable(): Table {
  const fd = openNameless();
  const free: number[] = [];
  const bytes = Buffer.alloc(ROW_BYTES);
  let rows = 0;
  const write = (index: number, text: string) => {
    bytes.fill(SPACE);
    bytes.write(text, 0, ROW_BYTES - 1);
    bytes[ROW_BYTES - 1] = NEWLINE;
    // At its place, since whoever reads shares the position of the descriptor.
    writeSync(fd, bytes, 0, ROW_BYTES, index * ROW_BYTES);
  };
  return {
    fd,
    add: (text) => {
      const index = free.pop() ?? rows++;
      write(index, text);
      return {
        write: (next) => write(index, next),
        free: () => {
          write(index, '');
          free.push(index);
        },
      };
    },
    close: () => closeSync(fd),
  };
}

const ROW_BYTES = 256;
const SPACE = 0x20;
const NEWLINE = 0x0a;

/** In memory where there is such a place, since the lines change with every process. */
function openNameless(): number {
  try {
    return openIn('/dev/shm');
  } catch {
    return openIn(tmpdir());
  }
}

function openIn(folder: string): number {
  const path = join(folder, `signalbox-groups-${randomUUID()}`);
  const fd = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return fd;
}
