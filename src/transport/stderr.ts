import type { Readable } from 'node:stream';
import { RuntimeError } from '../errors.ts';
import { createLineSplitter } from './read.ts';

/** Drains a process's stderr, tells its lines, and returns a function that gives the last 64 KiB of it. */
export function watchStderr(stderr: Readable, onLine: (line: string) => void): () => string {
  let chunks: Buffer[] = [];
  let length = 0;
  const lines = createLineSplitter(
    { maxBytes: TAIL_BYTES, prefixBytes: TAIL_BYTES },
    {
      onLine: (line) => onLine(Buffer.from(line).toString()),
      onLongLine: (prefix) => onLine(`${Buffer.from(prefix).toString()} …`),
    },
  );
  stderr.on('data', (chunk: Buffer) => {
    lines.push(chunk);
    chunks.push(chunk);
    length += chunk.length;
    if (length < 4 * TAIL_BYTES) return;
    chunks = [Buffer.concat(chunks).subarray(-TAIL_BYTES)];
    length = TAIL_BYTES;
  });
  stderr.on('error', () => {});
  stderr.once('close', () => lines.end());
  return () => Buffer.concat(chunks).subarray(-TAIL_BYTES).toString();
}

const TAIL_BYTES = 64 * 1024;

/** The error with the last non-empty line of stderr in its message and all of it in `details.stderr`. */
export function withStderr(error: RuntimeError, stderr: string): RuntimeError {
  if (stderr === '') return error;
  const line = lastLineOf(stderr);
  const message = line === '' ? error.message : `${error.message}: ${line}`;
  const { code, hint, details, cause } = error;
  return new RuntimeError(code, message, { hint, details: { ...details, stderr }, cause });
}

/** The last line that is not blank, at most 500 characters of it; empty if there is none. */
export function lastLineOf(stderr: string): string {
  const line = stderr.trimEnd().split('\n').at(-1)?.trim() ?? '';
  // By code points: half of a surrogate pair is no character.
  return line.length > MESSAGE_CHARACTERS ? Array.from(line).slice(0, MESSAGE_CHARACTERS).join('') : line;
}

const MESSAGE_CHARACTERS = 500;
