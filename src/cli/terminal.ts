import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { styleText } from 'node:util';
import { type Fault, pageOf } from '../base/errors.ts';
import { type OutputSink, openOutputSink } from '../base/files/output-sink.ts';
import { stringifyJson } from '../base/json/json.ts';
import { escapeCommands } from '../base/text/escape-commands.ts';
import { escapeControls, escapeInvisible, escapeInvisibleLine } from '../base/text/escape-invisible.ts';
import type { Invocation, OutputStream } from './invocation.ts';
import { withCommandName } from './next-command.ts';
import { formatColumns } from './show/columns.ts';

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

interface StderrSink extends OutputSink {
  readonly isTTY: boolean;
  readonly columns: number;
}

export interface Terminal {
  /** Whether stdout is a terminal and neither NO_COLOR nor --no-color is set. */
  readonly hasColour: boolean;
  readonly hasErrorColour: boolean;
  readonly stdout: StdoutSink;
  readonly stderr: StderrSink;
  /**
   * Prints whole lines on stdout. Escapes control characters, CI log commands and invisible characters, except
   * Signalbox's own styles; so does every method for people.
   */
  print(text: string): void;
  /** Like `print`, but waits for a slow reader. */
  printNext(text: string): Promise<void>;
  jsonText(document: unknown): string;
  printColumns(rows: readonly (readonly string[])[]): void;
  printTable(names: readonly string[], rows: readonly (readonly string[])[]): void;
  /** Prints a value and a newline on stdout; a terminal gets invisible characters escaped. */
  printValue(text: string): void;
  /** Prints exactly one JSON document on stdout, with long numbers intact. */
  printJson(document: unknown): void;
  /** Prints whole lines on stderr, with commands as in `nameCommands`. */
  printStderr(text: string): void;
  /** Adds `npx` to quoted commands if PATH lacks this program. */
  nameCommands(text: string): string;
  /** Prints on stderr the text that a process printed instead of a reply, and the fault's hint, if any. */
  printHint(fault: HintedFault | undefined): void;
  writeStderr(text: string): void;
  styleStdout(style: Style, text: string): string;
  styleStderr(style: Style, text: string): string;
}

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
        printStderr(`the process printed: ${escapeInvisibleLine(printed.slice(0, 200))}`);
      if (fault !== undefined && fault.hint !== '') printStderr(`hint: ${hintWithPage(fault)}`);
    },
    writeStderr,
    styleStdout,
    styleStderr: styler(hasErrorColour),
  };
}

type HintedFault = Pick<Fault, 'hint' | 'details'> & Partial<Pick<Fault, 'code'>>;

/** The hint, and the page of the error's code, unless the hint names a page. */
export function hintWithPage({ code, hint }: HintedFault): string {
  const page = code === undefined || hint.includes('docs/') ? undefined : pageOf(code);
  return page === undefined ? hint : `${hint} See ${page}.`;
}

export function codeText(fault: Pick<Fault, 'code'> | undefined): string {
  return fault === undefined ? '' : `[${fault.code}] `;
}

export function nameText(kind: 'tool' | 'eval', name: string, message: string): string {
  return message.includes(`"${name}"`) ? '' : `${kind} "${escapeInvisibleLine(name)}": `;
}

/** Most output contains foreign text: names, reasons, paths, system messages. */
function escapeForReader(text: string, hasStyles: boolean): string {
  return escapeAllButStyles(escapeCommands(text), hasStyles);
}

/** Uses the sink of the log, so that both stay in order. */
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

interface StdoutWatch {
  /** Waits until everything is written or refused; true for an error other than EPIPE. */
  hasFailed(): Promise<boolean>;
}

/** Ignores EPIPE on stdout and prints any other write error. */
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
      // A stream reports the result of a write one turn later.
      await nextTurn();
      if (stdout.writableLength > 0) await new Promise((resolve) => stdout.write('', resolve));
      return hasFailed;
    },
  };
}

/** Stdout for reports without a file, with back-pressure. */
interface StdoutSink {
  readonly hasColour: boolean;
  readonly columns: number | undefined;
  /**
   * Resolves when more may be written. Files and pipes get the text unchanged. A terminal gets control and invisible
   * characters escaped, except Signalbox's own styles.
   */
  write(text: string): Promise<void>;
}

export function openStdoutSink(hasColour: boolean, stdout: OutputStream): StdoutSink {
  const isTTY = stdout.isTTY === true;
  return {
    hasColour,
    columns: isTTY && (stdout.columns ?? 0) >= minColumns ? stdout.columns : undefined,
    write: async (text) => {
      // A terminal executes control characters that a spreadsheet or parser only shows.
      const shown = isTTY ? escapeAllButStyles(text.replaceAll('\r\n', '\n'), hasColour) : text;
      if (stdout.destroyed || stdout.write(shown)) return;
      // The reader may close the pipe before it is drained.
      const either = new AbortController();
      const { signal } = either;
      await Promise.race([once(stdout, 'drain', { signal }), once(stdout, 'close', { signal })]).catch(
        () => {},
      );
      either.abort();
    },
  };
}

const minColumns = 20;

function escapeAllButStyles(text: string, hasStyles: boolean): string {
  if (!hasStyles) return escapeInvisible(text);
  return text
    .split(ownStyle)
    .map((part, index) => (index % 2 === 0 ? escapeInvisible(part) : part))
    .join('');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a style begins with one.
const ownStyle = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/;
