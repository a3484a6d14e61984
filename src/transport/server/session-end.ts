import type { Binding } from '../../binding/binding.ts';
import { RuntimeError } from '../../errors.ts';
import { drain, settlesWithin } from '../deadline.ts';
import type { Ended } from '../launch/launch.ts';
import type { WatchedProcess } from '../process.ts';
import { whenClosed } from '../read.ts';
import { lastLineOf, withStderr } from '../stderr.ts';

/** How a server's process ended. */
export interface SessionEnd extends Ended {
  /** The process closed its stdout and lived on, so it was killed. */
  readonly closedStdout: boolean;
}

/**
 * Waits for the end of the process, or of its stdout: a process that closed its stdout is of no more use.
 * Then reads its outputs to their end, at most `drainMs`. Never rejects.
 */
export async function watchEnd(
  binding: Binding,
  child: WatchedProcess,
  isStopping: () => boolean,
): Promise<SessionEnd> {
  const closed = whenClosed(child.stdout);
  await Promise.race([child.ended, closed]);
  // The exit follows a closed stdout at once or not at all; but what was asked to end has its time to.
  const livesOn = !(await settlesWithin(child.ended, EXIT_FOLLOWS_MS)) && !isStopping();
  if (livesOn) child.killGroup();
  const ended = await child.ended;
  await drain(Promise.all([closed, child.stderrClosed]), binding.drainMs);
  if (binding.leftovers === 'kill') child.killGroup();
  return { ...ended, closedStdout: livesOn };
}

const EXIT_FOLLOWS_MS = 100;

/** What is told to those whose requests were in flight. */
export function exitError(name: string, end: SessionEnd, stderr: string): RuntimeError {
  const { exitCode, signal } = end;
  const how = end.closedStdout
    ? 'closed its stdout and was killed'
    : signal === null
      ? `ended with exit code ${exitCode}`
      : `was ended by ${signal}`;
  const message = `the server "${name}" ${how} while the request was in flight`;
  const details = { exit_code: exitCode, signal };
  const hint =
    lastLineOf(stderr) === ''
      ? 'It wrote nothing to stderr; it is started again on the next call.'
      : undefined;
  return withStderr(new RuntimeError('SERVER_EXIT', message, { hint, details }), stderr);
}
