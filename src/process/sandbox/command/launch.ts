import { randomUUID } from 'node:crypto';
import { waitForSettled } from '../../../base/time/deadline.ts';
import type { CommandSandbox } from '../../binding/sandbox.ts';
import type { Inside, LaunchedProcess, Launcher, LaunchRequest } from '../../launch/launch.ts';
import { launchListener, releaseGroup, signalGroup } from '../../launch/process-groups.ts';
import { type Leftovers, withOwnerMark } from '../../launch/system/owner-mark.ts';
import { startError } from '../../start-error.ts';
import { fill, handOver } from './handed.ts';

/** Tells of what went wrong where nobody waits any more. */
type Note = (message: string) => void;

/** What a command is handed over with. */
export interface HandingOver {
  readonly request: LaunchRequest;
  readonly launch: Launcher;
  /** Of the entry: whether what it leaves running is to live on. */
  readonly leftovers: Leftovers;
  readonly note: Note;
}

/** Starts the program that the request is handed to, with the mark of whom it belongs to. Throws PROCESS_START. */
export async function launchHanded(
  entry: string,
  sandbox: CommandSandbox,
  { request, launch, leftovers, note }: HandingOver,
): Promise<LaunchedProcess> {
  const id = randomUUID();
  const { prelude, request: unmarked } = handOver(sandbox, request, id);
  const handed = { ...unmarked, env: withOwnerMark(unmarked.env, leftovers) };
  const launched = await launch(handed, launchListener).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw startError(entry, `${sandbox.program}, which its sandbox "${sandbox.name}" starts: ${reason}`, {
      cause,
    });
  });
  if (request.input === null && prelude !== '') launched.stdin?.write(prelude);
  if (sandbox.kill === null) return launched;
  const kill = sandbox.kill.map((word) => fill(word, id));
  return withEnd(launched, (isNeeded) =>
    runKill(kill, { request: handed, launch, note: isNeeded ? note : () => {} }),
  );
}

/**
 * The process, with the end of the command where it runs, which outlives the program that it was handed to: once, after whatever
 * else than an end of the command's own.
 */
function withEnd(launched: LaunchedProcess, run: (isNeeded: boolean) => Promise<void>): LaunchedProcess {
  let isAsked = false;
  let isOver = false;
  let killing: Promise<void> | undefined;
  const kill = async (isNeeded: boolean) => {
    killing ??= run(isNeeded);
    await killing;
  };
  const ended = launched.ended.then(async (end) => {
    isOver = true;
    // A program that was asked to end may have seen the command end in time, or have left it alone.
    if (end.signal !== null || isAsked) await kill(end.signal !== null);
    await killing;
    return end;
  });
  const inside: Inside = {
    terminate: () => {
      isAsked = true;
      return false;
    },
    kill: async () => {
      if (!isOver) await kill(true);
      await killing;
    },
    startFault: () => undefined,
  };
  return { ...launched, ended, inside };
}

async function runKill(
  [command = '', ...args]: readonly string[],
  { request, launch, note }: Pick<HandingOver, 'request' | 'launch' | 'note'>,
): Promise<void> {
  try {
    const { cwd, env } = request;
    const launched = await launch({ command, args, cwd, env, input: new Uint8Array() }, launchListener);
    for (const output of [launched.stdout, launched.stderr])
      output.listen({ onData: () => {}, onClose: () => {} });
    const isOver = await waitForSettled(launched.ended, KILL_MS);
    if (!isOver) signalGroup(launched.pid, 'SIGKILL');
    const end = await launched.ended;
    releaseGroup(launched.pid);
    for (const stream of [launched.stdin, launched.stdout, launched.stderr]) stream?.destroy();
    if (end.exitCode !== 0)
      note(`what should end it where it runs failed: ${command} ended with ${end.exitCode ?? end.signal}`);
  } catch (error) {
    note(
      `what should end it where it runs could not be started: ${error instanceof Error ? error.message : error}`,
    );
  }
}

const KILL_MS = 10_000;
