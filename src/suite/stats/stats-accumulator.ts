import type { CaseRecord, CaseResult, CaseStats, EvalHeader, EvalStats } from '../run/record.ts';
import { coarse, fine, type Precision } from './distribution.ts';
import { resultsOf } from './epoch-reduction.ts';
import { type EvalTally, newEvalTally } from './eval-tally.ts';
import { newTally, type Tally } from './tally.ts';
import { isEpochPassed } from './weighted-score.ts';

/** Computes the statistics of a run by eval and by tag, in bounded memory and in any order of cases. */
export interface StatsAccumulator {
  add(record: CaseRecord): void;
  /** The statistics of whole cases, rather than of one eval. */
  overall(): CaseStats;
  /** By the id of the eval, in the order of the suite; tags in alphabetical order. */
  stats(): Record<string, EvalStats>;
}

export function newStatsAccumulator(evals: readonly EvalHeader[], epochs: number): StatsAccumulator {
  const headers = new Map(evals.map((header) => [header.id, header]));
  const groups = new Map(
    evals.map(({ id }) => [id, newGroups((precision) => newEvalTally(epochs, precision))]),
  );
  const caseGroups = newGroups((precision) => newTally(epochs, precision));
  return {
    add(record) {
      const whole = tallyCase(record, headers);
      for (const tally of caseGroups.of(record.tags)) tally.add(whole);
      for (const result of record.results) {
        const epochResults = resultsOf(record, result.eval);
        const tallied = tallyResult(result, epochResults.length);
        for (const tally of groups.get(result.eval)?.of(record.tags) ?? []) tally.add(tallied, epochResults);
      }
    },
    overall: () => ({
      ...caseGroups.all.stats(),
      tags: mapSorted(caseGroups.byTag, (tally: Tally) => tally.stats()),
    }),
    stats: () =>
      Object.fromEntries(
        [...groups].map(([id, { all, byTag }]) => [
          id,
          { ...all.evalStats(), tags: mapSorted(byTag, (tally: EvalTally) => tally.tagStats()) },
        ]),
      ),
  };
}

interface Groups<T> {
  readonly all: T;
  readonly byTag: ReadonlyMap<string, T>;
  /** The group of all, and those of the tags. */
  of(tags: readonly string[]): readonly T[];
}

function newGroups<T>(open: (precision: Precision) => T): Groups<T> {
  const all = open(fine);
  const byTag = new Map<string, T>();
  const tagged = (tag: string): T => {
    const tally = byTag.get(tag) ?? open(coarse);
    byTag.set(tag, tally);
    return tally;
  };
  return { all, byTag, of: (tags) => [all, ...tags.map(tagged)] };
}

function tallyResult({ score, passed, passed_epochs: passedEpochs }: CaseResult, epochs: number) {
  return { score, passed, epochs, passedEpochs };
}

function tallyCase(record: CaseRecord, headers: ReadonlyMap<string, EvalHeader>) {
  const { score, passed, epochs } = record;
  const passedEpochs = epochs.filter((epoch) => isEpochPassed(epoch, headers));
  return { score, passed, epochs: epochs.length, passedEpochs: passedEpochs.length };
}

function mapSorted<T, Out>(byTag: ReadonlyMap<string, T>, map: (tally: T) => Out): Record<string, Out> {
  const sorted = [...byTag].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([tag, tally]) => [tag, map(tally)]));
}
