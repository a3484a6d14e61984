import { styleText } from 'node:util';
import { openOutputSink } from '../../files/output-sink.ts';
import { stringifyJson } from '../../json/json.ts';
import { escapeInvisible } from '../../text/escape-invisible.ts';

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** Where a command writes, and whether a person is looking. */
export interface Terminal {
  /** Colours on stdout: a terminal, and neither NO_COLOR nor --no-color. */
  readonly hasColour: boolean;
  /** Colours on stderr, likewise. */
  readonly hasErrorColour: boolean;
  /** stdout, whole lines. */
  print(text: string): void;
  /**
   * stdout, a value and a newline: unchanged in a pipe, on a terminal with invisible characters escaped.
   */
  printValue(text: string): void;
  /** stdout, exactly one JSON document, long numbers as they were. */
  printJson(document: unknown): void;
  /** stderr, whole lines. */
  printStderr(text: string): void;
  /** stderr, the hint of a fault, if it has one. */
  printHint(fault: { readonly hint: string } | undefined): void;
  /** stderr, as it is. */
  writeStderr(text: string): void;
  /** The text in that style, where stdout shows styles. */
  styleStdout(style: Style, text: string): string;
  /** The text in that style, where stderr shows styles. */
  styleStderr(style: Style, text: string): string;
}

export function openTerminal(colour: boolean): Terminal {
  const isWanted = colour && (process.env['NO_COLOR'] ?? '') === '';
  const hasColour = isWanted && process.stdout.isTTY === true;
  const hasErrorColour = isWanted && process.stderr.isTTY === true;
  const styler = (isShown: boolean) => (style: Style, text: string) =>
    isShown ? styleText(style, text, { validateStream: false }) : text;
  const print = (text: string) => {
    process.stdout.write(`${text}\n`);
  };
  return {
    hasColour,
    hasErrorColour,
    print,
    printValue: (text) => print(process.stdout.isTTY === true ? escapeInvisible(text) : text),
    printJson: (document) => {
      const text = stringifyJson(document);
      print(process.stdout.isTTY === true ? escapeControls(text) : text);
    },
    printStderr: (text) => writeStderr(`${text}\n`),
    printHint: (fault) => {
      if (fault !== undefined && fault.hint !== '') writeStderr(`hint: ${escapeInvisible(fault.hint)}\n`);
    },
    writeStderr,
    styleStdout: styler(hasColour),
    styleStderr: styler(hasErrorColour),
  };
}

/** Escapes characters that JSON allows, but terminals obey or take for a change of writing direction. */
function escapeControls(json: string): string {
  return json.replaceAll(
    /[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Writes through the sink of the log, so that both stay in order. */
function writeStderr(text: string): void {
  openOutputSink(2).write(text);
}

/** Stderr as the stream that progress is drawn on. */
export function openStderr() {
  const { write } = openOutputSink(2);
  return {
    isTTY: process.stderr.isTTY === true,
    get columns(): number {
      return process.stderr.columns;
    },
    write,
  };
}

/** Ignores EPIPE on stdout; prints any other write error and sets a failing exit code. */
export function watchStdout(isEval: () => boolean): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    openTerminal(false).printStderr(`error: stdout cannot be written (${error.message})`);
    process.once('exit', () => {
      // For eval commands 1 would mean a missed gate, so it is 2.
      if (!isEval()) process.exitCode ||= 1;
      else if (process.exitCode !== 130) process.exitCode = 2;
    });
  });
}
