import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { styleText } from 'node:util';
import type { Fault } from '../base/errors.ts';
import { type OutputSink, openOutputSink } from '../base/files/output-sink.ts';
import { stringifyJson } from '../base/json/json.ts';
import { escapeCommands } from '../base/text/escape-commands.ts';
import { escapeControls, escapeInvisible, escapeInvisibleLine } from '../base/text/escape-invisible.ts';
import type { Invocation, OutputStream } from './invocation.ts';
import { withCommandName } from './next-command.ts';
import { formatColumns } from './show/columns.ts';

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** stderr, for what draws on it. */
interface StderrSink extends OutputSink {
  readonly isTTY: boolean;
  readonly columns: number;
}

/** Where a command writes, and whether a person is looking. */
export interface Terminal {
  /** Colours on stdout: a terminal, and neither NO_COLOR nor --no-color. */
  readonly hasColour: boolean;
  /** Colours on stderr, likewise. */
  readonly hasErrorColour: boolean;
  /** stdout, for what waits for its reader. */
  readonly stdout: StdoutSink;
  readonly stderr: StderrSink;
  /** stdout, whole lines. What a terminal or the log of a CI would obey, or nobody sees, is escaped, but for our styles, as in all for people. */
  print(text: string): void;
  /** The same, waiting for a reader that is slow. */
  printNext(text: string): Promise<void>;
  /** A document as `printJson` writes it. */
  jsonText(document: unknown): string;
  /** stdout, rows as aligned columns. */
  printColumns(rows: readonly (readonly string[])[]): void;
  /** The same under a line with the names of the columns. */
  printTable(names: readonly string[], rows: readonly (readonly string[])[]): void;
  /**
   * stdout, a value and a newline: unchanged in a pipe, on a terminal with invisible characters escaped.
   */
  printValue(text: string): void;
  /** stdout, exactly one JSON document, long numbers as they were. */
  printJson(document: unknown): void;
  /** stderr, whole lines; commands in them are as `nameCommands` writes them. */
  printStderr(text: string): void;
  /** The text with its quoted commands as the user's shell takes them: with `npx` where PATH lacks this program. */
  nameCommands(text: string): string;
  /** stderr, what a process has printed in place of a reply, and the hint of the fault, if it has one. */
  printHint(fault: Pick<Fault, 'hint' | 'details'> | undefined): void;
  /** stderr, without an end of line. */
  writeStderr(text: string): void;
  /** The text in that style, where stdout shows styles. */
  styleStdout(style: Style, text: string): string;
  /** The text in that style, where stderr shows styles. */
  styleStderr(style: Style, text: string): string;
}

/** The terminal of an invocation; `colour` is false after --no-color. */
export function openTerminal(invocation: Invocation, colour: boolean): Terminal {
  const { stdout, env } = invocation;
  const isWanted = colour && (env['NO_COLOR'] ?? '') === '';
  const isTTY = stdout.isTTY === true;
  const stderr = openStderrSink(invocation.stderr);
  const hasColour = isWanted && isTTY;
  const hasErrorColour = isWanted && stderr.isTTY;
  const sink = openStdoutSink(hasColour, stdout);
  const styler = (isShown: boolean) => (style: Style, text: string) =>
    isShown ? styleText(style, text, { validateStream: false }) : text;
  const styleStdout = styler(hasColour);
  const printRaw = (text: string) => {
    stdout.write(`${text}\n`);
  };
  const jsonText = (document: unknown) => {
    const text = stringifyJson(document);
    return isTTY ? escapeControls(text) : text;
  };
  const print = (text: string) => printRaw(escapeForReader(text, hasColour));
  const nameCommands = (text: string) => withCommandName(text, env);
  const writeStderr = (text: string) => stderr.write(escapeForReader(nameCommands(text), hasErrorColour));
  const printStderr = (text: string) => writeStderr(`${text}\n`);
  return {
    hasColour,
    hasErrorColour,
    stdout: sink,
    stderr,
    print,
    printColumns: (rows) => print(formatColumns(rows, sink.columns)),
    printTable: (names, rows) => {
      const header = names.map((name) => name.toUpperCase());
      const [first = '', ...lines] = formatColumns([header, ...rows], sink.columns).split('\n');
      print([styleStdout('bold', first), ...lines].join('\n'));
    },
    printValue: (text) => printRaw(isTTY ? escapeInvisible(text) : text),
    printNext: (text) => sink.write(`${escapeForReader(text, hasColour)}\n`),
    jsonText,
    printJson: (document) => printRaw(jsonText(document)),
    printStderr,
    nameCommands,
    printHint: (fault) => {
      const printed = fault?.details?.['text'];
      if (typeof printed === 'string')
        printStderr(`it printed: ${escapeInvisibleLine(printed.slice(0, 200))}`);
      if (fault !== undefined && fault.hint !== '') printStderr(`hint: ${fault.hint}`);
    },
    writeStderr,
    styleStdout,
    styleStderr: styler(hasErrorColour),
  };
}

/** The code of a fault, to stand before its message. */
export function codeText(fault: Pick<Fault, 'code'> | undefined): string {
  return fault === undefined ? '' : `[${fault.code}] `;
}

/** What was called, to stand before a message that does not name it. */
export function nameText(kind: 'tool' | 'eval', name: string, message: string): string {
  return message.includes(`"${name}"`) ? '' : `${kind} "${escapeInvisibleLine(name)}": `;
}

/** Texts of others stand in nearly all that is shown: names, reasons, paths, messages of the system. */
function escapeForReader(text: string, hasStyles: boolean): string {
  return escapeAllButStyles(escapeCommands(text), hasStyles);
}

/** Writes through the sink of the log, so that both stay in order. */
function openStderrSink(stderr: OutputStream): StderrSink {
  const { fd } = stderr;
  return {
    isTTY: stderr.isTTY === true,
    get columns(): number {
      return stderr.columns ?? 0;
    },
    write: (text) => {
      if (fd === undefined) stderr.write(text);
      else openOutputSink(fd).write(text);
    },
  };
}

/** Whether stdout could be written. */
interface StdoutWatch {
  /** Waits until everything is written or refused; true for a refusal other than EPIPE. */
  hasFailed(): Promise<boolean>;
}

/** Ignores EPIPE on stdout; prints any other write error. */
export function watchStdout(invocation: Invocation): StdoutWatch {
  const { stdout } = invocation;
  let hasFailed = false;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    hasFailed = true;
    openTerminal(invocation, false).printStderr(`error: stdout cannot be written (${error.message})`);
  });
  return {
    hasFailed: async () => {
      // A stream reports one turn later what became of a write.
      await nextTurn();
      if (stdout.writableLength > 0) await new Promise((resolve) => stdout.write('', resolve));
      return hasFailed;
    },
  };
}

/** Stdout as the sink of reports without a file, with back-pressure. */
interface StdoutSink {
  readonly hasColour: boolean;
  /** Undefined where no terminal is, or one that does not know its width. */
  readonly columns: number | undefined;
  /**
   * Resolves when more may be written. In a file or a pipe the text is written as it is. On a terminal, control and invisible
   * characters are escaped, except our own styles.
   */
  write(text: string): Promise<void>;
}

export function openStdoutSink(hasColour: boolean, stdout: OutputStream): StdoutSink {
  const isTTY = stdout.isTTY === true;
  return {
    hasColour,
    columns: isTTY && (stdout.columns ?? 0) >= minColumns ? stdout.columns : undefined,
    write: async (text) => {
      // A terminal would obey control characters that a spreadsheet or a parser only shows.
      const shown = isTTY ? escapeAllButStyles(text.replaceAll('\r\n', '\n'), hasColour) : text;
      if (stdout.destroyed || stdout.write(shown)) return;
      // The reader may close the pipe before it is drained.
      await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => {});
    },
  };
}

/** A pseudo-terminal without a width reports fewer columns. */
const minColumns = 20;

/** The text with control and invisible characters escaped; `hasStyles` keeps the styles that we write. */
function escapeAllButStyles(text: string, hasStyles: boolean): string {
  if (!hasStyles) return escapeInvisible(text);
  // Every second part is a style.
  return text
    .split(ownStyle)
    .map((part, index) => (index % 2 === 0 ? escapeInvisible(part) : part))
    .join('');
}

/** What `styleText` writes of the styles that we use. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a style begins with one.
const ownStyle = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/;
