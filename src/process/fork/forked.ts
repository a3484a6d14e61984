import { fstatSync, type Stats } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { basename, resolve } from 'node:path';
import { nextTick } from 'node:process';
import { findExecutable, isUnchanged } from '../../base/files/executable.ts';
import { interpreterWords, isFile } from '../../base/files/interpreter.ts';
import { crashLineOf } from '../../base/text/crash-line.ts';
import { createSlots, trackWork } from '../../base/time/async.ts';
import { drain, startTimer, type Timer, waitForSettled } from '../../base/time/deadline.ts';
import type { Binding } from '../binding.ts';
import type {
  ExitStatus,
  LaunchedProcess,
  Launcher,
  LaunchListener,
  LaunchRequest,
  Restraint,
} from '../launch/launch.ts';
import { closeAll, findNativeParts, openPipes, openStdin, signalName, writeInput } from '../launch/native.ts';
import { signalGroup } from '../launch/process-groups.ts';
import { keepNodeAlive } from '../launch/system/outputs.ts';
import { closedError, onlyIf, openOneshot } from '../oneshot.ts';
import { type ProcessContext, startProcess, type WatchedProcess } from '../process.ts';
import { createBackOff, createStamper, hasMemoryToSpare, settledStamp, statBefore } from '../spare/spares.ts';
import { createLineSplitter } from '../stream-reader.ts';
import type { Transport } from '../transport.ts';

/** Forks each process from one that has loaded the script's imports. Falls back to one-shot with a note. */
export function openForkedOneshot(binding: Binding, context: ProcessContext): Transport {
  const noted = new Set<string>();
  const note = (reason: string) => {
    if (noted.has(reason)) return;
    noted.add(reason);
    const message = `runs as one-shot, not forked: ${reason}`;
    context.emit({ type: 'note', name: binding.name, level: 'warn', message });
  };
  // The forking process would need descriptors of this process, which a sandbox must not expose.
  const isBoxed = binding.sandbox !== null;
  const forks = new Forks(binding, context, note);
  const slots = createSlots(MAX_WAITING);
  const oneshot = openOneshot(binding, context, async (forCall, input, { over, requireStart }) => {
    const isUsual = forCall.env === binding.env;
    if (!isUsual) note('a call has environment variables of its own');
    if (isBoxed) note('in a sandbox, each process starts separately');
    const forked = isUsual && !isBoxed && binding.refused === null ? await forks.find() : undefined;
    if (over.aborted) throw closedError(binding.name);
    const direct = onlyIf(requireStart, context);
    if (forked === undefined) return await startProcess(forCall, direct, input);
    const launch: Launcher = async (request, watch) => {
      await slots.take();
      try {
        if (over.aborted) throw closedError(binding.name);
        requireStart?.();
        return await forked(request, watch);
      } catch (error) {
        if (!(error instanceof NotForkedError)) throw error;
        if (error.reason !== undefined) note(`it could not be forked: ${error.reason}`);
        if (over.aborted) throw closedError(binding.name);
        return await direct.launch(request, watch);
      } finally {
        slots.release();
      }
    };
    return await startProcess(forCall, { ...context, launch }, input);
  });
  return {
    ...oneshot,
    warm: () => void (isBoxed || forks.find()),
    close: async () => {
      forks.stop();
      const ended = oneshot.close();
      // A stopped helper neither starts a call nor reports its end.
      await waitForSettled(ended, binding.graceMs + END_MS);
      await forks.close();
      await ended;
    },
  };
}

/** Each waiting call holds six descriptors. */
const MAX_WAITING = 64;

/** The call has certainly not run. */
class NotForkedError extends Error {
  readonly reason: string | undefined;

  constructor(reason?: string) {
    super('the process that forks it has ended');
    this.reason = reason;
  }
}

/** The helpers that have loaded the same files. */
interface Team {
  readonly stamp: string;
  readonly since: number;
  readonly helpers: Set<Helper>;
  /** What they have imported beyond the files of the stamp. */
  readonly imports: Map<string, Stats | undefined>;
  /** Resolves once the first helper can fork, or never will. Never rejects. */
  ready: Promise<unknown>;
  mayRenew: boolean;
  isGrowing: boolean;
  most: number;
}

/** Keeps the helpers of an entry: with its current files, and as many as its calls keep busy. */
class Forks {
  readonly #binding: Binding;
  readonly #context: ProcessContext;
  readonly #note: (reason: string) => void;
  readonly #makePipes = findPipeMaker();
  readonly #stampNow: () => { readonly text: string };
  readonly #backOff = createBackOff();
  readonly #load = createLoad();
  readonly #running = new Set<Helper>();
  readonly #starting = trackWork();
  readonly #stopping = Promise.withResolvers<Refusal>();
  #isStopped = false;
  #current: Team | undefined;
  #notBefore = 0;

  constructor(binding: Binding, context: ProcessContext, note: (reason: string) => void) {
    this.#binding = binding;
    this.#context = context;
    this.#note = note;
    this.#stampNow = createStamper(binding);
  }

  /** Returns what forks from the current files; undefined while the entry runs as one-shot. Never rejects. */
  async find(): Promise<Launcher | undefined> {
    if (this.#makePipes === undefined) {
      this.#note('it needs Linux with glibc, and the package koffi');
      return undefined;
    }
    while (!this.#isStopped) {
      const stamp = this.#stampNow().text;
      if (this.#current === undefined || isOld(this.#current, stamp)) this.#renew(stamp);
      const team = this.#current;
      await team?.ready;
      if (team === undefined || team !== this.#current) continue;
      if (leastBusy(team.helpers) !== undefined) return this.#isStopped ? undefined : this.#launcherOf(team);
      if (!team.mayRenew || performance.now() < this.#notBefore) return undefined;
      this.#renew(stamp);
    }
    return undefined;
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopping.resolve(closed);
  }

  async close(): Promise<void> {
    await this.#starting.ended();
    await Promise.all([...this.#running].map((helper) => helper.end()));
  }

  #launcherOf(team: Team): Launcher {
    return async (request, watch) => {
      // A helper may have been retired since.
      const helper = leastBusy(team.helpers) ?? [...team.helpers][0];
      if (helper === undefined) throw new NotForkedError();
      const isShort = this.#load.isTooMuch(helper.waiting() > 0) && performance.now() >= this.#notBefore;
      const mayGrow = isShort && !team.isGrowing && team.helpers.size < team.most;
      if (mayGrow && hasMemoryToSpare()) this.#starting.add(this.#grow(team));
      return await helper.launch(request, watch);
    };
  }

  #renew(stamp: string): void {
    if (this.#current !== undefined) retire(this.#current);
    const team: Team = {
      ...{ stamp, since: performance.now(), helpers: new Set(), imports: new Map() },
      ...{ ready: Promise.resolve(), mayRenew: false, isGrowing: false },
      most: Math.min(availableParallelism(), this.#binding.concurrency),
    };
    // If the helper cannot start, the call starts the script directly and reports the error.
    const say = (refused: Refusal | undefined) => {
      if (refused?.isFinal) this.#note(refused.reason);
    };
    this.#current = team;
    team.ready = this.#add(team).then(say, () => {});
    this.#starting.add(team.ready);
  }

  async #grow(team: Team): Promise<void> {
    team.isGrowing = true;
    const isFull = (await this.#add(team).catch(String)) !== undefined;
    // What keeps one more from starting does not concern the others.
    if (isFull) team.most = team.helpers.size;
    if (team !== this.#current) retire(team);
    team.isGrowing = false;
  }

  /** Returns why there is no helper, if so. */
  async #add(team: Team): Promise<Refusal | undefined> {
    const makePipes = this.#makePipes;
    const stamp = await settledStamp(this.#binding);
    const python = findPython(this.#binding);
    if ('reason' in python) return { reason: python.reason, isFinal: true };
    if (makePipes === undefined || this.#isStopped || !this.#backOff.admits(stamp)) return closed;
    const startedAt = performance.now();
    const startedAtMs = Date.now();
    const helper = await startHelper(this.#binding, this.#context, { python, makePipes });
    void this.#keep(helper, stamp);
    const refused = await Promise.race([helper.refused, this.#stopping.promise]);
    if (refused?.isFinal !== true) team.mayRenew = true;
    if (refused !== undefined) {
      void helper.end();
      return refused;
    }
    this.#load.begin(performance.now() - startedAt);
    for (const path of helper.imported) {
      if (team.imports.has(path) || team.stamp.includes(`${path}\0`)) continue;
      team.imports.set(path, statBefore(startedAtMs, path));
    }
    team.helpers.add(helper);
    void helper.gone.then(() => team.helpers.delete(helper));
    return undefined;
  }

  async #keep(helper: Helper, stamp: string): Promise<void> {
    this.#running.add(helper);
    const how = await helper.gone;
    this.#running.delete(helper);
    if (how === 'ended') return;
    if (helper.hasServed()) this.#backOff.recordTaken();
    if (this.#backOff.recordDeath(stamp))
      this.#note('the process that forks it has died five times in a row');
    this.#notBefore = performance.now() + this.#backOff.delayMs();
  }
}

/** Installed packages may have changed. */
const MAX_AGE_MS = 5 * 60_000;

function isOld({ stamp, since, imports }: Team, now: string): boolean {
  return stamp !== now || performance.now() - since > MAX_AGE_MS || ![...imports].every(isUnchanged);
}

function retire({ ready, helpers }: Team): void {
  void ready.then(() => {
    for (const helper of helpers) helper.retire();
  });
}

function leastBusy(helpers: Iterable<Helper>): Helper | undefined {
  let best: Helper | undefined;
  for (const helper of helpers) {
    if (!helper.isAlive()) continue;
    if (helper.waiting() === 0) return helper;
    if (best === undefined || helper.waiting() < best.waiting()) best = helper;
  }
  return best;
}

/** One more helper pays off once all have been busy for as long as its start takes. Idle time counts against it. */
function createLoad() {
  let startMs = 0;
  let busyMs = 0;
  let seenAt = 0;
  return {
    begin: (tookMs: number) => {
      startMs = tookMs;
      busyMs = 0;
    },
    isTooMuch: (isBusy: boolean) => {
      const now = performance.now();
      // A long time between two calls says nothing about the time between.
      const passedMs = Math.min(now - seenAt, startMs / 4);
      seenAt = now;
      busyMs = Math.max(0, isBusy ? busyMs + passedMs : busyMs - passedMs);
      return busyMs > startMs;
    },
  };
}

interface Helper {
  /** Resolves to undefined once it can fork, else to the reason why it never can. Never rejects. */
  readonly refused: Promise<Refusal | undefined>;
  /** The files of the script's own modules. */
  readonly imported: readonly string[];
  readonly gone: Promise<'died' | 'ended'>;
  hasServed(): boolean;
  /** The number of calls that it has yet to fork. */
  waiting(): number;
  isAlive(): boolean;
  /** Rejects if the fork failed or its result is unknown. */
  launch(request: LaunchRequest, watch: LaunchListener | undefined): Promise<LaunchedProcess>;
  retire(): void;
  end(): Promise<void>;
}

interface Refusal {
  readonly reason: string;
  /** Whether another start of the same files would end the same way. */
  readonly isFinal: boolean;
}

const closed: Refusal = { reason: 'it is closed', isFinal: false };

interface HelperOptions {
  readonly python: PythonCommand;
  readonly makePipes: (input: Uint8Array) => HandedPipes;
}

interface Child {
  pid: number | undefined;
  readonly started: PromiseWithResolvers<number>;
  readonly ended: PromiseWithResolvers<ExitStatus>;
}

async function startHelper(
  binding: Binding,
  context: ProcessContext,
  { python, makePipes }: HelperOptions,
): Promise<Helper> {
  const { command, flags, script, args } = python;
  // Bundles resolve the helper by its import name only.
  const helperFile = createRequire(import.meta.url).resolve('#fork-helper');
  const { cpuSeconds: _, processes: __, ...limits } = binding.limits ?? {};
  const process = await startProcess(
    {
      ...{ ...binding, mode: 'server', command, args: [...flags, helperFile, script, ...args] },
      // Each child counts its own CPU time and processes.
      limits: binding.limits && limits,
    },
    context,
    null,
  );
  // Each call has a timeout whose timer keeps Node alive.
  process.keepAlive(false);
  const children = new Map<string, Child>();
  const imported: string[] = [];
  const verdict = Promise.withResolvers<Refusal | undefined>();
  let isRetired = false;
  let isReady = false;
  let isGone = false;
  let isRead = false;
  let count = 0;
  let waiting = 0;
  let stuck: Timer | undefined;

  const wait = (change: 1 | -1) => {
    waiting += change;
    if (waiting === 1 && change === 1) {
      stuck = startTimer({ timeoutMs: STUCK_MS }, process.killGroup);
    } else if (waiting === 0) stuck?.clear();
    else if (change === -1) stuck?.restart();
  };
  const retireIfIdle = () => {
    if (isRetired && children.size === 0) process.stdin?.end();
  };
  const forget = (id: string) => {
    children.delete(id);
    retireIfIdle();
  };
  const onStarted = ({ id, pid }: Extract<Report, { type: 'started' }>) => {
    const child = children.get(id);
    if (child === undefined) return;
    wait(-1);
    child.pid = pid;
    child.started.resolve(pid);
  };
  const onReport = (report: Report | undefined) => {
    switch (report?.type) {
      case 'imported':
        imported.push(report.path);
        return undefined;
      case 'ready':
        isReady = true;
        return verdict.resolve(undefined);
      case 'refused':
        return verdict.resolve({ reason: report.reason, isFinal: true });
      case 'started':
        return onStarted(report);
      case 'failed':
        wait(-1);
        children.get(report.id)?.started.reject(new NotForkedError(report.reason));
        return forget(report.id);
      case 'ended':
        children.get(report.id)?.ended.resolve(report.end);
        return forget(report.id);
      default:
        return undefined;
    }
  };
  const onGone = ({ signal }: ExitStatus) => {
    const wasWanted = (isReady || signal !== null) && !isRetired;
    isGone = true;
    stuck?.clear();
    verdict.resolve({ reason: describeEnd(process), isFinal: signal === null });
    for (const { pid, started, ended } of children.values()) {
      // A child runs only after its start was reported.
      started.reject(isRead ? new NotForkedError() : new Error('the process that forks it has ended'));
      if (pid !== undefined) signalGroup(pid, 'SIGKILL');
      ended.resolve({ exitCode: null, signal: 'SIGKILL' });
    }
    children.clear();
    process.killGroup();
    process.release();
    return wasWanted ? 'died' : 'ended';
  };
  const reportsRead = readLines(process, (line) => onReport(readReport(line))).then(() => {
    isRead = true;
  });
  // A process that the imports have started may hold stdout open.
  const gone = process.ended.then(async (end) => {
    await drain(reportsRead, binding.drainMs);
    return onGone(end);
  });

  const ask = async (
    pipes: HandedPipes,
    restraint: Restraint | undefined,
  ): Promise<Child & { readonly pid: number }> => {
    const id = String(count++);
    const child: Child = {
      pid: undefined,
      started: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    };
    children.set(id, child);
    wait(1);
    // Calls of the same turn share a write.
    process.stdin?.cork();
    nextTick(() => process.stdin?.uncork());
    process.stdin?.write(encodeRequest(id, pipes.childEnds, restraint));
    return { ...child, pid: await child.started.promise };
  };
  return {
    refused: verdict.promise,
    ...{ imported, gone },
    hasServed: () => count > 0,
    waiting: () => waiting,
    isAlive: () => !isGone && !isRetired,
    launch: async ({ input, restraint }, watch) => {
      if (isGone || input === null) throw new NotForkedError();
      const pipes = makePipes(input);
      const started = watch?.starting(pipes.stdoutName);
      try {
        const { pid, ended } = await ask(pipes, restraint);
        started?.(pid);
        const { settle, ...streams } = pipes.open();
        return { pid, ended: ended.promise.finally(settle), ...streams };
      } catch (error) {
        started?.(null);
        pipes.discard();
        throw error;
      } finally {
        pipes.closeChildEnds();
      }
    },
    retire: () => {
      isRetired = true;
      retireIfIdle();
    },
    end: async () => {
      isRetired = true;
      process.keepAlive(true);
      process.stdin?.end();
      if (!(await waitForSettled(gone, END_MS))) await process.terminate();
      await gone;
    },
  };
}

/** The helper ends its children within one second. */
const END_MS = 2_000;
/** A helper that reports nothing for this time has been stopped. */
const STUCK_MS = 10_000;

function describeEnd(process: WatchedProcess): string {
  const last = crashLineOf(process.stderr());
  return `Python ended before it could fork${last ? `: ${last}` : ''}`;
}

function readLines(process: WatchedProcess, onLine: (line: string) => void): Promise<void> {
  const lines = createLineSplitter(
    { maxBytes: MAX_LINE_BYTES, prefixBytes: 0 },
    { onLine: (bytes, start, end) => onLine(bytes.toString('utf8', start, end)), onLongLine: () => {} },
  );
  process.stdout().on('data', (chunk: Buffer) => lines.push(chunk));
  return new Promise((resolve) => process.stdout().once('close', resolve));
}

const MAX_LINE_BYTES = 64 * 1024;

type Report =
  | { readonly type: 'imported'; readonly path: string }
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'started'; readonly id: string; readonly pid: number }
  | { readonly type: 'failed'; readonly id: string; readonly reason: string }
  | { readonly type: 'ended'; readonly id: string; readonly end: ExitStatus };

function readReport(line: string): Report | undefined {
  const [type, id = '', word = '', ...rest] = line.split(' ');
  switch (type) {
    case 'imported':
      return { type, path: Buffer.from(id, 'hex').toString() };
    case 'ready':
      return { type };
    case 'refused':
      return { type, reason: line.slice('refused '.length) };
    case 'started':
      return { type, id, pid: Number(word) };
    case 'failed':
      return { type, id, reason: [word, ...rest].join(' ') };
    case 'ended':
      return { type, id, end: readEnd(word, Number(rest[0])) };
    default:
      return undefined;
  }
}

function readEnd(how: string, number: number): ExitStatus {
  return how === 'exit' ? { exitCode: number, signal: null } : { exitCode: null, signal: signalName(number) };
}

/** `standard` holds descriptors of this process. Source: fork-helper.py. */
function encodeRequest(id: string, standard: readonly number[], restraint: Restraint | undefined): string {
  const joins = restraint?.joins.map((file) => Buffer.from(file).toString('hex')) ?? [];
  const limits = restraint?.limits.map(({ option, soft, hard }) => `${option}:${soft}:${hard}`) ?? [];
  return `${[id, process.pid, ...standard, joins.join(',') || '-', limits.join(',') || '-'].join(' ')}\n`;
}

interface HandedPipes {
  readonly childEnds: readonly [number, number, number];
  readonly stdoutName: string;
  closeChildEnds(): void;
  open(): HandedStreams;
  discard(): void;
}

interface HandedStreams extends Pick<LaunchedProcess, 'stdin' | 'stdout' | 'stderr' | 'keepAlive'> {
  settle(): void;
}

function findPipeMaker(): ((input: Uint8Array) => HandedPipes) | undefined {
  const parts = findNativeParts();
  if (parts === undefined) return undefined;
  const { libc, reader } = parts;
  return (input) => {
    const [stdin, stdout, stderr] = openPipes(libc);
    // The read end is still open here, so the write cannot fail.
    const isWritten = writeInput(libc, stdin.write, input);
    return {
      childEnds: [stdin.read, stdout.write, stderr.write],
      stdoutName: `pipe:[${fstatSync(stdout.write).ino}]`,
      closeChildEnds: () => closeAll(libc, [stdin.read, stdout.write, stderr.write]),
      open: () => {
        const outputs = reader.open(stdout.read, stderr.read);
        const rest = isWritten ? null : openStdin(stdin.write, input);
        const keepAlive = (keeps: boolean) => {
          keepNodeAlive(rest, keeps);
          for (const output of [outputs.stdout, outputs.stderr]) output.keepAlive(keeps);
        };
        return { ...outputs, stdin: rest, settle: () => reader.settle(outputs), keepAlive };
      },
      discard: () => closeAll(libc, [...(isWritten ? [] : [stdin.write]), stdout.read, stderr.read]),
    };
  };
}

interface PythonCommand {
  readonly command: string;
  readonly flags: readonly string[];
  readonly script: string;
  readonly args: readonly string[];
}

export function findPython({
  command,
  args,
  cwd,
  env,
}: Pick<Binding, 'command' | 'args' | 'cwd' | 'env'>): PythonCommand | { readonly reason: string } {
  if (isPython(command)) return readArguments(command, args, cwd);
  const program = findExecutable(command, cwd, env['PATH'] ?? '');
  if (!program.found) return { reason: program.reason };
  const words = interpreterWords(program.path);
  if (words === undefined) return { reason: `${command} is not a script: only Python scripts can be forked` };
  const [interpreter = '', ...flags] = words;
  if (!isPython(interpreter)) {
    return { reason: `${command} is a script for ${interpreter}: only Python scripts can be forked` };
  }
  return { command: interpreter, flags, script: program.path, args };
}

function isPython(command: string): boolean {
  return /^(?:python|pypy)\d*(?:\.\d+)?$/.test(basename(command));
}

function readArguments(
  command: string,
  args: readonly string[],
  cwd: string,
): PythonCommand | { readonly reason: string } {
  let index = 0;
  while (index < args.length && FLAG.test(args[index] ?? ''))
    index += TAKES_VALUE.test(args[index] ?? '') ? 2 : 1;
  const script = args[index];
  if (script === undefined || script.startsWith('-')) {
    return { reason: 'its Python runs no script file: `-c`, `-m` and stdin cannot be forked' };
  }
  if (!isFile(resolve(cwd, script))) return { reason: `${script} is not a file` };
  return { command, flags: args.slice(0, index), script, args: args.slice(index + 1) };
}

/** Source: https://docs.python.org/3/using/cmdline.html. `-c`, `-m`, `-i`, `-h` and `-V` do not run a script. */
const FLAG = /^-(?:[bBdEIOPqRsSuvx]+|[WX].*)$/;
const TAKES_VALUE = /^-[WX]$/;
