import type { Readable, Writable } from 'node:stream';
import { toRuntimeError } from '../../errors.ts';
import { createPiiFilter, type PiiFilter } from '../../pii/filter.ts';
import { help } from './help.ts';
import { serve } from './serve.ts';
import { readSettings } from './settings.ts';

/** Everything that signalbox-pii takes from its process. */
export interface PiiInvocation {
  /** The arguments, without the names of Node and of the program. */
  readonly argv: readonly string[];
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Prints one line for people; it never contains a value that was found. */
  readonly printError: (line: string) => void;
  /** Environment variables by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Answers what stdin asks, on stdout: one object, or as a server one line for each line. Resolves to the exit code. */
export async function main(invocation: PiiInvocation): Promise<0 | 1 | 2> {
  const { argv, stdout, printError, env } = invocation;
  if (argv.includes('--help') || argv.includes('-h')) {
    stdout.write(help());
    return 0;
  }
  let filter: PiiFilter;
  try {
    filter = createPiiFilter(readSettings(argv, env));
  } catch (error) {
    const { message, hint } = toRuntimeError(error);
    printError(`signalbox-pii: ${message}. ${hint}`);
    return 2;
  }
  // Expired values of conversations are dropped on time, not only with the next request.
  const sweeping = setInterval(() => filter.sweep(Date.now()), 60_000).unref();
  try {
    return await serve(filter, {
      input: invocation.stdin,
      write: (line) => void stdout.write(`${line}\n`),
      printError,
    });
  } finally {
    clearInterval(sweeping);
  }
}
