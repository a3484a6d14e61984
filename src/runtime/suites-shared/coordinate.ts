import { dirname, resolve } from 'node:path';
import type { RuntimeConfig } from '../../config/config.ts';
import type { ResultStore } from '../../store/result-store.ts';
import type { ChunkProgress, SuiteChunks } from '../../store/suite-chunks.ts';
import type { Suite, SuiteProgress } from '../../suites/file/model.ts';
import { openStoredRun } from '../../suites/journal.ts';
import type { RunHeader, SuiteReport } from '../../suites/record.ts';
import { requireRun } from '../../suites/run/keep-run.ts';
import { newRunAccumulator } from '../../suites/run-accumulator.ts';
import { awaitChunks } from '../../suites/shared/await-chunks.ts';
import { type ChunkWork, folderOf, toShared } from '../../suites/shared/chunk-work.ts';
import { planChunks } from '../../suites/shared/plan-chunks.ts';
import { readSharedTally } from '../../suites/shared/tally.ts';
import type { SuiteRunOptions } from '../api.ts';

/** A run, and the options that it was begun with. */
export interface Coordinated {
  readonly header: RunHeader;
  readonly options: SuiteRunOptions;
}

/** Gives the cases to workers, and waits for them. Throws as `planChunks` and `awaitChunks` do. */
export async function planAndAwait(
  chunks: SuiteChunks,
  suite: Suite,
  { header, options, rowsPerChunk }: Coordinated & { readonly rowsPerChunk: number },
): Promise<void> {
  const { run_id: runId } = header;
  const ending = new AbortController();
  const signal =
    options.signal === undefined ? ending.signal : AbortSignal.any([options.signal, ending.signal]);
  const planned = planChunks(chunks, suite, { runId, rowsPerChunk, signal });
  // Whoever awaits the chunks is told.
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

/** Rows that are done count as cases; what they came to is known at the end. */
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

/** What all chunks came to together. */
export async function mergeTallies(
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

/** Tells a reporter of every case, in order, as they are kept. */
export async function tellCases(
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

/** What all chunks of a run are judged with. */
export function workOf(
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
