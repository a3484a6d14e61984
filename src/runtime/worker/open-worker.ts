import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { availableParallelism, hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { glob } from 'tinyglobby';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { within } from '../../base/time/async.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { formatListen, type ListenAddress, parseListen } from '../../config/listen.ts';
import type { Emit } from '../../contract/event.ts';
import type { RunDocument } from '../../contract/run.ts';
import { loadPipeline } from '../../pipelines/file/load.ts';
import { buildTextOf } from '../../pipelines/run/new-run.ts';
import type { Job, SharedWork, Transaction, WorkerRecord } from '../../store/shared-work.ts';
import type { Dispatcher, Handled, Working, WorkOptions } from '../dispatch/dispatcher.ts';
import type { Worker, WorkerOptions } from './api.ts';
import type { BuildOf } from './build.ts';

export interface WorkerContext {
  readonly config: RuntimeConfig;
  readonly work: SharedWork;
  readonly dispatcher: Dispatcher;
  readonly buildOf: BuildOf;
  readonly resume: (id: string, signal: AbortSignal) => Promise<RunDocument>;
  readonly suites: SuiteWork;
  readonly emit: Emit;
}

export interface SuiteWork {
  findBuilds(folder: string, pattern: string): Promise<ReadonlyMap<string, string>>;
  judge(jobId: string, signal: AbortSignal): Promise<Handled>;
}

/** Starts to take runs of the pipelines that exist now. Throws USAGE, LISTEN_FAILED, STORE_FAILED. */
export async function openWorker(context: WorkerContext, options: WorkerOptions): Promise<Worker> {
  const { work, emit } = context;
  const { concurrency = availableParallelism() } = options;
  requireConcurrency(concurrency);
  const listen = readListen(options.health);
  const { builds, pipelines, suites } = await findBuilds(context, options);
  const id = randomUUID();
  const state: WorkerState = { working: undefined, isDraining: false, heardAt: performance.now() };
  const report = (message: string) => emit({ type: 'note', name: 'worker', level: 'warn', message });
  const about = { id, concurrency, builds, version: options.version ?? 'unknown' };
  const beat = async () => {
    await work.beat(recordOf(about, state));
    state.heardAt = performance.now();
  };
  const sweep = async () => {
    await work.sweep();
    state.heardAt = performance.now();
  };
  let reaching: Promise<unknown> | undefined;
  const look = async () => {
    if (performance.now() - state.heardAt > FRESH_MS) {
      reaching ??= beat()
        .catch(() => {})
        .finally(() => {
          reaching = undefined;
        });
      await within(PROBE_MS, reaching);
    }
    return healthOf(state);
  };
  const health = listen && (await serveHealth(listen, look));
  try {
    state.working = await takeJobs(context, { queues: builds, concurrency, report });
    await beat();
  } catch (error) {
    await state.working?.close();
    await health?.close();
    throw error;
  }
  const rounds = [startRounds(BEAT_MS, beat, report), startRounds(SWEEP_MS, sweep, report)];
  const message = `ready: ${formatCount(concurrency, 'run')} at once, ${formatCount(pipelines.length, 'pipeline')}, ${formatCount(suites.length, 'suite')}, worker ${id}`;
  emit({ type: 'note', name: 'worker', level: 'info', message });
  const drain = once(async (drainMs: number) => {
    await endJobs(state, { drainMs, tell: beat });
    await Promise.all([...rounds.map((each) => each.stop()), health?.close()]);
    await state.working?.close();
    await work.leave(id).catch(() => {});
  });
  return { id, concurrency, builds, pipelines, suites, health: health?.url ?? null, drain };
}

interface WorkerState {
  working: Working | undefined;
  isDraining: boolean;
  heardAt: number;
}

function once(end: (drainMs: number) => Promise<void>): Worker['drain'] {
  let ending: Promise<void> | undefined;
  return (drainMs = DRAIN_MS) => {
    ending ??= end(drainMs);
    return ending;
  };
}

interface FoundBuilds {
  readonly builds: readonly string[];
  readonly pipelines: readonly string[];
  readonly suites: readonly string[];
}

async function findBuilds(
  { config, buildOf, suites }: Pick<WorkerContext, 'config' | 'buildOf' | 'suites'>,
  options: Pick<WorkerOptions, 'pipelines' | 'suites'>,
): Promise<FoundBuilds> {
  const folder = dirname(resolve(config.file));
  const found = await findPipelines(folder, options.pipelines ?? DEFAULT_PIPELINES);
  const judged = await suites.findBuilds(folder, options.suites ?? DEFAULT_SUITES);
  return {
    builds: [...new Set([...['', ...found.values()].map(buildOf), ...judged.values()])],
    pipelines: [...found.keys()],
    suites: [...judged.keys()],
  };
}

async function takeJobs(
  { work, dispatcher, resume, suites, emit }: WorkerContext,
  options: Pick<WorkOptions, 'queues' | 'concurrency' | 'report'>,
): Promise<Working> {
  const note = (level: 'info' | 'warn', message: string) =>
    emit({ type: 'note', name: 'worker', level, message });
  const kinds: Readonly<Record<Job['kind'], KindOfJob>> = {
    run: { take: work.adopt, handle: (id, signal) => continueRun({ work, note, resume }, id, signal) },
    // Claiming the chunk shows whether it is still open.
    chunk: { take: async (ids) => ids, handle: (id, signal) => suites.judge(id, signal) },
  };
  return await dispatcher.work(({ kind, id }, signal) => kinds[kind].handle(id, signal), {
    ...options,
    take: (jobs, transaction) => takeByKind(kinds, jobs, transaction),
  });
}

async function endJobs(
  state: WorkerState,
  { drainMs, tell }: { readonly drainMs: number; readonly tell: () => Promise<void> },
): Promise<void> {
  const { working } = state;
  state.isDraining = true;
  working?.stop();
  await tell().catch(() => {});
  if (working === undefined) return;
  await within(drainMs, working.idle());
  working.abort();
  await working.idle();
}

function recordOf(
  about: Pick<WorkerRecord, 'id' | 'concurrency' | 'builds' | 'version'>,
  { working, isDraining }: WorkerState,
): WorkerRecord {
  return { ...about, machine: hostname(), pid: process.pid, busy: working?.busy() ?? 0, isDraining };
}

function healthOf({ working, isDraining, heardAt }: WorkerState): Health {
  const isAlive = performance.now() - heardAt < FRESH_MS + PROBE_MS;
  return { isAlive, isReady: working !== undefined && !isDraining, busy: working?.busy() ?? 0 };
}

interface KindOfJob {
  readonly take: (ids: readonly string[], transaction?: Transaction) => Promise<readonly string[]>;
  readonly handle: (id: string, signal: AbortSignal) => Promise<Handled>;
}

async function takeByKind(
  kinds: Readonly<Record<Job['kind'], KindOfJob>>,
  jobs: readonly Job[],
  transaction: Transaction | undefined,
): Promise<readonly Job[]> {
  const taken: Job[] = [];
  for (const [kind, each] of Map.groupBy(jobs, (job) => job.kind)) {
    const ids = await kinds[kind].take(
      each.map(({ id }) => id),
      transaction,
    );
    taken.push(...each.filter(({ id }) => ids.includes(id)));
  }
  return taken;
}

const DEFAULT_PIPELINES = '**/*.pipeline.yaml';
const DEFAULT_SUITES = '**/*.suite.yaml';
const BEAT_MS = 5_000;
const SWEEP_MS = 1_000;
/** A probe checks the database if its last answer is older than FRESH_MS, and waits up to PROBE_MS. */
const FRESH_MS = 1_500;
const PROBE_MS = 2_000;
const DRAIN_MS = 30_000;

function requireConcurrency(concurrency: number): void {
  if (Number.isSafeInteger(concurrency) && concurrency >= 1 && concurrency <= MOST_RUNS) return;
  throw new RuntimeError(
    'USAGE',
    `the number of runs at once must be from 1 to ${MOST_RUNS}, not ${concurrency}`,
  );
}

const MOST_RUNS = 10_000;

function readListen(text: string | undefined) {
  if (text === undefined) return undefined;
  const address = parseListen(text);
  if (address !== undefined) return address;
  throw new RuntimeError('USAGE', `"${text}" is not an address to listen on`, {
    hint: 'Write HOST:PORT, such as 127.0.0.1:8080; port 0 takes any free port.',
  });
}

async function findPipelines(folder: string, pattern: string): Promise<ReadonlyMap<string, string>> {
  const ignore = ['**/node_modules/**', '**/.git/**', '**/.signalbox/**'];
  const files = await glob(pattern, { cwd: folder, absolute: true, expandDirectories: false, ignore });
  return new Map(files.toSorted().flatMap((file) => textOf(file).map((text) => [file, text] as const)));
}

function textOf(file: string): string[] {
  try {
    const text = readFileSync(file, 'utf8');
    // Most pipelines run no other, and need no YAML parsing.
    if (!/\bpipeline["']?\s*:/.test(text)) return [text];
    const { pipeline } = loadPipeline(file, undefined);
    return [pipeline === undefined ? text : buildTextOf(pipeline)];
  } catch {
    return [];
  }
}

interface Rounds {
  stop(): Promise<void>;
}

function startRounds(
  everyMs: number,
  work: () => Promise<unknown>,
  report: (message: string) => void,
): Rounds {
  const stopping = new AbortController();
  const go = async () => {
    let isReported = false;
    while (!stopping.signal.aborted) {
      try {
        await work();
        isReported = false;
      } catch (error) {
        if (!isReported) report(toRuntimeError(error).message);
        isReported = true;
      }
      const pauseMs = everyMs * (0.8 + 0.4 * Math.random());
      await sleep(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  };
  const going = go();
  return {
    stop: async () => {
      stopping.abort();
      await going;
    },
  };
}

interface ContinueContext {
  readonly work: SharedWork;
  readonly resume: (id: string, signal: AbortSignal) => Promise<RunDocument>;
  readonly note: (level: 'info' | 'warn', message: string) => void;
}

async function continueRun(
  { work, resume, note }: ContinueContext,
  id: string,
  signal: AbortSignal,
): Promise<Handled> {
  const beganAt = performance.now();
  try {
    let document = await resume(id, signal);
    // All calls were decided while the run was being suspended.
    while (document.status === 'pending' && document.pending.length === 0)
      document = await resume(id, signal);
    note('info', `run ${id} ${document.status} after ${Math.round(performance.now() - beganAt)} ms`);
    return 'done';
  } catch (thrown) {
    const { code, message } = toRuntimeError(thrown);
    // The run was removed, ended or claimed elsewhere. If that process leaves it, the next sweep announces it.
    if (code === 'RUN_UNKNOWN' || code === 'RUN_ENDED' || code === 'RUN_BUSY') return 'done';
    if (code === 'ABORTED' && signal.aborted) {
      await work.giveBack(id);
      note('info', `run ${id} was given back`);
      return 'done';
    }
    note('warn', `run ${id} was left: [${code}] ${message}`);
    return { retryMs: code === 'STORE_FAILED' ? FAULT_MS : REFUSED_MS };
  }
}

const FAULT_MS = 5_000;
/** No other worker of the same build can execute the run either. */
const REFUSED_MS = 60_000;

interface Health {
  readonly isAlive: boolean;
  readonly isReady: boolean;
  readonly busy: number;
}

interface HealthServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves GET /healthz and /readyz with 200 or 503. `look` never rejects. Throws LISTEN_FAILED. */
async function serveHealth(
  { host, port }: ListenAddress,
  look: () => Promise<Health>,
): Promise<HealthServer> {
  const server = createServer(async (request, response) => {
    const health = await look();
    const answers: Readonly<Record<string, boolean>> = {
      '/healthz': health.isAlive,
      '/readyz': health.isAlive && health.isReady,
    };
    const isGood = answers[new URL(request.url ?? '/', 'http://worker').pathname];
    const status = isGood === undefined ? 404 : isGood ? 200 : 503;
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    response.end(
      isGood === undefined
        ? '{"error":"there is /healthz and /readyz"}\n'
        : `${JSON.stringify({ status: isGood ? 'ok' : health.isAlive ? 'draining' : 'no database', busy: health.busy })}\n`,
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new RuntimeError(
          'LISTEN_FAILED',
          `cannot listen on ${formatListen({ host, port })}: ${cause.message}`,
          {
            cause,
          },
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const bound =
    address === null || typeof address === 'string' ? { host, port } : { host, port: address.port };
  return {
    url: `http://${formatListen(bound)}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
