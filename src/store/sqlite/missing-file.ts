import { statSync } from 'node:fs';
import { RuntimeError } from '../../errors.ts';

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

/** Undefined where there is none. Throws what the system says. */
function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}
