import { closeSync, existsSync, fstatSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempFolder } from '../../../base/files/temp-folder.ts';

/** A nameless file in which bwrap tells how far it got. */
export interface StatusFile {
  readonly fd: number;
  readonly isOpen: boolean;
  /** The process that leads the group of everything inside, in our numbers; undefined until it has been started. */
  child(): number | undefined;
  /** What the command exited with, 128 more than the number of a signal; undefined until then, and where it never ran. */
  exitCode(): number | undefined;
  /** Closes the file; what it said before is remembered. Safe to call again. */
  close(): void;
}

/** Makes a status file. Throws what the system says. */
export function openStatusFile(): StatusFile {
  const fd = openNameless();
  let isOpen = true;
  let last = '';
  const read = () => {
    if (isOpen) last = readAll(fd);
    return last;
  };
  return {
    fd,
    get isOpen() {
      return isOpen;
    },
    child: () => numberOf(read(), /"child-pid": (\d+)/),
    exitCode: () => numberOf(read(), /"exit-code": (\d+)/),
    close: () => {
      if (!isOpen) return;
      read();
      isOpen = false;
      closeSync(fd);
    },
  };
}

/** A nameless file with that content, which is read from its start. Throws what the system says. */
export function openDataFile(content: Uint8Array): number {
  const fd = openNameless();
  // At its place, so that the position of the descriptor stays at the start.
  writeSync(fd, content, 0, content.length, 0);
  return fd;
}

let folder: string | undefined;
let counter = 0;

function openNameless(): number {
  if (folder === undefined || !existsSync(folder)) folder = makeTempFolder('sandbox');
  const path = join(folder, `file-${counter++}`);
  const fd = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return fd;
}

function readAll(fd: number): string {
  const bytes = Buffer.alloc(Math.min(fstatSync(fd).size, MAX_BYTES));
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0)).toString();
}

/** Two short lines are written. */
const MAX_BYTES = 64 * 1024;

/** Source: `dump_info` and `report_child_exit_status` of bubblewrap.c, whose lines are JSON objects of numbers. */
function numberOf(text: string, pattern: RegExp): number | undefined {
  const [, digits] = pattern.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
