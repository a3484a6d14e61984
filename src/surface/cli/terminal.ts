import { styleText } from 'node:util';
import { openSink } from '../../files/sink.ts';
import { stringifyJson } from '../../json/json.ts';
import { visible } from '../../text/escape-invisible.ts';

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** Where a command writes, and whether a person is looking. */
export interface Terminal {
  /** Colours on stdout: a terminal, and neither NO_COLOR nor --no-color. */
  readonly hasColour: boolean;
  /** Colours on stderr, likewise. */
  readonly hasErrorColour: boolean;
  /** stdout, whole lines. */
  print(text: string): void;
  /** stdout, a value and a newline: for a program exactly as it is, for a person with everything unseen spelled out. */
  printValue(text: string): void;
  /** stdout, exactly one JSON document, long numbers as they were. */
  printJson(document: unknown): void;
  /** stderr, whole lines. */
  tell(text: string): void;
  /** On stderr what to do next about a fault, if there is one and anything is known. */
  tellHint(fault: { readonly hint: string } | undefined): void;
  /** stderr, as it is. */
  whisper(text: string): void;
  /** The text in that style, where stdout shows styles. */
  style(style: Style, text: string): string;
  /** The text in that style, where stderr shows styles. */
  tint(style: Style, text: string): string;
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
    printValue: (text) => print(process.stdout.isTTY === true ? visible(text) : text),
    printJson: (document) => {
      const text = stringifyJson(document);
      print(process.stdout.isTTY === true ? spellControls(text) : text);
    },
    tell: (text) => whisper(`${text}\n`),
    tellHint: (fault) => {
      if (fault !== undefined && fault.hint !== '') whisper(`hint: ${visible(fault.hint)}\n`);
    },
    whisper,
    style: styler(hasColour),
    tint: styler(hasErrorColour),
  };
}

/** JSON leaves signs as they are that some terminals obey, or that turn the direction of a text. */
function spellControls(json: string): string {
  return json.replaceAll(
    /[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The way that the log takes, so that the two stay in order. */
function whisper(text: string): void {
  openSink(2).write(text);
}

/** stderr as a stream for what draws on it. */
export function openStderr() {
  const { write } = openSink(2);
  return {
    isTTY: process.stderr.isTTY === true,
    get columns(): number {
      return process.stderr.columns;
    },
    write,
  };
}

/** Whoever reads stdout may have read enough; that our words could not be written for another reason is a failure. */
export function watchStdout(isEval: () => boolean): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    openTerminal(false).tell(`error: stdout cannot be written (${error.message})`);
    process.once('exit', () => {
      // Of an eval command 1 is a verdict, and nobody could read any.
      if (!isEval()) process.exitCode ||= 1;
      else if (process.exitCode !== 130) process.exitCode = 2;
    });
  });
}
