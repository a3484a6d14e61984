import { RuntimeError } from '../../base/errors.ts';
import { suggest } from '../../base/text/suggest.ts';
import { unknownName } from '../../base/yaml/wording.ts';
import { isWithin } from '../../calls/capability/eval.ts';
import { verdictOfWord } from '../case/case-identity.ts';
import type {
  Disagreement,
  PairAgreement,
  PersonAgreement,
  RatedCases,
  RatedVerdicts,
  RatingAgreement,
  RatingAgreementOptions,
} from '../rating-agreement.ts';
import type { CaseRecord, RunSource } from '../record.ts';
import { type AgreementTally, newAgreementTally } from '../stats/agreement.ts';
import { onlyVariant } from './rated-variant.ts';
import type { Rating } from './rating.ts';

/**
 * Compares the verdicts of a run with those of its raters; in a matrix, per variant and overall. A label that is a
 * verdict, such as pass or bad, takes precedence over a score. Throws USAGE for a minimum score outside 0..1. Throws
 * NAME_UNKNOWN for an unknown eval or variant, or a person without ratings.
 */
export async function measureRatings(
  run: RunSource,
  { variant, eval: only, by, minScore = 0.5 }: RatingAgreementOptions = {},
): Promise<RatingAgreement> {
  if (!(minScore >= 0 && minScore <= 1)) {
    throw new RuntimeError('USAGE', `the lowest score that passes must be from 0 to 1, not ${minScore}`);
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

/** The variants of a row share one case id. */
function keyOf(caseId: string, variant: string | undefined): string {
  return variant === undefined ? caseId : JSON.stringify([variant, caseId]);
}

interface GatherOptions {
  readonly by: readonly string[] | undefined;
  readonly minScore: number;
}

interface Gathered {
  readonly all: GivenRatings;
  /** The ratings of a variant, by case id. */
  of(variant: string): GivenRatings;
}

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

/**
 * The figures over all variants. The cases of a row are not independent, so there are no errors and intervals. Case ids
 * are ambiguous here, so the disagreements are listed per variant only.
 */
function overVariants({ evals, cases }: RatedCases): RatedCases {
  return {
    evals: Object.fromEntries(Object.entries(evals).map(([id, verdicts]) => [id, figuresOf(verdicts)])),
    cases: cases && figuresOf(cases),
  };
}

function figuresOf({ people, between }: RatedVerdicts): RatedVerdicts {
  return {
    people: people.map((person) => ({
      ...person,
      agreement: person.agreement && { ...person.agreement, ...noError },
      disagreements: [],
    })),
    between: between.map(({ by, agreement }) => ({
      by,
      agreement: { ...agreement, ...noError },
      disagreements: [],
    })),
  };
}

const noError = { stderr: null, ci95: null } as const;

type GivenRatings = Map<string | null, GivenVerdicts>;

function addGiven(
  given: GivenRatings,
  place: { readonly eval: string | null; readonly key: string; readonly by: string },
  verdict: GivenVerdict,
): void {
  const cases: GivenVerdicts = given.get(place.eval) ?? new Map();
  given.set(place.eval, cases);
  const said = cases.get(place.key) ?? new Map();
  cases.set(place.key, said);
  said.set(place.by, verdict);
}

function pairRatings(given: GivenRatings, wanted: readonly (string | null)[]) {
  const pairs = new Map(
    wanted.flatMap((id) => {
      const said = given.get(id);
      return said === undefined ? [] : [[id, pairVerdicts(said)] as const];
    }),
  );
  return {
    isEmpty: pairs.size === 0,
    add: (key: string, record: CaseRecord): void => {
      for (const [id, each] of pairs) each.add(key, verdictOf(record, id));
    },
    measure: (): RatedCases => ({
      evals: Object.fromEntries(
        [...pairs].flatMap(([id, each]) => (id === null ? [] : [[id, each.measure()] as const])),
      ),
      cases: pairs.get(null)?.measure() ?? null,
    }),
  };
}

function verdictOf({ results, passed, score }: CaseRecord, id: string | null): RunVerdict | undefined {
  if (id === null) return { passed, score };
  const result = results.find((each) => each.eval === id);
  return result === undefined || result.score === null
    ? undefined
    : { passed: result.passed, score: result.score };
}

interface GivenVerdict {
  readonly passed: boolean | undefined;
  readonly comment: string | null;
}

interface RunVerdict {
  readonly passed: boolean;
  readonly score: number | null;
}

type GivenVerdicts = Map<string, Map<string, GivenVerdict>>;

interface VerdictPairs {
  add(caseId: string, verdict: RunVerdict | undefined): void;
  measure(): RatedVerdicts;
}

function pairVerdicts(given: GivenVerdicts): VerdictPairs {
  const people = new Map<string, { tally: AgreementTally; disagreements: Disagreement[] }>();
  const pairs = new Map<string, { by: [string, string]; tally: AgreementTally; disagreements: string[] }>();
  const personOf = (by: string) => {
    const known = people.get(by) ?? { tally: newAgreementTally(), disagreements: [] };
    people.set(by, known);
    return known;
  };
  const pairOf = (by: [string, string]) => {
    const key = JSON.stringify(by);
    const known = pairs.get(key) ?? { by, tally: newAgreementTally(), disagreements: [] };
    pairs.set(key, known);
    return known;
  };
  const left = new Map(given);
  const comparePeople = (caseId: string, verdicts: readonly (readonly [string, boolean])[]) => {
    for (const [index, [first, one]] of verdicts.entries()) {
      for (const [second, other] of verdicts.slice(index + 1)) {
        const pair = pairOf([first, second]);
        pair.tally.add(one, other);
        if (one !== other) pair.disagreements.push(caseId);
      }
    }
  };
  return {
    add: (caseId, verdict) => {
      const said = left.get(caseId);
      left.delete(caseId);
      const verdicts = [...(said ?? [])].flatMap(([by, { passed, comment }]) =>
        passed === undefined ? [] : [{ by, passed, comment }],
      );
      verdicts.sort((one, other) => compareTexts(one.by, other.by));
      comparePeople(
        caseId,
        verdicts.map(({ by, passed }) => [by, passed] as const),
      );
      if (verdict === undefined) return;
      for (const { by, passed, comment } of verdicts) {
        const person = personOf(by);
        person.tally.add(verdict.passed, passed);
        if (verdict.passed === passed) continue;
        const { passed: evalPassed, score } = verdict;
        person.disagreements.push({
          ...{ case: caseId, eval_passed: evalPassed, eval_score: score, person_passed: passed, comment },
        });
      }
    },
    measure: () => ({
      people: [...countRatings(given)]
        .toSorted(([one], [other]) => compareTexts(one, other))
        .map(([by, counted]): PersonAgreement => {
          const { tally, disagreements } = personOf(by);
          const agreement = tally.agreement() ?? null;
          const unscored = counted.ratings - counted.without_verdict - (agreement?.n ?? 0);
          return { by, ...counted, unscored, agreement, disagreements };
        }),
      between: [...pairs.values()]
        .toSorted((one, other) => compareTexts(one.by.join('\0'), other.by.join('\0')))
        .flatMap(toPair),
    }),
  };
}

function countRatings(given: GivenVerdicts) {
  const counts = new Map<string, { ratings: number; without_verdict: number }>();
  for (const said of given.values()) {
    for (const [by, { passed }] of said) {
      const { ratings, without_verdict } = counts.get(by) ?? { ratings: 0, without_verdict: 0 };
      counts.set(by, {
        ratings: ratings + 1,
        without_verdict: without_verdict + (passed === undefined ? 1 : 0),
      });
    }
  }
  return counts;
}

function toPair({
  by,
  tally,
  disagreements,
}: {
  readonly by: [string, string];
  readonly tally: AgreementTally;
  readonly disagreements: readonly string[];
}): PairAgreement[] {
  const measured = tally.agreement();
  if (measured === undefined) return [];
  const { only_eval, only_person, ...rest } = measured;
  return [{ by, agreement: { ...rest, only_first: only_eval, only_second: only_person }, disagreements }];
}

/** Independent of the locale. */
function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
