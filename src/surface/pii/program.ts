import { toRuntimeError } from '../../errors.ts';
import { openOutputSink } from '../../files/output-sink.ts';
import { createPiiFilter } from '../../pii/filter.ts';
import { help } from './help.ts';
import { serve } from './serve.ts';
import { readSettings } from './settings.ts';

/** Answers what stdin asks, on stdout: one object, or as a server one line for each line. */
export async function runProgram(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help());
    return;
  }
  const filter = openFilter(args);
  if (filter === undefined) return;
  // Expired values are dropped on time, not only with the next request.
  setInterval(() => filter.sweep(Date.now()), 60_000).unref();
  process.stdout.on('error', () => process.exit(1));
  process.exitCode = await serve(filter, { input: process.stdin, write, printError });
}

/** Undefined when the arguments or the environment are invalid: prints why, and sets exit code 2. */
function openFilter(args: readonly string[]) {
  try {
    return createPiiFilter(readSettings(args, process.env));
  } catch (error) {
    const { message, hint } = toRuntimeError(error);
    printError(`signalbox-pii: ${message}. ${hint}`);
    process.exitCode = 2;
    return undefined;
  }
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printError(line: string): void {
  openOutputSink(2).write(`${line}\n`);
}
