import { RuntimeError } from '../../errors.ts';
import { suggest } from '../../yaml/suggest.ts';
import { unknownName } from '../../yaml/unknown-name.ts';
import { verdictOfWord } from '../case/read-label.ts';
import type { CaseRecord, RunSource } from '../run/record.ts';
import type { Rating } from './rating.ts';
import type { RatedVerdicts, RatingAgreement, RatingAgreementOptions } from './rating-agreement.ts';
import { type GivenVerdicts, pairVerdicts, type RunVerdict } from './verdict-pairs.ts';

/**
 * Compares the verdicts of a run with those of the people who have rated it. A label that is a verdict, such as pass or bad,
 * counts before a score. Throws USAGE for a least score beyond 0..1, and NAME_UNKNOWN for an eval that the run does not have or
 * a person who has rated nothing.
 */
export async function measureRatings(
  source: RunSource,
  { eval: only, by, minScore = 0.5 }: RatingAgreementOptions = {},
): Promise<RatingAgreement> {
  const { header } = source;
  if (!(minScore >= 0 && minScore <= 1)) {
    throw new RuntimeError('USAGE', `the least score that passes lies in 0..1, not ${minScore}`);
  }
  const evals = header.evals.map(({ id }) => id);
  if (only !== undefined && !evals.includes(only)) unknownName('eval', only, evals);
  const given = await gather(source, { by, minScore });
  const wanted = (id: string | null) => given.has(id) && (only === undefined || only === id);
  const rated = evals.filter(wanted);
  const pairs = new Map(
    [...rated, ...(wanted(null) ? [null] : [])].map(
      (id) => [id, pairVerdicts(given.get(id) ?? new Map())] as const,
    ),
  );
  if (pairs.size > 0) {
    for await (const record of source.cases()) {
      for (const [id, each] of pairs) each.add(record.id, verdictOf(record, id));
    }
  }
  const measured = (id: string) => [id, pairs.get(id)?.measure() ?? nobody] as const;
  return {
    run_id: header.run_id,
    suite: header.suite,
    min_score: minScore,
    evals: Object.fromEntries(rated.map(measured)),
    cases: pairs.get(null)?.measure() ?? null,
  };
}

const nobody: RatedVerdicts = { people: [], between: [] };

interface GatherOptions {
  readonly by: readonly string[] | undefined;
  readonly minScore: number;
}

/** The verdicts of these people, by what is rated: an eval, or null for cases as wholes. */
async function gather(
  source: RunSource,
  { by, minScore }: GatherOptions,
): Promise<ReadonlyMap<string | null, GivenVerdicts>> {
  const given = new Map<string | null, GivenVerdicts>();
  const people = new Set<string>();
  for await (const rating of source.ratings?.() ?? []) {
    people.add(rating.by);
    if (by !== undefined && !by.includes(rating.by)) continue;
    const cases: GivenVerdicts = given.get(rating.eval) ?? new Map();
    given.set(rating.eval, cases);
    const said = cases.get(rating.case) ?? new Map();
    cases.set(rating.case, said);
    said.set(rating.by, { passed: personVerdict(rating, minScore), comment: rating.comment });
  }
  const stranger = by?.find((name) => !people.has(name));
  if (stranger !== undefined) {
    const message = `nobody named "${stranger}" has rated run ${source.header.run_id}`;
    throw new RuntimeError('NAME_UNKNOWN', message, suggest(stranger, [...people], 'people'));
  }
  return given;
}

function personVerdict({ label, score }: Rating, minScore: number): boolean | undefined {
  const word = label === null ? undefined : verdictOfWord(label);
  return word ?? (score === null ? undefined : score >= minScore);
}

function verdictOf({ results, passed, score }: CaseRecord, id: string | null): RunVerdict | undefined {
  if (id === null) return { passed, score };
  const result = results.find((each) => each.eval === id);
  return result === undefined || result.score === null
    ? undefined
    : { passed: result.passed, score: result.score };
}
