import type { Readable, Writable } from 'node:stream';

/** Everything that the command line takes from its process, as parameters of one call of `main`. */
export interface Invocation {
  /** What starts this program again: Node and its file, absolute. */
  readonly program: readonly string[];
  /** The arguments, without the names of Node and of the program. */
  readonly argv: readonly string[];
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Environment variables by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The current folder, absolute: where state stores are looked for, and what names of files are shown relative to. */
  readonly cwd: string;
  /** Aborted by Ctrl-C: the command ends its processes in peace, and exits with 130. */
  readonly signal: AbortSignal;
  /** From now on SIGHUP calls the listener, instead of what Ctrl-C does. */
  readonly onHangup: (listener: () => void) => void;
  /** From the first Ctrl-C on the command may take so long, in milliseconds, before its process is ended. */
  readonly stopWithin: (ms: number) => void;
  /** Called before a command whose exit code 1 is a verdict. */
  readonly onVerdictCommand: () => void;
  /** Does what Ctrl-C does; a terminal that is read key by key sends no signal of its own. */
  readonly interrupt: () => void;
  /** The name of who sits at the terminal. */
  readonly userName: () => string;
  /** Called before work that may last for hours, and make much garbage. */
  readonly limitHeapGrowth: () => void;
}

/** A stream of text, a terminal or not. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  /** The width of a terminal. */
  readonly columns?: number;
  /** The file descriptor that it writes to, if there is one. */
  readonly fd?: number;
};
