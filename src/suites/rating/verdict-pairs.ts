import type { Disagreement, PairAgreement, PersonAgreement, RatedVerdicts } from '../rating-agreement.ts';
import { type AgreementTally, newAgreementTally } from '../stats/agreement.ts';

/** What somebody has said of a case; undefined verdict: neither that it passes nor that it fails. */
export interface GivenVerdict {
  readonly passed: boolean | undefined;
  readonly comment: string | null;
}

/** What the run says of it. */
export interface RunVerdict {
  readonly passed: boolean;
  readonly score: number | null;
}

/** Verdicts of people on one eval, or on cases as wholes: by case, then by person. */
export type GivenVerdicts = Map<string, Map<string, GivenVerdict>>;

/** Sets the verdicts of people beside those of the run, case by case. */
export interface VerdictPairs {
  /** `verdict` is undefined where the eval has not scored the case. Each case counts once. */
  add(caseId: string, verdict: RunVerdict | undefined): void;
  measure(): RatedVerdicts;
}

export function pairVerdicts(given: GivenVerdicts): VerdictPairs {
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

/** The same everywhere, unlike an order by a locale. */
function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
