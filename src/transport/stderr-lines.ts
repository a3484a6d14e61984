import { OmittedText } from './server/omitted-text.ts';

/** Told of what a process says on stderr, as far as that goes into a log. */
export interface StderrListener {
  onLine(line: string): void;
  /** So much was left out at this place. */
  onOmitted(omitted: { readonly lines: number; readonly bytes: number }): void;
}

/** How many lines, and bytes of them, are told at the beginning, and again at the end. */
export interface StderrLimits {
  readonly lines: number;
  readonly bytes: number;
  /** After that time there is a new beginning; infinite: all of it is one. */
  readonly windowMs: number;
}

export interface StderrLines {
  push(chunk: Buffer): void;
  /** Nothing more comes. */
  end(): void;
}

/**
 * Cuts stderr into lines and tells the first and the last of them, and how much lay between, so that a flood costs
 * little more than its reading. A line that is longer than all that may be told is told as far as that goes.
 */
export function createStderrLines(limits: StderrLimits, listener: StderrListener): StderrLines {
  /** The line that has not ended yet. */
  let held: Buffer[] = [];
  let heldBytes = 0;
  let left = { lines: limits.lines, bytes: limits.bytes };
  let openedAt = performance.now();
  let omitted: OmittedText | undefined;
  let timer: NodeJS.Timeout | undefined;

  const omit = (isInsideLine: boolean) => {
    omitted = new OmittedText(limits.bytes, isInsideLine);
    if (!Number.isFinite(limits.windowMs)) return;
    timer = setTimeout(openWindow, Math.max(0, openedAt + limits.windowMs - performance.now())).unref();
  };
  const takeHeld = (end: Buffer = nothing): Buffer => {
    const line = heldBytes === 0 ? end : Buffer.concat([...held, end]);
    held = [];
    heldBytes = 0;
    return line;
  };
  const tell = (line: Buffer) => {
    listener.onLine(decode(line));
    left = { lines: left.lines - 1, bytes: left.bytes - line.length };
    if (left.lines <= 0 || left.bytes <= 0) omit(false);
  };
  const hold = (part: Buffer) => {
    held.push(part);
    heldBytes += part.length;
    if (heldBytes <= limits.bytes) return;
    const line = takeHeld();
    listener.onLine(`${decode(line.subarray(0, limits.bytes))} …`);
    omit(true);
    omitted?.push(line.subarray(limits.bytes));
  };
  const tellOmitted = (isEnd: boolean): Buffer => {
    if (omitted === undefined) return nothing;
    const { lines, count, rest } = omitted.close(limits.lines, isEnd);
    omitted = undefined;
    if (count.bytes > 0) listener.onOmitted(count);
    for (const line of lines) listener.onLine(decode(line));
    return rest;
  };
  const openWindow = () => {
    clearTimeout(timer);
    left = { lines: limits.lines, bytes: limits.bytes };
    openedAt = performance.now();
    const rest = tellOmitted(false);
    if (rest.length > 0) hold(rest);
  };

  return {
    push: (chunk) => {
      if (performance.now() - openedAt >= limits.windowMs) openWindow();
      let start = 0;
      while (omitted === undefined) {
        const end = chunk.indexOf('\n', start);
        if (end === -1) {
          if (start < chunk.length) hold(chunk.subarray(start));
          return;
        }
        tell(takeHeld(chunk.subarray(start, end)));
        start = end + 1;
      }
      omitted.push(chunk.subarray(start));
    },
    end: () => {
      clearTimeout(timer);
      if (heldBytes > 0) tell(takeHeld());
      tellOmitted(true);
    },
  };
}

const nothing = Buffer.alloc(0);

/** The text of a line, or of the beginning of one; what it was cut inside of is left out. */
function decode(line: Buffer): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(line, { stream: true });
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
