import { stat } from 'node:fs/promises';

/** How much of some files has been read. */
export interface Meter {
  /** Sums up what there is to read; must not throw. */
  expect(files: readonly string[]): Promise<void>;
  /** The next file begins; `bytesRead` tells how far it is. */
  follow(bytesRead: () => number): void;
  /** 0..1; null where it cannot be known how much there is. */
  fraction(): number | null;
}

export function newMeter(): Meter {
  let total: number | null = null;
  let before = 0;
  let current = (): number => 0;
  return {
    async expect(files) {
      total = files.includes('-') ? null : await sumSizes(files);
    },
    follow(bytesRead) {
      before += current();
      current = bytesRead;
    },
    fraction() {
      if (total === null) return null;
      // Somebody may still be writing to the file.
      return total === 0 ? 1 : Math.min(1, (before + current()) / total);
    },
  };
}

/** Null when one of them is no plain file, such as a pipe. */
async function sumSizes(files: readonly string[]): Promise<number | null> {
  try {
    const sizes = await Promise.all(files.map(sizeOf));
    return sizes.includes(Number.NaN) ? null : sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    // Whoever opens the file says why it cannot be read.
    return null;
  }
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file);
  return found.isFile() ? found.size : Number.NaN;
}
