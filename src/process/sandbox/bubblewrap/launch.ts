import { constants } from 'node:os';
import type { RuntimeError } from '../../../base/errors.ts';
import { findInterpreterFault } from '../../../base/files/interpreter.ts';
import type { BubblewrapSandbox } from '../../binding/sandbox.ts';
import type { ExitStatus, Inside, LaunchedProcess, Launcher, LaunchRequest } from '../../launch/launch.ts';
import { launchListener, signalGroup, signalProcess } from '../../launch/process-groups.ts';
import { sandboxError } from '../fault.ts';
import { probeBubblewrap, wordsOf } from './probe.ts';
import { startBubblewrap } from './start.ts';
import { openStatusFile, type StatusFile } from './status.ts';

/**
 * Starts the request in a sandbox of its own, which ends with its command, with bwrap and with this process. Throws
 * SANDBOX_FAILED where this machine cannot make one.
 */
export async function launchBubblewrapped(
  entry: string,
  sandbox: BubblewrapSandbox,
  { request, launch }: { readonly request: LaunchRequest; readonly launch: Launcher },
): Promise<LaunchedProcess> {
  const probe = await probeBubblewrap(sandbox, launch);
  if (!probe.isPossible) throw sandboxError(entry, sandbox, probe.reason, { hint: probe.hint });
  const status = openStatusFile();
  try {
    const launched = await startBubblewrap(entry, sandbox, request, {
      launch,
      status,
      watch: launchListener,
    });
    const ended = launched.ended.then((end) => {
      // Where bwrap was ended itself, which may have been before what it has started was bound to it.
      killInside(status);
      status.close();
      return trueEnd(end, status.exitCode());
    });
    const startFault = (said: string) => findStartFault(entry, sandbox, { request, status, said });
    return { ...launched, ended, inside: { ...insideOf(status), startFault: whenOver(ended, startFault) } };
  } catch (error) {
    status.close();
    throw error;
  }
}

/** Nothing can be said of a start before its end, nor of one that a signal ended first. */
function whenOver(
  ended: Promise<ExitStatus>,
  find: (said: string) => RuntimeError | undefined,
): Inside['startFault'] {
  let end: ExitStatus | undefined;
  void ended.then((known) => {
    end = known;
  });
  return (said) => (end === undefined || end.signal !== null ? undefined : find(said));
}

function insideOf(status: StatusFile): Omit<Inside, 'startFault'> {
  return {
    terminate: () => {
      const child = runningChild(status);
      // The group of the command and what it has started; its first process, which is bwrap's, is deaf to all but SIGKILL.
      return child !== undefined && signalGroup(child, 'SIGTERM');
    },
    kill: async () => killInside(status),
  };
}

function runningChild(status: StatusFile): number | undefined {
  return status.isOpen && status.exitCode() === undefined ? status.child() : undefined;
}

/** Everything inside ends with its first process. */
function killInside(status: StatusFile): void {
  const child = runningChild(status);
  if (child !== undefined) signalProcess(child, 'SIGKILL');
}

/**
 * How the command ended. bwrap exits with 128 more than the number of a signal; a command that does so itself is told as ended
 * by that signal too.
 */
function trueEnd(end: ExitStatus, inner: number | undefined): ExitStatus {
  if (end.exitCode === null || inner === undefined || inner <= 128) return end;
  const known = Object.entries(constants.signals).find(([, number]) => number === inner - 128);
  return known === undefined ? end : { exitCode: null, signal: known[0] };
}

interface Start {
  readonly request: LaunchRequest;
  readonly status: StatusFile;
  /** What bwrap wrote to stderr. */
  readonly said: string;
}

/** bwrap tells an exit code of what it has started only: without one, the command never ran. */
function findStartFault(entry: string, sandbox: BubblewrapSandbox, start: Start): RuntimeError | undefined {
  if (start.status.exitCode() !== undefined) return undefined;
  const words = wordsOf(start.said) || 'bubblewrap failed without a word';
  const { command, cwd, env } = start.request;
  const fault = words.includes('execvp')
    ? findInterpreterFault(command, { cwd, searchPath: env['PATH'] ?? '' })
    : undefined;
  if (fault !== undefined) return sandboxError(entry, sandbox, fault.reason, { hint: fault.hint });
  const hint = `A sandbox shows the system’s folders, the folder of the config file and the program; what else is needed stands in \`read\` of spec.sandboxes.${sandbox.name}.`;
  return sandboxError(entry, sandbox, `its sandbox "${sandbox.name}" could not start it: ${words}`, { hint });
}
