import type { RatedCases, RatedVerdicts } from '../rating-agreement.ts';

/**
 * The figures over all variants: the cases of one row are not independent, so that there are no errors and intervals, and ids alone do
 * not name cases, so that those which people disagree on stand with their variants.
 */
export function overVariants({ evals, cases }: RatedCases): RatedCases {
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
