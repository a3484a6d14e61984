import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { glob } from 'tinyglobby';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { stringifyJson } from '../../base/json/json.ts';
import { fencedBy } from '../../base/time/fence.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import type { Emit } from '../../contract/event.ts';
import type { ChunkClaim, ChunkProgress, ResultStore, SuiteChunks } from '../../store/result-store.ts';
import type { Announce } from '../../store/shared-work.ts';
import type { Suite, SuiteProgress } from '../../suites/file/model.ts';
import { openJournal, openStoredRun } from '../../suites/journal.ts';
import { requireSuite } from '../../suites/load.ts';
import type { RunHeader, SuiteReport } from '../../suites/record.ts';
import { keepRun, openRequiredStore, requireRun } from '../../suites/run/keep-run.ts';
import { chunkSizeOf } from '../../suites/run/window.ts';
import { newRunAccumulator } from '../../suites/run-accumulator.ts';
import {
  type ChunkWork,
  filesOf,
  folderOf,
  fromShared,
  readChunkWork,
  toShared,
} from '../../suites/shared/chunk-work.ts';
import { judgeChunk, readPlace, readSharedTally } from '../../suites/shared/judge-chunk.ts';
import { awaitChunks, planChunks } from '../../suites/shared/plan-chunks.ts';
import type { SuiteOptions } from '../../suites/suite-run.ts';
import type { SuiteRunOptions } from '../api.ts';
import type { Handled } from '../dispatch/dispatcher.ts';
import { applyOptions, namedOptions, usage } from '../suite-options.ts';
import type { BuildOf } from '../worker/build.ts';

interface SharedSuitesContext extends ChunkJudgeContext {
  readonly announce: Announce;
  readonly buildOf: BuildOf;
  readonly emit: Emit;
  readonly concurrency: number;
  readonly usesRecording: boolean;
}

export interface SharedSuites {
  /** Distributes the cases to workers, waits for them, and reports. Throws as a local run, and WORKER_FAILED. */
  run(suite: Suite, options: SuiteRunOptions): Promise<SuiteReport>;
  findBuilds(folder: string, pattern: string): Promise<ReadonlyMap<string, string>>;
  judge(jobId: string, signal: AbortSignal): Promise<Handled>;
}

export function openSharedSuites(context: SharedSuitesContext): SharedSuites {
  const { config, buildOf, emit } = context;
  const chunksOf = (store: ResultStore): SuiteChunks => {
    const { chunks } = store;
    if (chunks === undefined) throw needsPostgres(config);
    chunks.announceBy(context.announce);
    return chunks;
  };
  const judgeClaimed = createChunkJudge(context);
  return {
    run: async (suite, options) => {
      refuseOptions(suite, options, context);
      if (config.stateStore.type !== 'postgres') throw needsPostgres(config);
      const store = await openRequiredStore(context.results);
      const chunks = chunksOf(store);
      const wanted = { ...namedOptions(options, undefined), '--workers': true };
      const keep = {
        ...{ suite, config, programs: buildOf.programs(), wanted },
        ...{ resume: options.resume, again: options.again, total: null },
      };
      return await keepRun(store, keep, async (header, journal) => {
        options.onStart?.(header);
        const work = workOf(config, suite, options, header);
        const build = buildOf(sourceOf(suite));
        await chunks.share(header.run_id, { build, work: stringifyJson(work) });
        const started = performance.now();
        await options.reporter?.begin(header);
        await planAndAwait(chunks, suite, { header, options, rowsPerChunk: chunkSizeOf(suite, context) });
        const report = await mergeTallies(chunks, suite, { header, options, started });
        if (options.reporter?.readsCases !== false) await tellCases(store, header.run_id, report, options);
        await journal.end(report);
        await options.reporter?.end(report);
        return report;
      });
    },
    findBuilds: async (folder, pattern) => {
      const files = await glob(pattern, { cwd: folder, absolute: true, expandDirectories: false, ignore });
      return new Map(files.toSorted().flatMap((file) => buildOfFile(file, config, buildOf)));
    },
    judge: async (jobId, signal) => {
      const [, runId = '', number = ''] = /^(.*)\/(\d+)$/.exec(jobId) ?? [];
      const claim = await chunksOf(await context.results()).claim(runId, Number(number));
      if (claim === undefined) return 'done';
      const note = (level: 'info' | 'warn', message: string) =>
        emit({ type: 'note', name: 'worker', level, message: `part ${number} of run ${runId} ${message}` });
      try {
        const began = performance.now();
        const isKept = await judgeClaimed(claim, runId, signal);
        const took = Math.round(performance.now() - began);
        note('info', isKept ? `was judged in ${took} ms` : 'was taken by another worker meanwhile');
        return 'done';
      } catch (thrown) {
        if (signal.aborted) return { retryMs: 0 };
        const { code, message } = toRuntimeError(thrown);
        if (code === 'STORE_FAILED') throw thrown;
        note('warn', `failed: [${code}] ${message}`);
        await claim.fail(`[${code}] ${message}`);
        return { retryMs: RETRY_MS };
      } finally {
        await claim.release();
      }
    },
  };
}

const ignore = ['**/node_modules/**', '**/.git/**', '**/.signalbox/**'];
const RETRY_MS = 500;

function needsPostgres({ file }: RuntimeConfig): RuntimeError {
  return new RuntimeError(
    'USAGE',
    `--workers needs a state store that workers share, but the store of ${file} belongs to one machine`,
    {
      hint: 'Set `state_store: {type: postgres, url_env: DATABASE_URL}` in the config, and start `signalbox worker`.',
    },
  );
}

/** Refuses options that need the order of all rows, or something local to this process. Throws USAGE. */
function refuseOptions(
  { dataset }: Suite,
  { select, bail, keep }: SuiteRunOptions,
  { usesRecording }: SharedSuitesContext,
): void {
  if (Object.values(select ?? {}).some((value) => value !== undefined && !isEmpty(value)))
    throw usage(
      '--workers judges every row, and cannot be combined with --filter, --tag, --sample, --shard or --max-cases',
    );
  if (bail !== undefined)
    throw usage('--workers judges rows in no order, and cannot be combined with --bail');
  if (keep === false)
    throw usage('--workers stores the run for all workers, and cannot be combined with --no-store');
  if (usesRecording) throw usage('--workers cannot be combined with --record or --replay');
  if (dataset.kind === 'file' && dataset.path === '-')
    throw usage('--workers cannot read a dataset from stdin');
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The files of a suite that a worker must have, besides the config and its scripts. Throws FILE_UNREADABLE. */
function sourceOf(suite: Suite): string {
  return ['suite', ...filesOf(suite).map((file) => readFileSync(file, 'utf8'))].join('\n');
}

/** Empty for a suite that is unreadable or has another config, because no run of it can start here. */
function buildOfFile(file: string, config: RuntimeConfig, buildOf: BuildOf): [string, string][] {
  try {
    const suite = requireSuite(file, config);
    if (suite.runtime !== undefined && resolve(suite.runtime) !== resolve(config.file)) return [];
    return [[file, buildOf(sourceOf(suite))]];
  } catch {
    return [];
  }
}

interface ChunkJudgeContext {
  readonly config: RuntimeConfig;
  judgingOf(suite: Suite, options: SuiteRunOptions): Promise<Judging>;
  results(): Promise<ResultStore>;
}

type JudgeClaimed = (claim: ChunkClaim, runId: string, signal: AbortSignal) => Promise<boolean>;

function createChunkJudge(context: ChunkJudgeContext): JudgeClaimed {
  const load = createLoader(context);
  return async (claim, runId, signal) => {
    const { suite, header, judging, folder } = await load(claim.work);
    const store = await context.results();
    // Only a reopened run can have results of an unfinished chunk.
    const isReopened = (await store.reopenings(runId)).length > 0;
    const { find } = openJournal(store, runId, isReopened);
    const judged = await fencedBy(claim, () =>
      judgeChunk(suite, readPlace(claim.place), { ...judging, header, signal, runId, folder, find }),
    );
    return await claim.end(judged.records, judged.tally);
  };
}

interface Loaded {
  readonly suite: Suite;
  readonly header: RunHeader;
  readonly judging: Judging;
  readonly folder: string;
}

function createLoader({ config, judgingOf }: ChunkJudgeContext): (work: string) => Promise<Loaded> {
  let last: { readonly work: string; readonly loading: Promise<Loaded> } | undefined;
  const load = async (text: string): Promise<Loaded> => {
    const work = readChunkWork(text);
    const file = fromShared(dirname(resolve(config.file)), work.suite);
    const { epochs, reducer, retries, timeoutMs, keepGoing, cache, providers, header } = work;
    const folder = folderOf({ file });
    const dataset = work.dataset === undefined ? undefined : fromShared(folder, work.dataset);
    const options = { epochs, reducer, retries, timeoutMs, keepGoing, cache, providers, dataset };
    const suite = applyOptions(requireSuite(file, config), options);
    return {
      suite: { ...suite, file: header.file },
      header,
      judging: await judgingOf(suite, options),
      folder,
    };
  };
  return (work) => {
    if (last?.work !== work) last = { work, loading: load(work) };
    const { loading } = last;
    loading.catch(() => {
      last = undefined;
    });
    return loading;
  };
}

interface Coordinated {
  readonly header: RunHeader;
  readonly options: SuiteRunOptions;
}

async function planAndAwait(
  chunks: SuiteChunks,
  suite: Suite,
  { header, options, rowsPerChunk }: Coordinated & { readonly rowsPerChunk: number },
): Promise<void> {
  const { run_id: runId } = header;
  const ending = new AbortController();
  const signal =
    options.signal === undefined ? ending.signal : AbortSignal.any([options.signal, ending.signal]);
  const planned = planChunks(chunks, suite, { runId, rowsPerChunk, signal });
  // `awaitChunks` reports the error.
  planned.catch(() => {});
  let total: number | null = null;
  planned.then(
    ({ rows }) => {
      total = rows;
    },
    () => {},
  );
  try {
    await awaitChunks(chunks, {
      ...{ runId, signal, total: planned.then((plan) => plan.chunks) },
      onProgress: (now) => options.onProgress?.(toProgress(now, total), undefined),
    });
  } finally {
    ending.abort();
    await planned.catch(() => {});
  }
}

/** Finished rows count as passed cases; the real results are known at the end. */
function toProgress({ doneRows, rows }: ChunkProgress, total: number | null): SuiteProgress {
  const fraction = rows === 0 ? null : doneRows / rows;
  return {
    cases: doneRows,
    problems: 0,
    evals: doneRows,
    failed: 0,
    unscored: 0,
    passed: doneRows,
    total,
    fraction,
  };
}

async function mergeTallies(
  chunks: SuiteChunks,
  suite: Suite,
  { header, options, started }: Coordinated & { readonly started: number },
): Promise<SuiteReport> {
  const accumulator = newRunAccumulator(suite, { header, keepGoing: options.keepGoing });
  let rows = 0;
  for await (const text of chunks.tallies(header.run_id)) {
    const { rows: judged, tally } = readSharedTally(text);
    rows += judged;
    accumulator.merge(tally);
  }
  return accumulator.report({ durationMs: performance.now() - started, rows, fault: undefined });
}

async function tellCases(
  store: ResultStore,
  runId: string,
  { problems }: SuiteReport,
  { reporter }: SuiteRunOptions,
): Promise<void> {
  if (reporter === undefined) return;
  for await (const record of openStoredRun(store, await requireRun(store, runId)).cases())
    await reporter.onCase(record);
  for (const problem of problems) await reporter.onProblem(problem);
}

function workOf(
  config: RuntimeConfig,
  suite: Suite,
  { dataset, providers, reducer, timeoutMs, keepGoing = false, cache }: SuiteRunOptions,
  header: RunHeader,
): ChunkWork {
  const folder = dirname(resolve(config.file));
  return {
    ...{
      suite: toShared(folder, suite.file),
      header,
      epochs: suite.epochs,
      retries: suite.retries,
      keepGoing,
    },
    ...(dataset !== undefined && { dataset: toShared(folderOf(suite), dataset) }),
    ...(providers !== undefined && { providers }),
    ...(reducer !== undefined && { reducer }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(cache !== undefined && { cache: cache !== false }),
  };
}

export type Judging = Pick<
  SuiteOptions,
  | 'emit'
  | 'keepGoing'
  | 'window'
  | 'epochConcurrency'
  | 'fire'
  | 'scrub'
  | 'scrubRow'
  | 'subject'
  | 'variants'
  | 'score'
  | 'aroundEpoch'
  | 'onFound'
>;
