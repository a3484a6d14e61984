import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError } from '../../base/errors.ts';
import { stringifyJson } from '../../base/json/json.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type { ChunkProgress, SuiteChunks } from '../../store/result-store.ts';
import { indexDataset } from '../dataset/ranges/index-dataset.ts';
import type { Suite } from '../file/model.ts';
import { requireFewCases } from '../matrix/cells.ts';
import { folderOf, toShared } from './chunk-work.ts';
import type { ChunkPlace } from './judge-chunk.ts';

export interface PlanChunksOptions {
  readonly runId: string;
  readonly rowsPerChunk: number;
  readonly signal: AbortSignal;
}

/**
 * Reads the dataset once and hands chunks to workers while reading. Throws FILE_UNREADABLE, DATASET_INVALID,
 * STORE_FAILED and ABORTED. Throws USAGE if the dataset cannot be read twice or a matrix has too many cases.
 */
export async function planChunks(
  chunks: SuiteChunks,
  suite: Suite,
  { runId, rowsPerChunk, signal }: PlanChunksOptions,
): Promise<{ readonly chunks: number; readonly rows: number }> {
  const folder = folderOf(suite);
  let [number, rows] = [0, 0];
  let waiting: { number: number; rows: number; place: string }[] = [];
  for await (const chunk of indexDataset(suite.dataset, { rowsPerChunk, signal })) {
    number += 1;
    rows += chunk.rows;
    if (suite.variants !== undefined) requireFewCases(rows * suite.variants.length, suite.variants.length);
    const place: ChunkPlace = {
      chunk: { ...chunk, file: toShared(folder, chunk.file) },
      shownFile: chunk.file,
    };
    waiting.push({ number, rows: chunk.rows, place: stringifyJson(place) });
    if (waiting.length < TOGETHER) continue;
    await chunks.add(runId, waiting);
    waiting = [];
  }
  if (waiting.length > 0) await chunks.add(runId, waiting);
  return { chunks: number, rows };
}

const TOGETHER = 100;

export interface AwaitOptions {
  readonly runId: string;
  readonly total: Promise<number>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ChunkProgress) => void;
}

/**
 * Waits until all chunks are done and periodically announces idle chunks again. Throws WORKER_FAILED, ABORTED,
 * STORE_FAILED. Rethrows the rejection of `total`.
 */
export async function awaitChunks(
  chunks: SuiteChunks,
  { runId, total, signal, onProgress }: AwaitOptions,
): Promise<void> {
  let known: number | undefined;
  let failed: { readonly error: unknown } | undefined;
  total.then(
    (count) => {
      known = count;
    },
    (error: unknown) => {
      failed = { error };
    },
  );
  for (let round = 0; ; round += 1) {
    const progress = await chunks.progress(runId);
    onProgress(progress);
    if (failed !== undefined) throw failed.error;
    if (known !== undefined && progress.done >= known) return;
    requireHope(progress);
    if (round % TELL_EVERY === TELL_EVERY - 1) await chunks.announceIdle(runId);
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) throw new RuntimeError('ABORTED', 'the run of the suite was stopped');
  }
}

const LOOK_MS = 250;
const TELL_EVERY = 4;
/** For one chunk, over all workers. */
const MOST_FAILURES = 5;

function requireHope({ worst }: ChunkProgress): void {
  if (worst === undefined || worst.failures < MOST_FAILURES) return;
  throw new RuntimeError(
    'WORKER_FAILED',
    `part ${worst.number} of the dataset failed on ${formatCount(worst.failures, 'worker')}: ${worst.failure}`,
  );
}
