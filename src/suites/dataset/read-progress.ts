import { stat } from 'node:fs/promises';
import { isRemote } from './remote/address.ts';

/** How much of some files has been read. */
export interface ReadProgress {
  /** Sums the sizes of the files; never throws. */
  measure(files: readonly string[], signal: AbortSignal): Promise<void>;
  /** Starts the next file; `bytesRead` returns its bytes read so far. */
  startFile(bytesRead: () => number): void;
  /** 0..1; null where it cannot be known how much there is. */
  fraction(): number | null;
}

export function newReadProgress(): ReadProgress {
  let total: number | null = null;
  let before = 0;
  let current = (): number => 0;
  return {
    async measure(files, signal) {
      total = files.includes('-') ? null : await sumSizes(files, signal);
    },
    startFile(bytesRead) {
      before += current();
      current = bytesRead;
    },
    fraction() {
      if (total === null) return null;
      // The file may still grow.
      return total === 0 ? 1 : Math.min(1, (before + current()) / total);
    },
  };
}

/** Null when one of them is no plain file, such as a pipe. */
async function sumSizes(files: readonly string[], signal: AbortSignal): Promise<number | null> {
  try {
    const sizes = await Promise.all(files.map((file) => sizeOf(file, signal)));
    return sizes.includes(Number.NaN) ? null : sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    // Opening the file reports why it cannot be read.
    return null;
  }
}

async function sizeOf(file: string, signal: AbortSignal): Promise<number> {
  if (isRemote(file)) {
    const { lookAtRemote } = await import('./remote/remote-bytes.ts');
    return (await lookAtRemote(file, signal)).size ?? Number.NaN;
  }
  const found = await stat(file);
  return found.isFile() ? found.size : Number.NaN;
}
