import { dirname, resolve } from 'node:path';
import { fencedBy } from '../../base/time/fence.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import type { ResultStore } from '../../store/result-store.ts';
import type { ChunkClaim } from '../../store/suite-chunks.ts';
import type { Suite } from '../../suites/file/model.ts';
import { openJournal } from '../../suites/journal.ts';
import { requireSuite } from '../../suites/load.ts';
import type { RunHeader } from '../../suites/record.ts';
import { folderOf, fromShared, readChunkWork } from '../../suites/shared/chunk-work.ts';
import { judgeChunk, readPlace } from '../../suites/shared/judge-chunk.ts';
import type { SuiteRunOptions } from '../api.ts';
import { applyOptions } from '../suite-options.ts';
import type { Judging } from './judging.ts';

export interface ChunkJudgeContext {
  readonly config: RuntimeConfig;
  judgingOf(suite: Suite, options: SuiteRunOptions): Promise<Judging>;
  /** The results of the state store. Throws STORE_FAILED. */
  results(): Promise<ResultStore>;
}

/** Judges chunks that were claimed. False: another worker has it meanwhile, and nothing was kept. */
export type JudgeClaimed = (claim: ChunkClaim, runId: string, signal: AbortSignal) => Promise<boolean>;

/** Loads what the chunks of a run are judged with, once for those that follow one another. */
export function createChunkJudge(context: ChunkJudgeContext): JudgeClaimed {
  const load = createLoader(context);
  return async (claim, runId, signal) => {
    const { suite, header, judging, folder } = await load(claim.work);
    const store = await context.results();
    // Of a run that was never reopened nothing of an open part is kept.
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
    // Messages name files as the one who began the run does.
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
