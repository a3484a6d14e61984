import { RuntimeError } from '../../base/errors.ts';
import { lastLineOf } from '../../base/text/last-line.ts';
import { drain, waitForSettled } from '../../base/time/deadline.ts';
import type { Binding } from '../binding.ts';
import type { ExitStatus } from '../launch/launch.ts';
import type { WatchedProcess } from '../process.ts';
import { withStderr } from '../stderr.ts';
import { whenClosed } from '../stream-reader.ts';

/** How a server's process ended. */
export interface SessionEnd extends ExitStatus {
  /** The process closed its stdout and lived on, so it was killed. */
  readonly closedStdout: boolean;
}

/**
 * Waits for the end of the process, or of its stdout: a process that closed its stdout is of no more use.
 * Then reads its outputs to their end, at most `drainMs`. Never rejects.
 */
export async function waitForSessionEnd(
  binding: Binding,
  child: WatchedProcess,
  isStopping: () => boolean,
): Promise<SessionEnd> {
  const closed = whenClosed(child.stdout);
  await Promise.race([child.ended, closed]);
  // A process that closed its stdout exits at once or not at all; one that was asked to end gets its grace.
  const isStillRunning = !(await waitForSettled(child.ended, EXIT_AFTER_STDOUT_MS)) && !isStopping();
  if (isStillRunning) child.killGroup();
  const ended = await child.ended;
  await drain(Promise.all([closed, child.stderrClosed]), binding.drainMs);
  if (binding.leftovers === 'kill') child.killGroup();
  return { ...ended, closedStdout: isStillRunning };
}

const EXIT_AFTER_STDOUT_MS = 100;

/** SERVER_EXIT, for the requests that were in flight when the server ended. */
export function exitError(end: SessionEnd, stderr: string): RuntimeError {
  const { exitCode, signal } = end;
  const how = end.closedStdout
    ? 'closed its stdout and was killed'
    : signal === null
      ? `ended with exit code ${exitCode}`
      : `was ended by ${signal}`;
  const message = `the server ${how} while the request was in flight`;
  const details = { exit_code: exitCode, signal };
  const hint =
    lastLineOf(stderr) === ''
      ? 'It wrote nothing to stderr; it is started again on the next call.'
      : undefined;
  return withStderr(new RuntimeError('SERVER_EXIT', message, { hint, details }), stderr);
}
