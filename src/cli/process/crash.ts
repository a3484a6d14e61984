import { writeSync } from 'node:fs';
import { type RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { openOutputSink } from '../../base/files/output-sink.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { scrubWithAll } from '../../runtime/stages/open-scrubbers.ts';

export interface CrashFacts {
  /** If exit code 1 is a verdict, a crash exits with 2. */
  isVerdict: boolean;
  canPrintDocument(): boolean;
  isInterrupted(): boolean;
}

/**
 * Exits after an unhandled error; prints the stack, then the error with its code, on stderr. Exit listeners kill
 * running processes.
 */
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
  } catch {}
}

const MOST_CHARACTERS = 10_000;

function stackOf(thrown: unknown, error: RuntimeError): string {
  return (thrown instanceof Error ? thrown.stack : error.stack) ?? '';
}
