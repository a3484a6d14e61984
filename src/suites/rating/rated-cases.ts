import type { RatedCases } from '../rating-agreement.ts';
import type { CaseRecord } from '../record.ts';
import { type GivenVerdict, type GivenVerdicts, pairVerdicts, type RunVerdict } from './verdict-pairs.ts';

/** What people have said of cases, by what is rated: an eval, or null for cases as wholes. */
export type GivenRatings = Map<string | null, GivenVerdicts>;

/** Adds what a person has said of a case to what others have. */
export function addGiven(
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

/** Sets what people have said beside the cases of the run; of these evals, and of cases as wholes where null is among them. */
export function pairRatings(given: GivenRatings, wanted: readonly (string | null)[]) {
  const pairs = new Map(
    wanted.flatMap((id) => {
      const said = given.get(id);
      return said === undefined ? [] : [[id, pairVerdicts(said)] as const];
    }),
  );
  return {
    isEmpty: pairs.size === 0,
    /** `key` is what the case was rated under. */
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
