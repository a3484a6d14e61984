import { createRequire } from 'node:module';
import { crashLineOf } from '../../base/text/crash-line.ts';
import { waitForSettled } from '../../base/time/deadline.ts';
import type { Binding } from '../binding.ts';
import type { HandedPipes } from '../launch/handed-pipes.ts';
import type {
  ExitStatus,
  LaunchedProcess,
  LaunchListener,
  LaunchRequest,
  Restraint,
} from '../launch/launch.ts';
import { signalGroup } from '../launch/process-groups.ts';
import { type ProcessContext, startProcess, type WatchedProcess } from '../process.ts';
import { createLineSplitter } from '../stream-reader.ts';
import type { PythonCommand } from './python.ts';
import { encodeRequest, type Report, readReport } from './reports.ts';

/** One life of a process that has imported what a script imports, and forks for each call. */
export interface Helper {
  /** undefined once it can fork; otherwise why it never can. Never rejects. */
  readonly refused: Promise<string | undefined>;
  /** Settles when the process is gone, and all its children with it: `died` though it was to go on. */
  readonly gone: Promise<'died' | 'ended'>;
  /** Whether it has forked at all. */
  hasServed(): boolean;
  isAlive(): boolean;
  /** Forks a child. Rejects when it could not be forked, or is not known to have been. */
  launch(request: LaunchRequest, watch: LaunchListener | undefined): Promise<LaunchedProcess>;
  /** Lets it end when no call needs it any more. Safe to call again. */
  retire(): void;
  /** Ends it, children included, with SIGTERM, a grace and SIGKILL. Never rejects. */
  end(): Promise<void>;
}

/** What a helper has to know beyond its entry. */
export interface HelperOptions {
  readonly python: PythonCommand;
  readonly makePipes: (input: Uint8Array) => HandedPipes;
}

/** A child that was asked for and has not ended. */
interface Child {
  pid: number | undefined;
  readonly started: PromiseWithResolvers<number>;
  readonly ended: PromiseWithResolvers<ExitStatus>;
}

/** Starts a helper. Throws PROCESS_START. */
export async function startHelper(
  binding: Binding,
  context: ProcessContext,
  { python, makePipes }: HelperOptions,
): Promise<Helper> {
  const { command, flags, script, args } = python;
  // In a package of bundles its place is known by name only.
  const helperFile = createRequire(import.meta.url).resolve('#fork-helper');
  const { cpuSeconds: _, processes: __, ...limits } = binding.limits ?? {};
  const process = await startProcess(
    {
      ...{ ...binding, mode: 'server', command, args: [...flags, helperFile, script, ...args] },
      // Each child counts its own computing and processes; of all else the helper may have as much as one of them.
      limits: binding.limits && limits,
    },
    context,
    null,
  );
  // Each call that it forks for has a limit of time, whose timer keeps Node alive meanwhile.
  process.keepAlive(false);
  const children = new Map<string, Child>();
  const verdict = Promise.withResolvers<string | undefined>();
  let isRetired = false;
  let isReady = false;
  let isGone = false;
  let count = 0;

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
    child.pid = pid;
    child.started.resolve(pid);
  };
  const onReport = (report: Report | undefined) => {
    switch (report?.type) {
      case 'ready':
        isReady = true;
        return verdict.resolve(undefined);
      case 'refused':
        return verdict.resolve(report.reason);
      case 'started':
        return onStarted(report);
      case 'failed':
        children.get(report.id)?.started.reject(new Error(`it could not be forked: ${report.reason}`));
        return forget(report.id);
      case 'ended':
        children.get(report.id)?.ended.resolve(report.end);
        return forget(report.id);
      default:
        return undefined;
    }
  };
  const onGone = () => {
    const wasWanted = isReady && !isRetired;
    isGone = true;
    verdict.resolve(describeEnd(process));
    for (const { pid, started, ended } of children.values()) {
      started.reject(new Error('the process that forks it has ended'));
      // Nobody can tell how it ends any more, so it must not pass for done.
      if (pid !== undefined) signalGroup(pid, 'SIGKILL');
      ended.resolve({ exitCode: null, signal: 'SIGKILL' });
    }
    children.clear();
    // What its imports have started.
    process.killGroup();
    process.release();
    return wasWanted ? 'died' : 'ended';
  };
  const reportsRead = readLines(process, (line) => onReport(readReport(line)));
  const gone = Promise.all([process.ended, reportsRead]).then(onGone);

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
    process.stdin?.write(encodeRequest(id, pipes.childEnds, restraint));
    return { ...child, pid: await child.started.promise };
  };
  return {
    refused: verdict.promise,
    gone,
    hasServed: () => count > 0,
    isAlive: () => !isGone && !isRetired,
    launch: async ({ input, restraint }, watch) => {
      if (isGone || input === null) throw new Error('the process that forks it has ended');
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

/** It ends its children within a second. */
const END_MS = 2_000;

function describeEnd(process: WatchedProcess): string {
  const last = crashLineOf(process.stderr());
  return `Python ended before it could fork${last ? `: ${last}` : ''}`;
}

/** Reads the helper's lines; resolves at their end. */
function readLines(process: WatchedProcess, onLine: (line: string) => void): Promise<void> {
  const lines = createLineSplitter(
    { maxBytes: MAX_LINE_BYTES, prefixBytes: 0 },
    { onLine: (bytes, start, end) => onLine(bytes.toString('utf8', start, end)), onLongLine: () => {} },
  );
  process.stdout.on('data', (chunk: Buffer) => lines.push(chunk));
  return new Promise((resolve) => process.stdout.once('close', resolve));
}

const MAX_LINE_BYTES = 64 * 1024;
