import { RuntimeError } from '../../base/errors.ts';
import { stringifyJson } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/parse.ts';
import { text as anyText, anything, members, number, readShape } from '../../base/json/shape.ts';
import type { NewResult } from '../../store/result-store.ts';
import { type DatasetChunk, datasetChunk } from '../dataset/ranges/dataset-chunk.ts';
import { readChunk } from '../dataset/ranges/read-chunk.ts';
import type { Row } from '../dataset/row.ts';
import type { Suite } from '../file/model.ts';
import { toResult } from '../journal.ts';
import { type EpochJournal, judgeRows, type SuiteOptions } from '../suite-run.ts';
import { fromShared } from './chunk-work.ts';

/** A chunk as stored: its file relative to the suite's folder, and its name in reports. */
export interface ChunkPlace {
  readonly chunk: DatasetChunk;
  readonly shownFile: string;
}

interface JudgedChunk {
  readonly records: readonly NewResult[];
  readonly tally: string;
}

interface ChunkOptions extends Omit<SuiteOptions, 'journal' | 'reporter' | 'onProgress' | 'select'> {
  readonly find: EpochJournal['find'];
  readonly runId: string;
  readonly folder: string;
}

/**
 * Judges the rows of a chunk and holds the results in memory. Throws DATASET_INVALID if the file has changed since
 * planning, FILE_UNREADABLE and ABORTED. Rethrows errors of the tools.
 */
export async function judgeChunk(
  suite: Suite,
  { chunk, shownFile }: ChunkPlace,
  { runId, folder, find, ...options }: ChunkOptions,
): Promise<JudgedChunk> {
  const records: NewResult[] = [];
  const here = { ...chunk, file: fromShared(folder, chunk.file) };
  const { accumulator, rows } = await judgeRows(
    suite,
    {
      ...options,
      journal: {
        find,
        keep: async (key, record) => void records.push(toResult(runId, key, record)),
        end: async () => {},
      },
    },
    (signal) => ({ rows: shownAs(readChunk(suite.dataset, here, signal), shownFile), fraction: () => null }),
  );
  return { records, tally: writeSharedTally({ rows, tally: accumulator.state() }) };
}

async function* shownAs(rows: AsyncIterable<Row>, file: string): AsyncGenerator<Row> {
  for await (const row of rows) yield { ...row, file };
}

export function readPlace(text: string): ChunkPlace {
  return readShape(chunkPlace, tryParseLossless(text), (path) => {
    return new RuntimeError(
      'STORE_FAILED',
      `the stored position of a part of a dataset is damaged (at ${path})`,
    );
  });
}

const chunkPlace = members<ChunkPlace>({ chunk: datasetChunk, shownFile: anyText });

interface SharedTally {
  readonly rows: number;
  readonly tally: unknown;
}

function writeSharedTally(tally: SharedTally): string {
  return stringifyJson(tally);
}

export function readSharedTally(text: string): SharedTally {
  return readShape(
    members<SharedTally>({ rows: number, tally: anything }),
    tryParseLossless(text),
    (path) => {
      return new RuntimeError('STORE_FAILED', `the stored result of a part of a run is damaged (at ${path})`);
    },
  );
}
