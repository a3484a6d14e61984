import { stringifyJson } from '../../base/json/json.ts';
import type { SuiteChunks } from '../../store/result-store.ts';
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
 * Reads the dataset once and gives its parts to workers, while it reads. Throws FILE_UNREADABLE, DATASET_INVALID, USAGE for a dataset that cannot
 * be read twice or has more cases than a matrix may, STORE_FAILED, ABORTED.
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

/** Chunks of one statement. */
const TOGETHER = 100;
