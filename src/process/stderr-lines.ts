import type { LeftOut } from './kept-end.ts';
import { OmittedText } from './omitted-text.ts';

/** Receives the lines of a process's stderr that go into the log. */
export interface StderrListener {
  onLine(line: string): void;
  /** Called with how much was left out at this point. */
  onOmitted(omitted: LeftOut): void;
  /** Called before the last lines of what was left out are emitted, so that these are pushed that are not yet. */
  onWindowEnd?(): void;
}

/** How many lines, and bytes of them, are emitted at the beginning, and again at the end. */
export interface StderrLimits {
  readonly lines: number;
  readonly bytes: number;
  /** The limits start anew after this time; infinite: they hold for the whole stream. */
  readonly windowMs: number;
}

export interface StderrLines {
  /** Whether what comes now is only counted, but for its end. */
  readonly isOmitting: boolean;
  push(chunk: Buffer): void;
  /** Counts what was not even pushed, while `isOmitting`. */
  skip(leftOut: LeftOut): void;
  /** Nothing more comes. */
  end(): void;
}

/**
 * Cuts stderr into lines and emits the first and the last of them, and how much lay between, so that a flood
 * costs little more than its reading. A line over the byte limit is truncated to it.
 */
export function createStderrLines(limits: StderrLimits, listener: StderrListener): StderrLines {
  /** The line that has not ended yet. */
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

const emptyBuffer = Buffer.alloc(0);

/** The text of a line or of its beginning; a character that was cut in two is left out. */
function decode(line: Buffer): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(line, { stream: true });
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
