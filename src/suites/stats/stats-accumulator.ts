import { flag, listOf, members, optional, type Shape, text } from '../../base/json/shape.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import type {
  CaseRecord,
  CaseResult,
  CaseStats,
  Classification,
  EvalHeader,
  EvalResult,
  EvalStats,
  Stats,
} from '../record.ts';
import { type AgreementCounts, agreementCounts, newAgreementTally } from './agreement.ts';
import { type ClassificationState, classificationState, newClassificationTally } from './classification.ts';
import { coarse, fine, type Precision } from './distribution.ts';
import { resultsOf } from './epoch-reduction.ts';
import { newLatencySketch } from './latency.ts';
import { type Counts, counts, groupsOf, type Mergeable } from './mergeable.ts';
import {
  type ExactMetrics,
  newTally,
  type Tally,
  type TallyInput,
  type TallyState,
  tallyState,
} from './tally.ts';
import { isEpochPassed } from './weighted-score.ts';

/** The statistics of one eval, over all cases or those of a tag. */
interface EvalTally extends Mergeable<EvalTallyState> {
  /** `asked`: the results of the eval in each epoch. */
  add(result: TallyInput, asked: readonly EvalResult[]): void;
  evalStats(): Omit<EvalStats, 'tags'>;
  exactly(): ExactMetrics;
  tagStats(): Stats & { readonly classification?: Classification };
}

interface EvalTallyState {
  readonly results: TallyState;
  readonly histogram: readonly number[];
  readonly latencies: Counts;
  readonly waits: Counts;
  readonly decisions: ClassificationState;
  /** Absent in tallies of an earlier Signalbox. */
  readonly labels?: AgreementCounts;
}

const evalTallyState: Shape<EvalTallyState> = members<EvalTallyState>({
  results: tallyState,
  histogram: groupsOf(10),
  latencies: counts,
  waits: counts,
  decisions: classificationState,
  labels: optional(agreementCounts),
});

function newEvalTally(epochs: number, precision: Precision): EvalTally {
  const tally = newTally(epochs, precision);
  const histogram = Array<number>(10).fill(0);
  const latencies = newLatencySketch();
  const waits = newLatencySketch();
  const decisions = newClassificationTally();
  const labels = newAgreementTally();
  const withClassification = () => {
    const classification = decisions.classification();
    return classification === undefined ? {} : { classification };
  };
  return {
    add(result, results) {
      tally.add(result);
      if (result.score !== null) {
        const tenth = tenthOf(result.score);
        histogram[tenth] = (histogram[tenth] ?? 0) + 1;
      }
      // What a person said of a case is the same in each of its epochs.
      const label = results[0]?.label;
      if (label !== undefined && result.score !== null) labels.add(result.passed, label);
      for (const { duration_ms, queue_ms, guard } of results) {
        latencies.add(duration_ms);
        if (queue_ms !== undefined) waits.add(queue_ms);
        if (guard !== undefined) decisions.add(guard);
      }
    },
    evalStats: () => ({
      ...tally.stats(),
      histogram: [...histogram],
      latency_ms: latencies.latency(),
      queue_ms: waits.latency(),
      ...withClassification(),
      ...omitUndefined({ agreement: labels.agreement() }),
    }),
    exactly: tally.exactly,
    tagStats: () => ({ ...tally.stats(), ...withClassification() }),
    state: () => ({
      results: tally.state(),
      histogram: [...histogram],
      latencies: latencies.state(),
      waits: waits.state(),
      decisions: decisions.state(),
      labels: labels.state(),
    }),
    merge(other) {
      tally.merge(other.results);
      for (const [tenth, cases] of other.histogram.entries())
        histogram[tenth] = (histogram[tenth] ?? 0) + cases;
      latencies.merge(other.latencies);
      waits.merge(other.waits);
      decisions.merge(other.decisions);
      if (other.labels !== undefined) labels.merge(other.labels);
    },
  };
}

function tenthOf(score: number): number {
  return Math.min(9, Math.floor(score * 10));
}

/** Computes the statistics of a run by eval and by tag, in bounded memory and in any order of cases. */
interface StatsAccumulator extends Mergeable<StatsState> {
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

/** One tally of all cases, and one of those of each tag. */
interface TaggedTallies<Tally, State> extends Mergeable<TaggedState<State>> {
  readonly all: Tally;
  /** In alphabetical order. */
  byTag<Out>(map: (tally: Tally) => Out): Record<string, Out>;
  tagCount(): number;
  /** The tally of all, and those of the tags. */
  of(tags: readonly string[]): readonly Tally[];
  /** Undefined of a tag that no case has. */
  ofTag(tag: string): Tally | undefined;
  /** Forgets the tags, those that are still to come included. */
  dropTags(): void;
}

interface TaggedState<State> {
  readonly all: State;
  /** A list: a tag may be called as what every object has. */
  readonly tags: readonly { readonly tag: string; readonly tally: State }[];
}

function taggedState<State>(tally: Shape<State>): Shape<TaggedState<State>> {
  return members<TaggedState<State>>({
    all: tally,
    tags: listOf(members<TaggedState<State>['tags'][number]>({ tag: text, tally })),
  });
}

function newTaggedTallies<State, Tally extends Mergeable<State>>(
  open: (precision: Precision) => Tally,
): TaggedTallies<Tally, State> {
  const all = open(fine);
  const tallies = new Map<string, Tally>();
  let hasTags = true;
  const tallyOf = (tag: string): Tally => {
    const tally = tallies.get(tag) ?? open(coarse);
    tallies.set(tag, tally);
    return tally;
  };
  return {
    all,
    byTag: (map) => {
      const sorted = [...tallies].sort(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(sorted.map(([tag, tally]) => [tag, map(tally)]));
    },
    tagCount: () => tallies.size,
    of: (tags) => (hasTags ? [all, ...tags.map(tallyOf)] : [all]),
    ofTag: (tag) => tallies.get(tag),
    dropTags() {
      hasTags = false;
      tallies.clear();
    },
    state: () => ({
      all: all.state(),
      tags: [...tallies].map(([tag, tally]) => ({ tag, tally: tally.state() })),
    }),
    merge(other) {
      all.merge(other.all);
      if (hasTags) for (const { tag, tally } of other.tags) tallyOf(tag).merge(tally);
    },
  };
}
