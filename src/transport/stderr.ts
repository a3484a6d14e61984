import type { Readable } from 'node:stream';
import { noScrub, type Scrubber } from '../contract/scrub.ts';
import { RuntimeError } from '../errors.ts';
import { createStderrLines, type StderrListener } from './stderr-lines.ts';
import { createTranscoder } from './utf16.ts';

/** What of a process's stderr is told line by line. */
export interface Telling extends Partial<StderrListener> {
  /** A process that answers one request says it once; one that lives on begins anew after so long. */
  readonly windowMs?: number;
  /** What is said passes it before anything is cut. */
  readonly scrubber?: Scrubber | undefined;
}

/**
 * Drains a process's stderr as fast as it is written, tells its first and last lines, and returns a function that gives
 * the last 64 KiB of it.
 */
export function watchStderr(
  stderr: Readable,
  onLine: (line: string) => void,
  { onOmitted = () => {}, windowMs = Number.POSITIVE_INFINITY, scrubber = noScrub }: Telling = {},
): () => string {
  let chunks: Buffer[] = [];
  let length = 0;
  const lines = createStderrLines({ lines: MOST_LINES, bytes: TAIL_BYTES, windowMs }, { onLine, onOmitted });
  const transcoder = createTranscoder();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const clean = scrubber.stream();
  const take = (text: string) => {
    if (text === '') return;
    const chunk = Buffer.from(text);
    lines.push(chunk);
    chunks.push(chunk);
    length += chunk.length;
    if (length < 4 * TAIL_BYTES) return;
    chunks = [Buffer.concat(chunks).subarray(-TAIL_BYTES)];
    length = TAIL_BYTES;
  };
  stderr.on('data', (chunk: Buffer) => take(clean.push(decoder.decode(transcoder.push(chunk), { stream: true }))));
  stderr.on('error', () => {});
  let isOver = false;
  stderr.once('close', () => {
    isOver = true;
    take(clean.push(decoder.decode(transcoder.end())));
    take(clean.rest());
    lines.end();
  });
  return () => tailOf(Buffer.concat([...chunks, Buffer.from(isOver ? '' : clean.rest())]));
}

/** The last of it, from the first whole character on. */
function tailOf(bytes: Buffer): string {
  let start = Math.max(0, bytes.length - TAIL_BYTES);
  // Source: RFC 3629, section 3: these continue a character, and there are at most three.
  for (let most = start === 0 ? 0 : start + 3; start < most && ((bytes[start] ?? 0) & 0xc0) === 0x80; )
    start += 1;
  return bytes.toString('utf8', start);
}

const MOST_LINES = 500;
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
