import { readFileSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { RuntimeError } from '../../base/errors.ts';

/**
 * Whether there is no such file yet. Throws STORE_FAILED where a file has lost its content, so that it is not
 * replaced by a new, empty store.
 */
export function isMissing(file: string): boolean {
  const size = sizeOf(file);
  if (size === 0 && statSync(file).isFile()) {
    throw new RuntimeError('STORE_FAILED', `the state store ${file} is damaged: the file is empty`, {
      hint: `Restore a backup of ${file}; without one remove it, and a new store begins empty.`,
    });
  }
  if (size !== undefined) return false;
  // The -wal file is written only after the file exists.
  if ((sizeOf(`${file}-wal`) ?? 0) === 0 || sizeOf(file) !== undefined) return sizeOf(file) === undefined;
  throw new RuntimeError('STORE_FAILED', `the state store ${file} is gone, and ${file}-wal is still there`, {
    hint: `Put ${file} back, or restore a backup; without one remove ${file}-wal, and a new store begins empty.`,
  });
}

/**
 * Throws STORE_FAILED where the `-wal` file of a store is gone although its index, the `-shm` file, says that changes in it have
 * not been copied into the store. Whoever closes a store in peace removes both, after the copy.
 * Source: https://www.sqlite.org/walformat.html#the_wal_index_header
 */
export function requireJournal(file: string): void {
  if (sizeOf(`${file}-wal`) !== undefined || (sizeOf(`${file}-shm`) ?? 0) < WAL_INDEX_BYTES) return;
  const index = readFileSync(`${file}-shm`);
  const numberAt = (at: number) => (endianness() === 'LE' ? index.readUInt32LE(at) : index.readUInt32BE(at));
  const isInUse = index[IS_INIT] === 1;
  if (!isInUse || numberAt(COPIED_FRAMES) >= numberAt(VALID_FRAMES)) return;
  throw new RuntimeError(
    'STORE_FAILED',
    `${file}-wal is gone, and with it changes that the state store ${file} does not have yet`,
    {
      hint: `Put ${file}-wal back, or restore a backup; without them remove ${file}-shm, and the store goes on as it was before these changes.`,
    },
  );
}

/** Two copies of the header, and what a checkpoint keeps behind them. */
const WAL_INDEX_BYTES = 136;
const IS_INIT = 12;
/** How many frames of the -wal file are valid, and how many of them a checkpoint has copied. */
const VALID_FRAMES = 16;
const COPIED_FRAMES = 96;

/** Undefined where there is none. Throws what the system says. */
function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}
