import { lastLineOf } from './phrases.ts';

/**
 * The stderr line that says why a program ended: a runtime's report of an uncaught error, else the last line that is
 * not a stack frame or banner. At most 500 characters; empty if there is none.
 */
export function crashLineOf(stderr: string): string {
  const lines = stderr.replaceAll(colours, '').trimEnd().split('\n').map(trimReturn);
  const last = lines.findLastIndex((line) => !isNoise(line));
  // A program that wrote many lines after an error did not end because of it.
  const found = reports
    .flatMap((find) => find(lines) ?? [])
    .filter(({ at }) => last - at <= MOST_LINES_AFTER)
    .sort((one, other) => other.at - one.at);
  return lastLineOf((found[0] ?? findAboveFrames(lines))?.line ?? lines[last] ?? stderr);
}

const MOST_LINES_AFTER = 20;

interface Found {
  readonly at: number;
  readonly line: string;
}

type Lines = readonly string[];

/** How runtimes report an uncaught error. Each function finds the latest report. */
const reports: readonly ((lines: Lines) => Found | undefined)[] = [
  // Node and Bun: the source line, a caret below it, the error, its frames, and the version.
  (lines) => {
    const end = lines.findLastIndex((line) => /^(?:Node\.js|Bun) v\d/.test(line));
    const caret = end === -1 ? -1 : lines.slice(0, end).findLastIndex((line) => /^\s*\^+$/.test(line));
    const isError = (line: string) => /^(?:error|(?:Uncaught )?[\w$.]*(?:Error|Exception)\b.*?): /.test(line);
    const start = caret === -1 ? lines.slice(0, Math.max(0, end)).findIndex(isError) - 1 : caret;
    return start < -1 || end === -1 ? undefined : nextText(lines.slice(0, end), start);
  },
  // Python: frames are indented, the error is not.
  (lines) => {
    const start = lines.findLastIndex(
      (line, at) =>
        line.startsWith('Traceback (most recent') && !/^Exception ignored /.test(lines[at - 1] ?? ''),
    );
    return start === -1 ? undefined : nextText(lines, start, (line) => /^\S/.test(line));
  },
  // Python: the last member of an error group.
  (lines) => {
    const end = lines.findLastIndex((line) => /^\s*\+-{10,}$/.test(line));
    const at = lines
      .slice(0, Math.max(0, end))
      .findLastIndex((line) => /^\s+\| [A-Za-z][\w.]*(?::|$)/.test(line));
    return at === -1 ? undefined : { at, line: (lines[at] ?? '').replace(/^\s+\| /, '') };
  },
  // Go: the first of a chain of panics is the cause.
  (lines) => {
    if (!lines.some((line) => /^goroutine \d+.* \[/.test(line))) return undefined;
    return atLast(lines, (line) => /^(?:panic|fatal error): /.test(line));
  },
  // Rust: the message is below the location, or within that line up to version 1.72.
  (lines) => {
    const head = atLast(lines, (line) => /^thread '.*' .*panicked at /.test(line));
    const [, old] = /panicked at '(.*)', \S+:\d+:\d+$/.exec(head?.line ?? '') ?? [];
    if (head === undefined) return undefined;
    return old === undefined ? nextText(lines, head.at) : { at: head.at, line: old };
  },
  // Ruby: causes follow, each with its own frames.
  (lines) => {
    const isHead = (line: string | undefined) => /^\S.*:\d+:in [`'].*': /.test(line ?? '');
    const isFrame = (line: string | undefined) => /^\s+(?:from |\d+: from )/.test(line ?? '');
    let at = lines.findLastIndex((line) => isHead(line));
    for (let above = at - 1; above >= 0 && (isHead(lines[above]) || isFrame(lines[above])); above -= 1)
      if (isHead(lines[above])) at = above;
    return at === -1 ? undefined : { at, line: lines[at] ?? '' };
  },
  // Perl: the first of several compilation errors.
  (lines) => {
    let at = lines.findLastIndex((line) =>
      /^(?:BEGIN failed--|Execution of .* aborted due to|.* had compilation errors)/.test(line),
    );
    if (at === -1) return undefined;
    while (/ at \S+ line \d+[.,]/.test(lines[at - 1] ?? '')) at -= 1;
    return { at, line: lines[at] ?? '' };
  },
  // Java, Deno, the heaps of Node and others: one line with a unique beginning.
  (lines) => atLast(lines, (line) => headline.test(line)),
];

const headline =
  /^(?:Exception in thread "|error: Uncaught |FATAL ERROR: |Fatal Python error: |Unhandled exception|PHP (?:Fatal|Parse) error: |Error: Could not find or load main class )/;

const error = /^(?:Uncaught )?[\w$.]*(?:Error|Exception|Throwable)\b/;

function findAboveFrames(lines: Lines): Found | undefined {
  const frame = lines.findLastIndex((line) => /^\s+at .*[\w)>{]$/.test(line));
  const isOther = (line: string) => !isNoise(line) && !/^\s|^\}$/.test(line);
  if (frame === -1 || lines.slice(frame + 1).some(isOther)) return undefined;
  let at = frame;
  while (at > 0 && /^\s+at |^\s*\.\.\. \d+ |^Caused by: |^\s*$/.test(lines[at] ?? '')) at -= 1;
  const first = Math.max(0, at - MOST_LINES_AFTER);
  const head = lines.slice(first, at + 1).findLastIndex((line) => error.test(line));
  const place = head === -1 ? at : first + head;
  return { at: place, line: lines[place] ?? '' };
}

function nextText(
  lines: Lines,
  start: number,
  holds: (line: string) => boolean = () => true,
): Found | undefined {
  const at = lines.findIndex((line, index) => index > start && line.trim() !== '' && holds(line));
  return at === -1 ? undefined : { at, line: lines[at] ?? '' };
}

function atLast(lines: Lines, holds: (line: string) => boolean): Found | undefined {
  const at = lines.findLastIndex(holds);
  return at === -1 ? undefined : { at, line: lines[at] ?? '' };
}

function isNoise(line: string): boolean {
  return line.trim() === '' || noise.some((pattern) => pattern.test(line));
}

const noise = [
  /^\s+at /,
  /^\s*\.\.\. \d+ (?:more|common frames)/,
  /^Caused by: /,
  /^\s+(?:from |\d+: from )/,
  /^\s+\S.* called at .* line \d+\.?$/,
  /^\t\S+:\d+ \+0x/,
  /^(?:goroutine \d+|created by |exit status \d)/,
  /^[\w./*()[\]{}-]+\(.*\)$/,
  /^stack backtrace:$|^\s+\d+: |^note: /,
  /^(?:Node\.js|Bun) v\d/,
  /^(?:BEGIN failed--|Execution of .* aborted due to)/,
  /^(?:Try|Use) '.*(?:--help|-h)'|^\(Use `/,
  /^npm (?:error|ERR!)/,
  /^\s*\^+$/,
];

// biome-ignore lint/suspicious/noControlCharactersInRegex: what colours a line begins with this character.
const colours = /\u001b\[[\d;]*m/g;

function trimReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
