/** A project with one mistake, the command that meets it, and how a reader follows the message. */
export interface Mistake {
  /** What the user has done. */
  readonly title: string;
  /** How the project of base/ differs: replaced texts, a whole file, or null for one that is not there. */
  readonly edits?: Readonly<Record<string, Edit>>;
  /** Rights of files other than 755. */
  readonly modes?: Readonly<Record<string, number>>;
  /** A command line without `signalbox`; single quotes hold a word together. */
  readonly run: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: 2. */
  readonly exit?: number;
  /** The file and a text of the line that the message must name. Default: the lines that the edits have changed. */
  readonly at?: readonly [file: string, text: string] | null;
  readonly fix: Fix;
  /** What works then. Default: the same command. */
  readonly after?: string;
  /** The exit code of `after`. Default: 0. */
  readonly ends?: number;
  /** `after` runs until this text is on stdout. */
  readonly until?: string;
}

export type Edit = string | Uint8Array | null | readonly (readonly [from: string, to: string])[];

/**
 * What the next step of a message says to do.
 * `suggested`: the word that stands behind "did you mean" or "such as" takes the place of `wrong` in a file or in the command line.
 * `write`: a text of a file, or of the command line, is replaced; the message must say each of `shown` (default: the new text).
 * `shell`: the command in backticks that the pattern finds is run.
 */
export type Fix =
  | { readonly by: 'suggested'; readonly wrong: string; readonly file?: string }
  | {
      readonly by: 'write';
      readonly edits: Readonly<Record<string, Edit>>;
      readonly shown: readonly string[];
    }
  | { readonly by: 'command'; readonly run: string; readonly shown: readonly string[] }
  | { readonly by: 'shell'; readonly command: RegExp };

/** The suggested word takes the place of the wrong one. */
export function suggested(wrong: string, file?: string): Fix {
  return { by: 'suggested', wrong, ...(file !== undefined && { file }) };
}

/** A text of a file is replaced by what the message says, or by what follows from `shown`. */
export function written(file: string, from: string, to: string, ...shown: readonly string[]): Fix {
  return { by: 'write', edits: { [file]: [[from, to]] }, shown: shown.length === 0 ? [to] : shown };
}

/** Files are edited in a way that the message says in words. */
export function edited(edits: Readonly<Record<string, Edit>>, ...shown: readonly string[]): Fix {
  return { by: 'write', edits, shown };
}

/** Another command line, of which the message says `shown`. */
export function called(run: string, ...shown: readonly string[]): Fix {
  return { by: 'command', run, shown };
}

/** The command that the message gives in backticks and that fits the pattern is run in a shell. */
export function ran(command: RegExp): Fix {
  return { by: 'shell', command };
}
