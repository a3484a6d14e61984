import { flag, listOf, members, type Shape, type TypeOf, text } from '../../base/json/shape.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import type { CaseRecord, CaseStats, EvalHeader, EvalStats } from '../record.ts';
import { agreementCounts, newAgreementTally } from './agreement.ts';
import { classificationState, newClassificationTally } from './classification.ts';
import { coarse, fine, newLatencySketch, type Precision } from './distribution.ts';
import { isEpochPassed, resultsOf } from './epoch-reduction.ts';
import { combine, counts, groupsOf, type Mergeable, newCells } from './mergeable.ts';
import { type ExactMetrics, newTally, type Tally, tallyState } from './tally.ts';

interface StatsAccumulator extends Mergeable<StatsState> {
  add(record: CaseRecord): void;
  hasTooManyTags(): boolean;
  overall(): CaseStats;
  /** By eval id in the order of the suite; tags in alphabetical order. */
  stats(): Record<string, EvalStats>;
  exactly(gate: {
    readonly eval?: string | undefined;
    readonly tag?: string | undefined;
  }): ExactMetrics | undefined;
}

/** A tag names a group of cases. One tag per case would make memory grow with the dataset. */
export const maxTags = 10_000;

const evalTallyState = members({
  results: tallyState,
  histogram: groupsOf(10),
  latencies: counts,
  waits: counts,
  decisions: classificationState,
  labels: agreementCounts,
});

type StatsState = TypeOf<typeof statsState>;

export const statsState = members({
  has_too_many_tags: flag,
  cases: taggedState(tallyState),
  evals: listOf(members({ id: text, tallies: taggedState(evalTallyState) })),
});

export function newStatsAccumulator(evals: readonly EvalHeader[], epochs: number): StatsAccumulator {
  const headers = new Map(evals.map((header) => [header.id, header]));
  const groups = new Map(
    evals.map(({ id }) => [id, newTaggedTallies((precision) => newEvalTally(epochs, precision))]),
  );
  const caseGroups = newTaggedTallies((precision): Tally => newTally(epochs, precision));
  let hasTooManyTags = false;
  const limitTags = (isOver: boolean): void => {
    if (!isOver || hasTooManyTags) return;
    hasTooManyTags = true;
    for (const group of [caseGroups, ...groups.values()]) group.dropTags();
  };
  return {
    add(record) {
      const { score, passed, tags, epochs: all, results } = record;
      const whole = {
        ...{ score, passed, fault: results.some(({ fault }) => fault), epochs: all.length },
        passedEpochs: all.filter((epoch) => isEpochPassed(epoch, headers)).length,
      };
      for (const tally of caseGroups.of(tags)) tally.add(whole);
      limitTags(caseGroups.tagCount() > maxTags);
      for (const result of results) {
        const asked = resultsOf(record, result.eval);
        for (const { parts } of groups.get(result.eval)?.of(tags) ?? []) {
          parts.results.add({ ...result, epochs: asked.length, passedEpochs: result.passed_epochs });
          if (result.score !== null) parts.histogram.add(Math.min(9, Math.floor(result.score * 10)));
          const label = asked[0]?.label;
          if (label !== undefined && result.score !== null) parts.labels.add(result.passed, label);
          for (const { duration_ms, queue_ms, guard } of asked) {
            parts.latencies.add(duration_ms);
            if (queue_ms !== undefined) parts.waits.add(queue_ms);
            if (guard !== undefined) parts.decisions.add(guard);
          }
        }
      }
    },
    hasTooManyTags: () => hasTooManyTags,
    overall: () => ({ ...caseGroups.all.stats(), tags: caseGroups.byTag((tally) => tally.stats()) }),
    stats: () =>
      Object.fromEntries(
        [...groups].map(([id, { all, byTag }]) => {
          const { histogram, latencies, waits, labels } = all.parts;
          return [
            id,
            {
              ...all.parts.results.stats(),
              histogram: histogram.state(),
              ...{ latency_ms: latencies.latency(), queue_ms: waits.latency() },
              ...all.classification(),
              ...omitUndefined({ agreement: labels.agreement() }),
              tags: byTag(({ parts, classification }) => ({ ...parts.results.stats(), ...classification() })),
            },
          ];
        }),
      ),
    exactly({ eval: id, tag }) {
      if (id === undefined) return (tag === undefined ? caseGroups.all : caseGroups.ofTag(tag))?.exactly();
      const group = groups.get(id);
      return (tag === undefined ? group?.all : group?.ofTag(tag))?.parts.results.exactly();
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

function newEvalTally(epochs: number, precision: Precision) {
  const parts = {
    results: newTally(epochs, precision),
    histogram: newCells(10),
    latencies: newLatencySketch(),
    waits: newLatencySketch(),
    decisions: newClassificationTally(),
    labels: newAgreementTally(),
  };
  return {
    parts,
    classification: () => omitUndefined({ classification: parts.decisions.classification() }),
    ...combine(parts),
  };
}

export interface TaggedState<State> {
  readonly all: State;
  /** A list, because a tag may equal the name of an `Object.prototype` member. */
  readonly tags: readonly { readonly tag: string; readonly tally: State }[];
}

function taggedState<State>(tally: Shape<State>): Shape<TaggedState<State>> {
  return members<TaggedState<State>>({
    all: tally,
    tags: listOf(members<TaggedState<State>['tags'][number]>({ tag: text, tally })),
  });
}

function newTaggedTallies<State, Tally extends Mergeable<State>>(
  open: (precision: Precision) => Tally & Mergeable<State>,
) {
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
    byTag<Out>(map: (tally: Tally) => Out): Record<string, Out> {
      const sorted = [...tallies].sort(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(sorted.map(([tag, tally]) => [tag, map(tally)]));
    },
    tagCount: () => tallies.size,
    of: (tags: readonly string[]) => (hasTags ? [all, ...tags.map(tallyOf)] : [all]),
    ofTag: (tag: string) => tallies.get(tag),
    /** Also ignores tags that are added later. */
    dropTags() {
      hasTags = false;
      tallies.clear();
    },
    state: (): TaggedState<State> => ({
      all: all.state(),
      tags: [...tallies].map(([tag, tally]) => ({ tag, tally: tally.state() })),
    }),
    merge(other: TaggedState<State>) {
      all.merge(other.all);
      if (hasTags) for (const { tag, tally } of other.tags) tallyOf(tag).merge(tally);
    },
  };
}
