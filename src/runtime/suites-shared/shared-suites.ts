import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { glob } from 'tinyglobby';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { stringifyJson } from '../../base/json/json.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import type { Emit } from '../../contract/event.ts';
import type { ResultStore } from '../../store/result-store.ts';
import type { Announce } from '../../store/shared-work.ts';
import type { SuiteChunks } from '../../store/suite-chunks.ts';
import type { Suite } from '../../suites/file/model.ts';
import { requireSuite } from '../../suites/load.ts';
import type { SuiteReport } from '../../suites/record.ts';
import { keepRun, openRequiredStore } from '../../suites/run/keep-run.ts';
import { chunkSizeOf } from '../../suites/run/window.ts';
import { filesOf } from '../../suites/shared/chunk-work.ts';
import type { SuiteRunOptions } from '../api.ts';
import type { Handled } from '../dispatch/dispatcher.ts';
import { namedOptions, usage } from '../suite-options.ts';
import type { BuildOf } from '../worker/build.ts';
import { type ChunkJudgeContext, createChunkJudge } from './chunk-judge.ts';
import { mergeTallies, planAndAwait, tellCases, workOf } from './coordinate.ts';

export interface SharedSuitesContext extends ChunkJudgeContext {
  readonly announce: Announce;
  readonly buildOf: BuildOf;
  readonly emit: Emit;
  /** Processes at once. */
  readonly concurrency: number;
  /** Whether exchanges are recorded, or answered from a recording. */
  readonly usesRecording: boolean;
}

/** Runs of suites that workers share. */
export interface SharedSuites {
  /** Gives the cases to workers, waits for them, and reports. Throws as a run of its own does, and WORKER_FAILED. */
  run(suite: Suite, options: SuiteRunOptions): Promise<SuiteReport>;
  /** The builds of the suites of this config whose files match a pattern, as seen from an absolute folder. */
  findBuilds(folder: string, pattern: string): Promise<ReadonlyMap<string, string>>;
  /** Judges a chunk, by the id of its job. Rejects with STORE_FAILED. */
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
      // Done, somebody else's, or of a run that was given up.
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
    `--workers needs a state store that workers share, and that of ${file} is of one machine`,
    {
      hint: 'Set `state_store: {type: postgres, url_env: DATABASE_URL}` in the config, and start `signalbox worker`.',
    },
  );
}

/** What goes by the order of all rows, or by what this process alone has. Throws USAGE. */
function refuseOptions(
  { dataset }: Suite,
  { select, bail, keep }: SuiteRunOptions,
  { usesRecording }: SharedSuitesContext,
): void {
  if (Object.values(select ?? {}).some((value) => value !== undefined && !isEmpty(value)))
    throw usage('--workers judges every row: without --filter, --tag, --sample, --shard and --max-cases');
  if (bail !== undefined) throw usage('--workers judges rows in no order, so that --bail has no meaning');
  if (keep === false)
    throw usage('--workers keeps the run where all of them find it, so not with --no-store');
  if (usesRecording) throw usage('--workers is not to be had with --record or --replay');
  if (dataset.kind === 'file' && dataset.path === '-')
    throw usage('--workers cannot read a dataset on stdin');
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** What a worker must have alike, beside the config and its scripts. Throws FILE_UNREADABLE. */
function sourceOf(suite: Suite): string {
  return ['suite', ...filesOf(suite).map((file) => readFileSync(file, 'utf8'))].join('\n');
}

/** None for a suite that is not of this config, or that cannot be read: no run of it can be begun here either. */
function buildOfFile(file: string, config: RuntimeConfig, buildOf: BuildOf): [string, string][] {
  try {
    const suite = requireSuite(file, config);
    if (suite.runtime !== undefined && resolve(suite.runtime) !== resolve(config.file)) return [];
    return [[file, buildOf(sourceOf(suite))]];
  } catch {
    return [];
  }
}
