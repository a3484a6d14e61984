/** A project with one mistake, the command that detects it, and how to follow the message. */
export interface Mistake {
  readonly title: string;
  /** Changes to the project of base/: replaced texts, a whole file, or null for a missing one. */
  readonly edits?: Readonly<Record<string, Edit>>;
  readonly modes?: Readonly<Record<string, number>>;
  /** A command line without `signalbox`. Single quotes group words. */
  readonly run: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: 2. */
  readonly exit?: number;
  /** The file and part of the line that the message must name. Default: the lines that the edits changed. */
  readonly at?: readonly [file: string, text: string] | null;
  readonly fix: Fix;
  /** A command that works after the fix. Default: the same command. */
  readonly after?: string;
  /** The exit code of `after`. Default: 0. */
  readonly ends?: number;
  /** `after` runs until this text is on stdout. */
  readonly until?: string;
}

export type Edit = string | Uint8Array | null | readonly (readonly [from: string, to: string])[];

/**
 * The next step in a message. `suggested`: the word after "did you mean" or "such as" replaces `wrong`. `write`: a text
 * of a file or of the command line is replaced, and the message must contain each of `shown` (default: the new text).
 * `shell`: the command in backticks that matches the pattern is run.
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

export function suggested(wrong: string, file?: string): Fix {
  return { by: 'suggested', wrong, ...(file !== undefined && { file }) };
}

/** Replaces a text by what the message says, or by what follows from `shown`. */
export function written(file: string, from: string, to: string, ...shown: readonly string[]): Fix {
  return { by: 'write', edits: { [file]: [[from, to]] }, shown: shown.length === 0 ? [to] : shown };
}

/** Edits files as the message describes in words. */
export function edited(edits: Readonly<Record<string, Edit>>, ...shown: readonly string[]): Fix {
  return { by: 'write', edits, shown };
}

export function called(run: string, ...shown: readonly string[]): Fix {
  return { by: 'command', run, shown };
}

export function ran(command: RegExp): Fix {
  return { by: 'shell', command };
}
