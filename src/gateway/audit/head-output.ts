import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { replaceAtomically, writeDurably } from '../../base/files/new-file.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';
import { formatHead, type Head, readHead } from './head.ts';

export interface HeadOptions {
  /** A file that always has the last head alone. */
  readonly file?: string | undefined;
  /** Gets each head as one line of JSON. */
  readonly print?: ((line: string) => void) | undefined;
  readonly everyMs: number;
}

/** Gives out heads, at intervals and at the end. */
export interface HeadOutput {
  /** The newest head, for the next time. */
  take(head: Head): void;
  /** Puts it into the file now; what is printed before a server has said where it listens is in the way. Never throws. */
  keep(): void;
  /** Gives out the last one. */
  close(): void;
}

/** Writes heads as the options say; what goes wrong is told, and tried again with the next head. */
export function createHeadOutput(
  options: HeadOptions | undefined,
  warn: (error: RuntimeError) => void,
): HeadOutput {
  let newest: Head | undefined;
  let written: number | undefined;
  const keep = () => {
    try {
      if (options?.file !== undefined && newest !== undefined) replaceHead(options.file, newest);
    } catch (error) {
      warn(toHeadError(error, options?.file));
    }
  };
  const write = () => {
    if (options === undefined || newest === undefined || newest.seq === written) return;
    written = newest.seq;
    keep();
    options.print?.(formatHead(newest));
  };
  const timer = options && setInterval(write, options.everyMs);
  timer?.unref();
  return {
    take: (head) => {
      newest = head;
    },
    keep,
    close: () => {
      clearInterval(timer);
      write();
    },
  };
}

/** Puts the head into the file in one step, unless another server on the same chain has put a later one there. */
function replaceHead(file: string, head: Head): void {
  const kept = readHead(readIfThere(file));
  if (kept !== undefined && kept.chain === head.chain && kept.seq >= head.seq) return;
  makeFolder(dirname(file));
  replaceAtomically(file, (draft) => writeDurably(draft, `${formatHead(head)}\n`, 0o644));
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function toHeadError(error: unknown, file: string | undefined): RuntimeError {
  const why = error instanceof Error ? error.message : String(error);
  return new RuntimeError(
    'STORE_FAILED',
    `the head of the audit cannot be written to ${file ?? 'stdout'}: ${why}`,
    {
      hint: 'Check that its folder is writable and its disk has room.',
      cause: error,
    },
  );
}
