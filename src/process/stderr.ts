import { RuntimeError } from '../base/errors.ts';
import { crashLineOf } from '../base/text/crash-line.ts';
import { createTranscoder } from '../base/text/encoding/utf16.ts';
import type { Scrubber } from '../contract/scrub.ts';
import { countNewlines, KeptEnd } from './kept-end.ts';
import { createStderrLines, type StderrListener } from './stderr-lines.ts';

/** How a process's stderr is emitted line by line. */
export interface StderrOptions extends Partial<StderrListener> {
  /** For a server: the line limits start anew after this time; default: never. */
  readonly windowMs?: number;
  /** Takes secrets out before anything is truncated. */
  readonly scrubber?: Scrubber | undefined;
}

/** Takes what a process writes to its stderr. */
export interface StderrReader {
  push(chunk: Buffer): void;
  /** Nothing more comes. */
  end(): void;
  /** The last 64 KiB so far. */
  tail(): string;
}

/** Emits the first and the last lines of a process's stderr, and keeps the end of it. */
export function createStderrReader(
  onLine: (line: string) => void,
  { onOmitted = () => {}, windowMs = Number.POSITIVE_INFINITY, scrubber }: StderrOptions = {},
): StderrReader {
  // Most processes write nothing there, so nothing is made ready for it.
  let reader: StderrReader | undefined;
  return {
    push: (chunk) => {
      reader ??= openReader({ onLine, onOmitted }, { windowMs, scrubber });
      reader.push(chunk);
    },
    end: () => reader?.end(),
    tail: () => reader?.tail() ?? '',
  };
}

function openReader(
  listener: StderrListener,
  { windowMs, scrubber }: Pick<StderrOptions, 'scrubber'> & { readonly windowMs: number },
): StderrReader {
  let chunks: Buffer[] = [];
  let length = 0;
  const transcoder = createTranscoder();
  let scrubbing = scrubber && scrubBytes(scrubber);
  /** What came while lines are left out: it is scrubbed when somebody wants to see its end. */
  const flood = new KeptEnd(END_BYTES + (scrubber === undefined ? 0 : UNSURE_BYTES));
  const take = (chunk: Buffer) => {
    lines.push(chunk);
    chunks.push(chunk);
    length += chunk.length;
    if (length < 4 * TAIL_BYTES) return;
    chunks = [Buffer.concat(chunks).subarray(-TAIL_BYTES)];
    length = TAIL_BYTES;
  };
  const scrub = (chunk: Buffer) => scrubbing?.push(chunk) ?? chunk;
  const skip = (text: Buffer) => lines.skip({ lines: countNewlines(text), bytes: text.length });
  const takeFlood = () => {
    const { end, dropped } = flood.take();
    if (end.length === 0) return;
    if (dropped.bytes === 0) return take(scrub(end));
    chunks = [];
    length = 0;
    skip(scrubbing?.rest() ?? emptyBuffer);
    lines.skip(dropped);
    scrubbing = scrubber && scrubBytes(scrubber);
    const unsure = scrubbing === undefined ? emptyBuffer : end.subarray(0, -END_BYTES);
    skip(scrub(unsure));
    take(scrub(end.subarray(unsure.length)));
  };
  const lines = createStderrLines(
    { lines: MAX_LINES, bytes: TAIL_BYTES, windowMs },
    { ...listener, onWindowEnd: takeFlood },
  );
  return {
    push: (chunk) => {
      const text = transcoder.push(chunk);
      if (lines.isOmitting) flood.push(text);
      else take(scrub(text));
    },
    end: () => {
      takeFlood();
      take(scrub(transcoder.end()));
      if (scrubbing !== undefined) take(scrubbing.rest());
      scrubbing = undefined;
      lines.end();
    },
    tail: () => {
      takeFlood();
      return tailOf(Buffer.concat(scrubbing === undefined ? chunks : [...chunks, scrubbing.rest()]));
    },
  };
}

/**
 * Of a text that begins anywhere, the beginning may be the end of a secret. No secret is longer than this, however it is
 * spelt: a variable has at most 128 KiB (MAX_ARG_STRLEN in linux/binfmts.h), of which each byte may be written as three.
 */
const UNSURE_BYTES = 512 * 1024;

const emptyBuffer = Buffer.alloc(0);

/** Takes secrets out of a stream of bytes; bytes that are not UTF-8 become U+FFFD. */
function scrubBytes(scrubber: Scrubber) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const stream = scrubber.stream();
  return {
    push: (chunk: Buffer) => Buffer.from(stream.push(decoder.decode(chunk, { stream: true }))),
    rest: () => Buffer.from(stream.rest()),
  };
}

/** The last of it, from the first whole character on. */
function tailOf(bytes: Buffer): string {
  let start = Math.max(0, bytes.length - TAIL_BYTES);
  // Source: RFC 3629, section 3: these continue a character, and there are at most three.
  for (let most = start === 0 ? 0 : start + 3; start < most && ((bytes[start] ?? 0) & 0xc0) === 0x80; )
    start += 1;
  return bytes.toString('utf8', start);
}

const MAX_LINES = 500;
const TAIL_BYTES = 64 * 1024;
/** As much of a flood as may be shown: hidden secrets make it shorter. */
const END_BYTES = 2 * TAIL_BYTES;

/** The error with the last non-empty line of stderr in its message and all of it in `details.stderr`. */
export function withStderr(error: RuntimeError, stderr: string): RuntimeError {
  if (stderr === '') return error;
  const line = crashLineOf(stderr);
  const message = line === '' ? error.message : `${error.message}: ${line}`;
  const { code, hint, details, cause } = error;
  return new RuntimeError(code, message, { hint, details: { ...details, stderr }, cause });
}
