import { flag, listOf, members, type Shape, text } from '../../base/json/shape.ts';
import type { CaseRecord, CaseResult, CaseStats, EvalHeader, EvalStats } from '../record.ts';
import { resultsOf } from './epoch-reduction.ts';
import { type EvalTally, type EvalTallyState, evalTallyState, newEvalTally } from './eval-tally.ts';
import type { Mergeable } from './mergeable.ts';
import { newTaggedTallies, type TaggedState, taggedState } from './tagged.ts';
import { type ExactMetrics, newTally, type Tally, type TallyState, tallyState } from './tally.ts';
import { isEpochPassed } from './weighted-score.ts';

/** Computes the statistics of a run by eval and by tag, in bounded memory and in any order of cases. */
export interface StatsAccumulator extends Mergeable<StatsState> {
  add(record: CaseRecord): void;
  /** There were more than `maxTags` different tags: no statistics by tag are kept. */
  hasTooManyTags(): boolean;
  /** The statistics of whole cases, rather than of one eval. */
  overall(): CaseStats;
  /** By the id of the eval, in the order of the suite; tags in alphabetical order. */
  stats(): Record<string, EvalStats>;
  /** The metrics of what a gate names, before they are rounded; undefined where there are none of it. */
  exactly(gate: {
    readonly eval?: string | undefined;
    readonly tag?: string | undefined;
  }): ExactMetrics | undefined;
}

/** A tag names a group of cases; one per case would make memory grow with the dataset. */
export const maxTags = 10_000;

export interface StatsState {
  readonly has_too_many_tags: boolean;
  readonly cases: TaggedState<TallyState>;
  readonly evals: readonly { readonly id: string; readonly tallies: TaggedState<EvalTallyState> }[];
}

export const statsState: Shape<StatsState> = members<StatsState>({
  has_too_many_tags: flag,
  cases: taggedState(tallyState),
  evals: listOf(members({ id: text, tallies: taggedState(evalTallyState) })),
});

export function newStatsAccumulator(evals: readonly EvalHeader[], epochs: number): StatsAccumulator {
  const headers = new Map(evals.map((header) => [header.id, header]));
  const groups = new Map(
    evals.map(({ id }) => [
      id,
      newTaggedTallies<EvalTallyState, EvalTally>((precision) => newEvalTally(epochs, precision)),
    ]),
  );
  const caseGroups = newTaggedTallies<TallyState, Tally>((precision) => newTally(epochs, precision));
  let hasTooManyTags = false;
  const limitTags = (isOver: boolean): void => {
    if (!isOver || hasTooManyTags) return;
    hasTooManyTags = true;
    for (const group of [caseGroups, ...groups.values()]) group.dropTags();
  };
  return {
    add(record) {
      const whole = tallyCase(record, headers);
      for (const tally of caseGroups.of(record.tags)) tally.add(whole);
      limitTags(caseGroups.tagCount() > maxTags);
      for (const result of record.results) {
        const epochResults = resultsOf(record, result.eval);
        const tallied = tallyResult(result, epochResults.length);
        for (const tally of groups.get(result.eval)?.of(record.tags) ?? []) tally.add(tallied, epochResults);
      }
    },
    hasTooManyTags: () => hasTooManyTags,
    overall: () => ({ ...caseGroups.all.stats(), tags: caseGroups.byTag((tally) => tally.stats()) }),
    stats: () =>
      Object.fromEntries(
        [...groups].map(([id, group]) => [
          id,
          { ...group.all.evalStats(), tags: group.byTag((tally) => tally.tagStats()) },
        ]),
      ),
    exactly({ eval: id, tag }) {
      const group = id === undefined ? caseGroups : groups.get(id);
      return (tag === undefined ? group?.all : group?.ofTag(tag))?.exactly();
    },
    state: () => ({
      has_too_many_tags: hasTooManyTags,
      cases: caseGroups.state(),
      evals: [...groups].map(([id, group]) => ({ id, tallies: group.state() })),
    }),
    merge(other) {
      limitTags(other.has_too_many_tags);
      caseGroups.merge(other.cases);
      limitTags(caseGroups.tagCount() > maxTags);
      for (const { id, tallies } of other.evals) groups.get(id)?.merge(tallies);
    },
  };
}

function tallyResult({ score, passed, fault, passed_epochs: passedEpochs }: CaseResult, epochs: number) {
  return { score, passed, fault, epochs, passedEpochs };
}

function tallyCase(record: CaseRecord, headers: ReadonlyMap<string, EvalHeader>) {
  const { score, passed, epochs } = record;
  const passedEpochs = epochs.filter((epoch) => isEpochPassed(epoch, headers));
  const fault = record.results.some((result) => result.fault);
  return { score, passed, fault, epochs: epochs.length, passedEpochs: passedEpochs.length };
}
