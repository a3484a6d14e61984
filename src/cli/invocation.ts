import type { Readable, Writable } from 'node:stream';

export interface Invocation {
  /** The absolute paths of Node and of this program. */
  readonly program: readonly string[];
  readonly argv: readonly string[];
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The absolute current folder, in which state stores are searched and to which file names are relative. */
  readonly cwd: string;
  /** Aborted by Ctrl-C: the command then ends its processes and exits with 130. */
  readonly signal: AbortSignal;
  /** From this call on, SIGHUP calls the listener instead of interrupting. */
  readonly onHangup: (listener: () => void) => void;
  readonly stopWithin: (ms: number) => void;
  /** Called before a command whose exit code 1 is a verdict. */
  readonly onVerdictCommand: () => void;
  /** Interrupts like Ctrl-C; a terminal in raw mode sends no signal. */
  readonly interrupt: () => void;
  readonly userName: () => string;
  /** Called before work that may last for hours and create much garbage. */
  readonly limitHeapGrowth: () => void;
}

export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly fd?: number;
};
