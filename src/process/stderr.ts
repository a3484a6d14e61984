import { RuntimeError } from '../base/errors.ts';
import { crashLineOf } from '../base/text/crash-line.ts';
import { createTranscoder } from '../base/text/encoding/utf16.ts';
import type { Scrubber } from '../contract/scrub.ts';

interface StderrOptions extends Partial<StderrListener> {
  /** For a server: the line limits reset after this time; default: never. */
  readonly windowMs?: number;
  readonly scrubber?: Scrubber | undefined;
}

interface StderrReader {
  push(chunk: Buffer): void;
  end(): void;
  tail(): string;
}

export function createStderrReader(
  onLine: (line: string) => void,
  { onOmitted = () => {}, windowMs = Number.POSITIVE_INFINITY, scrubber }: StderrOptions = {},
): StderrReader {
  // Created on demand, since most processes write nothing to stderr.
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
 * A cut text may begin inside a secret. A variable has at most 128 KiB (MAX_ARG_STRLEN in linux/binfmts.h), of which
 * each byte may take three.
 */
const UNSURE_BYTES = 512 * 1024;

const emptyBuffer = Buffer.alloc(0);

/** Removes secrets from a byte stream. Bytes that are not UTF-8 become U+FFFD. */
function scrubBytes(scrubber: Scrubber) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const stream = scrubber.stream();
  return {
    push: (chunk: Buffer) => Buffer.from(stream.push(decoder.decode(chunk, { stream: true }))),
    rest: () => Buffer.from(stream.rest()),
  };
}

function tailOf(bytes: Buffer): string {
  let start = Math.max(0, bytes.length - TAIL_BYTES);
  // Source: RFC 3629, section 3: a character has at most three continuation bytes.
  for (let most = start === 0 ? 0 : start + 3; start < most && ((bytes[start] ?? 0) & 0xc0) === 0x80; )
    start += 1;
  return bytes.toString('utf8', start);
}

const MAX_LINES = 500;
const TAIL_BYTES = 64 * 1024;
const END_BYTES = 2 * TAIL_BYTES;

/** Adds the last non-empty line to the message and all of stderr to `details.stderr`. */
export function withStderr(error: RuntimeError, stderr: string): RuntimeError {
  if (stderr === '') return error;
  const line = crashLineOf(stderr);
  const message = line === '' ? error.message : `${error.message}: ${line}`;
  const { code, hint, details, cause } = error;
  return new RuntimeError(code, message, { hint, details: { ...details, stderr }, cause });
}

interface StderrListener {
  onLine(line: string): void;
  onOmitted(omitted: LeftOut): void;
  onWindowEnd?(): void;
}

interface StderrLimits {
  readonly lines: number;
  readonly bytes: number;
  readonly windowMs: number;
}

interface StderrLines {
  readonly isOmitting: boolean;
  push(chunk: Buffer): void;
  skip(leftOut: LeftOut): void;
  end(): void;
}

/** Emits the first and last lines and the count between. Truncates longer lines to the byte limit. */
export function createStderrLines(limits: StderrLimits, listener: StderrListener): StderrLines {
  let partial: Buffer[] = [];
  let partialBytes = 0;
  let remaining = { lines: limits.lines, bytes: limits.bytes };
  let openedAt = performance.now();
  let omitted: OmittedText | undefined;
  let timer: NodeJS.Timeout | undefined;

  const omit = (isInsideLine: boolean) => {
    omitted = new OmittedText(limits.bytes, isInsideLine);
    if (!Number.isFinite(limits.windowMs)) return;
    timer = setTimeout(openWindow, Math.max(0, openedAt + limits.windowMs - performance.now())).unref();
  };
  const takePartial = (end: Buffer = emptyBuffer): Buffer => {
    const line = partialBytes === 0 ? end : Buffer.concat([...partial, end]);
    partial = [];
    partialBytes = 0;
    return line;
  };
  const emitLine = (line: Buffer) => {
    listener.onLine(decode(line));
    remaining = { lines: remaining.lines - 1, bytes: remaining.bytes - line.length };
    if (remaining.lines <= 0 || remaining.bytes <= 0) omit(false);
  };
  const addPartial = (part: Buffer) => {
    partial.push(part);
    partialBytes += part.length;
    if (partialBytes <= limits.bytes) return;
    const line = takePartial();
    listener.onLine(`${decode(line.subarray(0, limits.bytes))} …`);
    omit(true);
    omitted?.push(line.subarray(limits.bytes));
  };
  const emitOmitted = (isEnd: boolean): Buffer => {
    if (omitted === undefined) return emptyBuffer;
    const { lines, count, rest } = omitted.close(limits.lines, isEnd);
    omitted = undefined;
    if (count.bytes > 0) listener.onOmitted(count);
    for (const line of lines) listener.onLine(decode(line));
    return rest;
  };
  const openWindow = () => {
    clearTimeout(timer);
    remaining = { lines: limits.lines, bytes: limits.bytes };
    openedAt = performance.now();
    listener.onWindowEnd?.();
    const rest = emitOmitted(false);
    if (rest.length > 0) addPartial(rest);
  };

  return {
    get isOmitting() {
      return omitted !== undefined;
    },
    skip: (leftOut) => omitted?.skip(leftOut),
    push: (chunk) => {
      if (performance.now() - openedAt >= limits.windowMs) openWindow();
      let start = 0;
      while (omitted === undefined) {
        const end = chunk.indexOf('\n', start);
        if (end === -1) {
          if (start < chunk.length) addPartial(chunk.subarray(start));
          return;
        }
        emitLine(takePartial(chunk.subarray(start, end)));
        start = end + 1;
      }
      omitted.push(chunk.subarray(start));
    },
    end: () => {
      clearTimeout(timer);
      if (partialBytes > 0) emitLine(takePartial());
      emitOmitted(true);
    },
  };
}

/** Omits a character that was cut. */
function decode(line: Buffer): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(line, { stream: true });
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

interface Omission {
  readonly lines: readonly Buffer[];
  readonly count: LeftOut;
  readonly rest: Buffer;
}

class OmittedText {
  readonly #keepBytes: number;
  #isTorn: boolean;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #lines = 0;
  #bytes = 0;

  constructor(keepBytes: number, isTorn: boolean) {
    this.#keepBytes = keepBytes;
    this.#isTorn = isTorn;
  }

  push(chunk: Buffer): void {
    this.#lines += countNewlines(chunk);
    this.#bytes += chunk.length;
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    if (this.#keptBytes >= 4 * this.#keepBytes) this.#cut();
  }

  skip({ lines, bytes }: LeftOut): void {
    this.#lines += lines;
    this.#bytes += bytes;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#isTorn = true;
  }

  close(maxLines: number, isEnd: boolean): Omission {
    this.#cut();
    const [kept = emptyBuffer] = this.#kept;
    const begin = this.#isTorn ? kept.indexOf(NEWLINE) + 1 || kept.length : 0;
    const lines: Buffer[] = [];
    let start = begin;
    for (let end = kept.indexOf(NEWLINE, start); end !== -1; end = kept.indexOf(NEWLINE, start)) {
      lines.push(kept.subarray(start, end));
      start = end + 1;
    }
    const rest = kept.subarray(start);
    const hasLast = isEnd && rest.length > 0;
    const shown = (hasLast ? [...lines, rest] : lines).slice(-maxLines);
    // Every line but the last has a newline.
    const shownBytes = shown.reduce((sum, line) => sum + line.length + 1, hasLast ? -1 : 0);
    return {
      lines: shown,
      count: {
        lines: this.#lines - shown.length + (hasLast ? 1 : 0),
        bytes: this.#bytes - shownBytes - (isEnd ? 0 : rest.length),
      },
      rest: isEnd ? emptyBuffer : rest,
    };
  }

  #cut(): void {
    const all = Buffer.concat(this.#kept);
    const kept = all.subarray(-this.#keepBytes);
    if (kept.length < all.length) this.#isTorn = true;
    // A copy, so that the rest can be collected.
    this.#kept = [Buffer.from(kept)];
    this.#keptBytes = kept.length;
  }
}

const NEWLINE = 0x0a;

interface LeftOut {
  readonly lines: number;
  readonly bytes: number;
}

/** Keeps the end of a text undecoded until it is read. */
class KeptEnd {
  readonly #keepBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #dropped = { lines: 0, bytes: 0 };

  constructor(keepBytes: number) {
    this.#keepBytes = keepBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    for (;;) {
      const [first] = this.#chunks;
      if (first === undefined || this.#bytes - first.length < this.#keepBytes) return;
      this.#chunks.shift();
      this.#bytes -= first.length;
      this.#dropped.lines += countNewlines(first);
      this.#dropped.bytes += first.length;
    }
  }

  take(): { readonly end: Buffer; readonly dropped: LeftOut } {
    const taken = { end: Buffer.concat(this.#chunks), dropped: this.#dropped };
    this.#chunks = [];
    this.#bytes = 0;
    this.#dropped = { lines: 0, bytes: 0 };
    return taken;
  }
}

function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  // Faster than indexOf for short lines, and fast enough for long ones.
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === NEWLINE) count += 1;
  return count;
}
