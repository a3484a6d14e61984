import type { ChunkClaim, SuiteChunks } from '../../result-store.ts';
import type { Announce, Job, Transaction } from '../../shared-work.ts';
import { missingRunError } from '../../store-rules.ts';
import type { Claims } from '../claims.ts';
import type { Run } from '../driver.ts';
import { inTransaction } from '../work/transaction.ts';
import * as chunks from './chunk-rows.ts';

export interface ChunkParts {
  readonly location: string;
  readonly run: Run;
  readonly claims: Claims;
}

export function chunkMethods({ location, run, claims }: ChunkParts): SuiteChunks {
  let announce: Announce = async () => false;
  const tell = async (work: (transaction: Transaction) => Promise<Job[]>): Promise<number> => {
    const { result, finish } = await run((link) =>
      inTransaction(link, async (transaction) => {
        const jobs = await work(transaction);
        if (jobs.length > 0) await announce(jobs, transaction);
        return jobs.length;
      }),
    );
    finish();
    return result;
  };
  return {
    announceBy: (given) => {
      announce = given;
    },
    share: async (runId, shared) => {
      if (!(await run((link) => chunks.share(link, runId, shared)))) throw missingRunError(runId, location);
    },
    add: async (runId, list) => void (await tell((transaction) => chunks.add(transaction, runId, list))),
    progress: (runId) => run((link) => chunks.progress(link, runId)),
    announceIdle: (runId) => tell((transaction) => chunks.takeIdle(transaction, runId, AGAIN_AFTER_MS)),
    tallies: async function* (runId) {
      for (let behind = 0; ; ) {
        const page = await run((link) => chunks.pageOfTallies(link, runId, behind));
        for (const { tally } of page) yield tally;
        const last = page.at(-1);
        if (last === undefined) return;
        behind = last.number;
      }
    },
    claim: (runId, number) => claimChunk({ run, claims, location }, runId, number),
  };
}

/** A job may be lost, and its worker killed. */
const AGAIN_AFTER_MS = 3_000;

async function claimChunk(
  { run, claims }: ChunkParts,
  runId: string,
  number: number,
): Promise<ChunkClaim | undefined> {
  const name = chunks.claimOf(runId, number);
  const claim = await claims.claim(name);
  if (claim === undefined) return undefined;
  const epoch = claims.epochOf(name);
  try {
    const open = await run((link) => chunks.findOpen(link, runId, number));
    if (open !== undefined && epoch !== null)
      return {
        ...claim,
        ...open,
        end: (records, tally) =>
          run((link) => chunks.endChunk(link, { runId, number, epoch, records, tally })),
        fail: (failure) => run((link) => chunks.countFailure(link, runId, number, failure)),
      };
  } catch (error) {
    await claim.release();
    throw error;
  }
  await claim.release();
  return undefined;
}
