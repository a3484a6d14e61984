import type { Readable, Writable } from 'node:stream';
import { toRuntimeError } from '../../../base/errors.ts';
import { type Answerer, serve } from './serve.ts';

/** Everything that a program takes from its process. */
export interface Invocation {
  /** The arguments, without the names of Node and of the program. */
  readonly argv: readonly string[];
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Prints one line for people; it never contains a value that was found. */
  readonly printError: (line: string) => void;
  /** Environment variables by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A program that answers the native protocol. */
export interface Program {
  readonly name: string;
  /** What --help prints. */
  readonly help: () => string;
  /** Reads the arguments and the environment. Throws USAGE. */
  readonly open: (argv: readonly string[], env: Invocation['env']) => Answerer;
}

/** Answers what stdin asks, on stdout: one object, or as a server one line for each line. Resolves to the exit code. */
export async function runProgram(
  { name, help, open }: Program,
  { argv, stdin, stdout, printError, env }: Invocation,
): Promise<0 | 1 | 2> {
  if (argv.includes('--help') || argv.includes('-h')) {
    stdout.write(help());
    return 0;
  }
  let answerer: Answerer;
  try {
    answerer = open(argv, env);
  } catch (error) {
    const { message, hint } = toRuntimeError(error);
    printError(`${name}: ${message}. ${hint}`);
    return 2;
  }
  // What is kept for a while is dropped on time, not only with the next request.
  const sweeping = setInterval(() => answerer.sweep?.(Date.now()), 60_000).unref();
  try {
    return await serve(answerer, {
      name,
      input: stdin,
      write: (line) => void stdout.write(`${line}\n`),
      printError,
    });
  } finally {
    clearInterval(sweeping);
    await answerer.close?.();
  }
}
