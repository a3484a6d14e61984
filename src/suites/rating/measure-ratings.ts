import { RuntimeError } from '../../base/errors.ts';
import { suggest } from '../../base/text/suggest.ts';
import { unknownName } from '../../base/yaml/unknown-name.ts';
import { isWithin } from '../../calls/capability/threshold.ts';
import { verdictOfWord } from '../case/read-label.ts';
import type { RatingAgreement, RatingAgreementOptions } from '../rating-agreement.ts';
import type { RunSource } from '../record.ts';
import { onlyVariant } from './one-variant.ts';
import { overVariants } from './over-variants.ts';
import { addGiven, type GivenRatings, pairRatings } from './rated-cases.ts';
import type { Rating } from './rating.ts';

/**
 * Compares the verdicts of a run with those of the people who have rated it; of a matrix for each variant and over all. A label that is
 * a verdict, such as pass or bad, counts before a score. Throws USAGE for a least score beyond 0..1, and NAME_UNKNOWN for an eval or a
 * variant that the run does not have or a person who has rated nothing.
 */
export async function measureRatings(
  run: RunSource,
  { variant, eval: only, by, minScore = 0.5 }: RatingAgreementOptions = {},
): Promise<RatingAgreement> {
  if (!(minScore >= 0 && minScore <= 1)) {
    throw new RuntimeError('USAGE', `the least score that passes lies in 0..1, not ${minScore}`);
  }
  const source = variant === undefined ? run : onlyVariant(run, variant);
  const { run_id, suite, evals, variants } = source.header;
  const ids = evals.map(({ id }) => id);
  if (only !== undefined && !ids.includes(only)) unknownName('eval', only, ids);
  const given = await gather(source, { by, minScore });
  const wanted = only === undefined ? [...ids, null] : [only];
  const all = pairRatings(given.all, wanted);
  const each = new Map((variants ?? []).map(({ name }) => [name, pairRatings(given.of(name), wanted)]));
  if (!all.isEmpty) {
    for await (const record of source.cases()) {
      all.add(keyOf(record.id, record.variant), record);
      if (record.variant !== undefined) each.get(record.variant)?.add(record.id, record);
    }
  }
  const measured = { run_id, suite, min_score: minScore };
  if (variants === undefined) return { ...measured, ...all.measure() };
  const rated = [...each].filter(([, { isEmpty }]) => !isEmpty);
  return {
    ...{ ...measured, ...overVariants(all.measure()) },
    variants: rated.map(([name, pairs]) => ({ name, ...pairs.measure() })),
  };
}

/** What tells a case from others of the run: those of the variants of a row have one id. */
function keyOf(caseId: string, variant: string | undefined): string {
  return variant === undefined ? caseId : JSON.stringify([variant, caseId]);
}

interface GatherOptions {
  readonly by: readonly string[] | undefined;
  readonly minScore: number;
}

interface Gathered {
  /** By `keyOf`. */
  readonly all: GivenRatings;
  /** Those of a variant, by the ids of its cases. */
  of(variant: string): GivenRatings;
}

/** The verdicts of these people. */
async function gather(source: RunSource, { by, minScore }: GatherOptions): Promise<Gathered> {
  const all: GivenRatings = new Map();
  const each = new Map<string, GivenRatings>();
  const of = (variant: string): GivenRatings => {
    const known = each.get(variant) ?? new Map();
    each.set(variant, known);
    return known;
  };
  const people = new Set<string>();
  for await (const rating of source.ratings?.() ?? []) {
    people.add(rating.by);
    if (by !== undefined && !by.includes(rating.by)) continue;
    const { case: id, variant } = rating;
    const verdict = { passed: personVerdict(rating, minScore), comment: rating.comment };
    addGiven(all, { ...rating, key: keyOf(id, variant) }, verdict);
    if (variant !== undefined) addGiven(of(variant), { ...rating, key: id }, verdict);
  }
  const stranger = by?.find((name) => !people.has(name));
  if (stranger !== undefined) {
    const message = `nobody named "${stranger}" has rated run ${source.header.run_id}`;
    throw new RuntimeError('NAME_UNKNOWN', message, suggest(stranger, [...people], 'people'));
  }
  return { all, of };
}

function personVerdict({ label, score }: Rating, minScore: number): boolean | undefined {
  const word = label === null ? undefined : verdictOfWord(label);
  return word ?? (score === null ? undefined : isWithin(score, { min: minScore }));
}
