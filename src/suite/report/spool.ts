import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuntimeError } from '../../errors.ts';

/** A buffer for text that is written later: in memory while it is short, then in a temporary file. */
export interface Spool {
  /** Throws FILE_UNREADABLE. */
  write(text: string): void;
  /** What was written, in parts. */
  parts(): Iterable<string>;
  /** Closes the file; no method may be called after it. */
  close(): void;
}

/** `memory` is how many characters are kept in memory. */
export function newSpool(memory = 256 * 1024): Spool {
  let text = '';
  let file: number | undefined;
  return {
    write(more) {
      text += more;
      if (text.length <= memory) return;
      file ??= openUnlinkedFile();
      writeAll(file, Buffer.from(text));
      text = '';
    },
    *parts() {
      if (file !== undefined) yield* readParts(file);
      if (text !== '') yield text;
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
      text = '';
    },
  };
}

/** Opens a temporary file and unlinks it at once, so that it is gone however this process ends. */
function openUnlinkedFile(): number {
  const name = join(tmpdir(), `signalbox-${randomUUID()}`);
  try {
    const file = openSync(name, 'wx+', 0o600);
    unlinkSync(name);
    return file;
  } catch (cause) {
    throw temporaryFileError(cause);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  } catch (cause) {
    throw temporaryFileError(cause);
  }
}

function temporaryFileError(cause: unknown): RuntimeError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RuntimeError('FILE_UNREADABLE', `a temporary file in ${tmpdir()} cannot be written: ${reason}`, {
    hint: 'Make room there, or set TMPDIR to another folder.',
    cause,
  });
}

function* readParts(file: number): Generator<string> {
  const decoder = new TextDecoder();
  const buffer = Buffer.alloc(64 * 1024);
  for (let at = 0; ; ) {
    const count = readSync(file, buffer, 0, buffer.length, at);
    if (count === 0) break;
    at += count;
    yield decoder.decode(buffer.subarray(0, count), { stream: true });
  }
}
