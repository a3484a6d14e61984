import type { Terminal } from '../terminal.ts';

export interface RowProgress {
  show(rows: number, of: number): void;
  end(): void;
}

export function openRowProgress({ stderr }: Pick<Terminal, 'stderr'>): RowProgress {
  let shownAt = -Infinity;
  let isShown = false;
  return {
    show: (rows, of) => {
      if (!stderr.isTTY || performance.now() - shownAt < PROGRESS_EVERY_MS) return;
      shownAt = performance.now();
      isShown = true;
      stderr.write(`\r\x1b[K${rows.toLocaleString('en')} of ${of.toLocaleString('en')} rows`);
    },
    end: () => {
      if (isShown) stderr.write('\r\x1b[K');
    },
  };
}

const PROGRESS_EVERY_MS = 200;
