import { closeSync, constants, existsSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { makeTempFolder, sweepTempFolders } from '../../base/files/temp-folder.ts';

/** Both ends of a named pipe that is already unlinked. The child's end blocks, the parent's does not. */
export interface FifoEnds {
  readonly parentEnd: number;
  readonly childEnd: number;
}

/** A pipe that the child reads and we write. */
export async function openInputFifo(): Promise<FifoEnds> {
  const path = await takeFifoPath();
  // Opening one end alone would wait for the other; an end of both kinds waits for nothing.
  const both = openSync(path, constants.O_RDWR);
  try {
    const childs = openSync(path, constants.O_RDONLY);
    const ours = openSecondEnd(path, constants.O_WRONLY | constants.O_NONBLOCK, childs);
    return { parentEnd: ours, childEnd: childs };
  } finally {
    closeSync(both);
    unlinkSync(path);
  }
}

/** A pipe that the child writes and we read, and the name that it had. */
export async function openOutputFifo(): Promise<FifoEnds & { readonly path: string }> {
  const path = await takeFifoPath();
  try {
    const ours = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const childs = openSecondEnd(path, constants.O_WRONLY, ours);
    return { parentEnd: ours, childEnd: childs, path };
  } finally {
    unlinkSync(path);
  }
}

/** Opens the second end; when that cannot be, closes the first. */
function openSecondEnd(path: string, flags: number, first: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    closeSync(first);
    throw error;
  }
}

/** A nameless file that holds `content`, open for reading from its start. */
export function openInputFile(content: Uint8Array): number {
  const path = join(folder(), `input-${counter++}`);
  writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
  try {
    return openSync(path, constants.O_RDONLY);
  } finally {
    unlinkSync(path);
  }
}

/** mkfifo is a program, not a call of Node's, so one start of it makes many. */
const BATCH = 48;

let counter = 0;
let madeFolder: string | undefined;
let fifoBatch: Promise<string[]> | undefined;

async function takeFifoPath(): Promise<string> {
  for (;;) {
    fifoBatch ??= makeFifos();
    const taken = fifoBatch;
    const path = (await taken).pop();
    // What cleans temporary folders may have been there since.
    if (path !== undefined && existsSync(path)) return path;
    if (path === undefined && fifoBatch === taken) fifoBatch = undefined;
  }
}

async function makeFifos(): Promise<string[]> {
  // A killed program left its own, and one that ends soon does not come to sweep them later.
  if (madeFolder === undefined) await sweepTempFolders();
  const paths = Array.from({ length: BATCH }, () => join(folder(), `pipe-${counter++}`));
  try {
    await execa('mkfifo', ['-m', '600', ...paths]);
  } catch (error) {
    fifoBatch = undefined;
    throw error;
  }
  return paths;
}

function folder(): string {
  if (madeFolder === undefined || !existsSync(madeFolder)) madeFolder = makeTempFolder('pipes');
  return madeFolder;
}
