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

export interface WatchedProcess {
  readonly pid: number;
  readonly stdin: Writable | null;
  stdout(): Readable;
  /** Collects stdout. Call it once, before the process has ended. */
  collect(options: CollectOptions): CollectedOutput;
  readonly ended: Promise<ExitStatus>;
  isStderrClosed(): boolean;
  readonly stderrClosed: Promise<void>;
  /** The last 64 KiB of stderr. */
  stderr(): string;
  /** Sends SIGTERM to the group, waits, then sends SIGKILL. Safe to call again. */
  terminate(): Promise<void>;
  killGroup(): void;
  /** LIMIT_EXCEEDED or PROCESS_START. `end` is absent if the process was abandoned before its end. */
  limitFault(end: ExitStatus | undefined, stdoutBytes?: number): RuntimeError | undefined;
  /** Call it after the end of the process and of stderr. Returns why nothing ran in the sandbox, if so. */
  startFault(): RuntimeError | undefined;
  /** Sets whether the process keeps Node alive; the default is true. */
  keepAlive(keeps: boolean): void;
  release(): void;
}

export interface ProcessContext {
  readonly launch: Launcher;
  readonly emit: Emit;
  /** Removes secrets from stderr and from lines that are no replies, before they are truncated. */
  readonly scrubber?: Scrubber | undefined;
  readonly inFlight?: InFlightBytes | undefined;
  /** Default: the control groups of this process. */
  readonly findGroups?: FindGroups | undefined;
}

/** `input` is the whole stdin; null: a stream. Throws PROCESS_START. */
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
    // Background processes must survive even if this process ends before all outputs are read.
    if (binding.leftovers === 'keep') releaseGroup(pid);
    else leaderEnded(pid);
    context.emit({ type: 'process.ended', name, pid, ...end });
    return end;
  });
  let terminating: Promise<void> | undefined;
  return {
    pid,
    stdin,
    // Methods, since a getter of a literal becomes part of a hidden class that outlives the object.
    stdout: () => stdout.stream(),
    collect: (options) => collect(stdout, { ...options, inFlight: context.inFlight }),
    ended: endReported,
    isStderrClosed: () => stderr.isClosed,
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

async function launchHeld(binding: Binding, context: ProcessContext, input: Uint8Array | null) {
  if (binding.limits === null && binding.nice === null) {
    return { launched: await launchProcess(binding, context, input), hold: undefined };
  }
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
    throw startError(
      name,
      'its command or environment contains a NUL character, which no process can receive',
    );
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

/** Returns the same object for the same environment, so that caches by identity work. */
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
  // A process in an uninterruptible wait delays SIGKILL.
  await waitForSettled(ended, KILL_WAIT_MS);
}

const KILL_WAIT_MS = 5_000;

async function waitForGroupEnd(pid: number, ended: Promise<ExitStatus>, graceMs: number): Promise<void> {
  const until = performance.now() + graceMs;
  if (!(await waitForSettled(ended, graceMs))) return;
  while (signalGroup(pid, 0) && performance.now() < until) await sleep(20);
}
