import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Owner,
  ownerFromText,
  ownerPattern,
  ownerToText,
  thisOwner,
} from '../../../base/files/owner.ts';

/** One line of a table. */
export interface Row {
  /** Replaces the line, before it returns. At most 250 bytes of UTF-8 without a newline. Throws the system error. */
  write(text: string): void;
  /** Empties the line for whoever adds the next one. Throws the system error. */
  free(): void;
}

/**
 * Lines in a file, for a process that was given the descriptor: it can read them for as long as it likes, however this
 * process ends. The file is named by this thread and goes with `close` or `discard`: one whose owner is gone tells
 * a later start what ran when the owner was killed.
 */
export interface Table {
  readonly fd: number;
  /** Adds a line. Throws the system error. */
  add(text: string): Row;
  /** Removes the file; whoever has the descriptor can read on. Never throws. */
  discard(): void;
  /** Removes the file and closes the descriptor. */
  close(): void;
}

/** Opens an empty table. Throws the system error. */
export function openTable(): Table {
  const { fd, path } = openFile();
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
    discard: () => removeTable(path),
    close: () => {
      removeTable(path);
      closeSync(fd);
    },
  };
}

const ROW_BYTES = 256;
const SPACE = 0x20;
const NEWLINE = 0x0a;

/** Where tables may stand: in memory where there is such a place, since the lines change with every process. */
export function tableFolders(): readonly string[] {
  return [...new Set(['/dev/shm', tmpdir()])];
}

/** Who owns the table of this name; undefined for any other file. */
export function ownerOfTable(name: string): Owner | undefined {
  const [, owner] = tableName.exec(name) ?? [];
  return owner === undefined ? undefined : ownerFromText(owner);
}

/** Removes a table. Never throws. */
export function removeTable(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A folder that has become read-only: nothing is lost by it.
  }
}

const tableName = new RegExp(`^signalbox-groups-(${ownerPattern})-[0-9a-f-]{36}$`);

function openFile(): { readonly fd: number; readonly path: string } {
  const name = `signalbox-groups-${ownerToText(thisOwner())}-${randomUUID()}`;
  const [first = tmpdir(), second = first] = tableFolders().map((folder) => join(folder, name));
  try {
    return openAt(first);
  } catch {
    return openAt(second);
  }
}

function openAt(path: string): { readonly fd: number; readonly path: string } {
  return { fd: openSync(path, 'wx+', 0o600), path };
}
