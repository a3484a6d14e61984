import { writeSync } from 'node:fs';
import { type RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { openOutputSink } from '../../base/files/output-sink.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { scrubWithAll } from '../../runtime/stages/open-scrubbers.ts';

/** What an end by an error that nobody handles has to know of the command. */
export interface CrashFacts {
  /** Where exit code 1 is a verdict, a crash is 2. */
  isVerdict: boolean;
  /** Whether the one document of --json may still be printed. */
  canPrintDocument(): boolean;
  /** Whether Ctrl-C came before. */
  isInterrupted(): boolean;
}

/** Ends this process after an unhandled error: stack, then the error with its code, on stderr. Exit listeners kill what runs. */
export function exitOnCrash(facts: CrashFacts): void {
  process.on('uncaughtException', (thrown: unknown) => {
    try {
      report(thrown, facts);
    } finally {
      process.exit(facts.isInterrupted() ? 130 : facts.isVerdict ? 2 : 1);
    }
  });
}

function report(thrown: unknown, facts: CrashFacts): void {
  const error = toRuntimeError(thrown);
  const text = (given: string) => escapeInvisible(scrubWithAll(given).slice(0, MOST_CHARACTERS));
  const lines = [text(stackOf(thrown, error)), `error: [${error.code}] ${text(error.message)}`];
  openOutputSink(2).write(`${lines.join('\n')}\n`);
  if (!facts.canPrintDocument()) return;
  const { code, hint } = error;
  try {
    writeSync(1, `${JSON.stringify({ error: { code, message: scrubWithAll(error.message), hint } })}\n`);
  } catch {
    // Nobody reads it.
  }
}

const MOST_CHARACTERS = 10_000;

function stackOf(thrown: unknown, error: RuntimeError): string {
  return (thrown instanceof Error ? thrown.stack : error.stack) ?? '';
}
