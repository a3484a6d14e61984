import type { Readable, Writable } from 'node:stream';
import type { RuntimeError } from '../base/errors.ts';
import { createExecutableFinder } from '../base/files/executable.ts';
import { sleep, waitForSettled } from '../base/time/deadline.ts';
import type { Emit } from '../contract/event.ts';
import type { Scrubber } from '../contract/scrub.ts';
import type { Binding } from './binding.ts';
import { type CollectedOutput, type CollectOptions, collect, type InFlightBytes } from './in-flight-bytes.ts';
import {
  describeLaunchError,
  type ExitStatus,
  findMissingInterpreter,
  type LaunchedProcess,
  type Launcher,
  startError,
} from './launch/launch.ts';
import {
  launchListener,
  leaderEnded,
  releaseGroup,
  signalGroup,
  withOwnerMark,
} from './launch/process-groups.ts';
import type { FindGroups } from './limits/hold.ts';
import { createStderrReader } from './stderr.ts';

/** A running process: its stderr is drained and emitted line by line, its process group can be ended. */
export interface WatchedProcess {
  readonly pid: number;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  /** Collects stdout: to be called once, before the process has ended. Costs no stream where little is written. */
  collect(options: CollectOptions): CollectedOutput;
  readonly ended: Promise<ExitStatus>;
  readonly isStderrClosed: boolean;
  readonly stderrClosed: Promise<void>;
  /** The last 64 KiB of stderr. */
  stderr(): string;
  /** SIGTERM to the group, grace, SIGKILL to what is left of it. Safe to call again. */
  terminate(): Promise<void>;
  killGroup(): void;
  /**
   * LIMIT_EXCEEDED, if it reached one of its limits and failed; PROCESS_START, if they could not be set. `end` is absent where it is given up
   * before it ended, `stdoutBytes` where nobody counts them.
   */
  limitFault(end: ExitStatus | undefined, stdoutBytes?: number): RuntimeError | undefined;
  /** Once it has ended and stderr is read: why nothing was run in its sandbox, if so. */
  startFault(): RuntimeError | undefined;
  /** Whether it keeps Node alive, as it does until this is called; one that nobody waits for must not. */
  keepAlive(keeps: boolean): void;
  release(): void;
}

export interface ProcessContext {
  readonly launch: Launcher;
  readonly emit: Emit;
  /** Takes secrets out of stderr and of lines that are no replies, before they are truncated. */
  readonly scrubber?: Scrubber | undefined;
  /** Counts what requests and outputs have; absent: nobody does. */
  readonly inFlight?: InFlightBytes | undefined;
  /** Where control groups may be had; default: in those of this process. */
  readonly findGroups?: FindGroups | undefined;
}

/** Starts the binding's process. `input` is all of stdin, or null for a stream. Throws PROCESS_START. */
export async function startProcess(
  binding: Binding,
  context: ProcessContext,
  input: Uint8Array | null,
): Promise<WatchedProcess> {
  const { launched, hold } = await launchHeld(binding, context, input);
  const { pid, stdin, stdout, stderr, ended, inside } = launched;
  const { name } = binding;
  context.emit({ type: 'process.started', name, pid });
  const reader = createStderrReader((line) => context.emit({ type: 'stderr', name, pid, line }), {
    onOmitted: ({ lines, bytes }) => {
      const detail = `${lines} lines (${bytes} bytes) of process ${pid} between the first and the last`;
      context.emit({ type: 'dropped', name, what: 'stderr', detail });
    },
    scrubber: context.scrubber,
    ...(binding.mode === 'server' && { windowMs: SERVER_WINDOW_MS }),
  });
  const { promise: stderrClosed, resolve: closeStderr } = Promise.withResolvers<void>();
  stderr.listen({
    onData: reader.push,
    onClose: () => {
      reader.end();
      closeStderr();
    },
  });
  const endReported = ended.then((end) => {
    // Processes that it leaves behind are kept, even if this process ends before all outputs are read.
    if (binding.leftovers === 'keep') releaseGroup(pid);
    else leaderEnded(pid);
    context.emit({ type: 'process.ended', name, pid, ...end });
    return end;
  });
  let terminating: Promise<void> | undefined;
  return {
    pid,
    stdin,
    get stdout() {
      return stdout.stream();
    },
    collect: (options) => collect(stdout, { ...options, inFlight: context.inFlight }),
    ended: endReported,
    get isStderrClosed() {
      return stderr.isClosed;
    },
    stderrClosed,
    stderr: reader.tail,
    terminate: () => {
      terminating ??= terminateGroup(launched, binding.graceMs);
      return terminating;
    },
    limitFault: (end, stdoutBytes) =>
      hold?.fault({ end, stderr: reader.tail(), isSilent: stdoutBytes === 0 }),
    startFault: () => inside?.startFault(reader.tail()),
    killGroup: () => {
      void inside?.kill();
      signalGroup(pid, 'SIGKILL');
      releaseGroup(pid);
    },
    keepAlive: launched.keepAlive,
    release: () => {
      releaseGroup(pid);
      hold?.release();
      for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    },
  };
}

/** Starts it, held to its limits if it has any: these go around all else, so that they hold what a sandbox starts too. */
async function launchHeld(binding: Binding, context: ProcessContext, input: Uint8Array | null) {
  if (binding.limits === null && binding.nice === null) {
    return { launched: await launchProcess(binding, context, input), hold: undefined };
  }
  // Loaded only where it is used.
  const { openHold } = await import('./limits/hold.ts');
  const hold = await openHold(binding, context);
  try {
    const launched = await launchProcess(binding, { ...context, launch: hold.launch }, input);
    hold.begin(launched.pid);
    return { launched, hold };
  } catch (error) {
    hold.release();
    throw error;
  }
}

/** How often a server that floods its stderr gets new lines into the log. */
const SERVER_WINDOW_MS = 1_000;

async function launchProcess(
  binding: Binding,
  { launch, emit }: ProcessContext,
  input: Uint8Array | null,
): Promise<LaunchedProcess> {
  const { name, args, cwd, env } = binding;
  if (binding.refused !== null) throw startError(name, binding.refused);
  if (
    [binding.command, cwd].some(hasNul) ||
    listHasNul(args, () => args) ||
    listHasNul(env, () => Object.entries(env).flat())
  ) {
    throw startError(name, 'its command or environment has a NUL character, which no process can be given');
  }
  if (binding.sandbox !== null) {
    const { launchInSandbox } = await import('./sandbox/launch.ts');
    return await launchInSandbox(binding, binding.sandbox, { launch, input, emit });
  }
  const executable = findExecutable(binding.command, cwd, env['PATH'] ?? '');
  if (!executable.found) throw startError(name, executable.reason, { hint: executable.hint });
  const { path, leading } = executable;
  try {
    return await launch(
      { command: path, args: leading ? [...leading, ...args] : args, cwd, env: markedEnv(binding), input },
      launchListener,
    );
  } catch (error) {
    const fault = findMissingInterpreter(error, path, binding);
    const reason = fault?.reason ?? describeLaunchError(error, cwd, path);
    throw startError(name, reason, { cause: error, ...(fault && { hint: fault.hint }) });
  }
}

const findExecutable = createExecutableFinder();

const withoutNul = new WeakSet<object>();

/** Remembers for each list or environment that it is fine, since a binding's stay the same. */
function listHasNul(owner: object, listTexts: () => readonly string[]): boolean {
  if (withoutNul.has(owner)) return false;
  if (listTexts().some(hasNul)) return true;
  withoutNul.add(owner);
  return false;
}

const marked = {
  kill: new WeakMap<Binding['env'], Binding['env']>(),
  keep: new WeakMap<Binding['env'], Binding['env']>(),
};

/** The environment with our mark: the same object for the same environment, since a binding's stays the same. */
function markedEnv({ env, leftovers }: Binding): Binding['env'] {
  const known = marked[leftovers].get(env);
  if (known !== undefined) return known;
  const made = withOwnerMark(env, leftovers);
  marked[leftovers].set(env, made);
  return made;
}

function hasNul(text: string): boolean {
  return text.includes('\0');
}

async function terminateGroup({ pid, ended, inside }: LaunchedProcess, graceMs: number): Promise<void> {
  if (inside?.terminate() !== true) signalGroup(pid, 'SIGTERM');
  await waitForGroupEnd(pid, ended, graceMs);
  await inside?.kill();
  signalGroup(pid, 'SIGKILL');
  releaseGroup(pid);
  // SIGKILL cannot be refused, but a process in an uninterruptible wait takes its time.
  await waitForSettled(ended, KILL_WAIT_MS);
}

const KILL_WAIT_MS = 5_000;

async function waitForGroupEnd(pid: number, ended: Promise<ExitStatus>, graceMs: number): Promise<void> {
  const until = performance.now() + graceMs;
  if (!(await waitForSettled(ended, graceMs))) return;
  while (signalGroup(pid, 0) && performance.now() < until) await sleep(20);
}
