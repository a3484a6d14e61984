import { formatCount } from '../../text/format-count.ts';
import { formatListed } from '../report/numbers.ts';
import { describeScore } from '../report/wording.ts';
import type {
  Change,
  ComparedClassification,
  Comparison,
  Difference,
  EvalDifference,
  SideInfo,
} from './comparison.ts';
import { formatP, nameOf } from './regressions.ts';

/** A row of a comparison with the name that people know it by. */
export interface NamedDifference {
  readonly name: string;
  readonly difference: Difference;
}

/** The evals, then the cases as wholes. */
export function namedRows({ cases, evals }: Comparison): NamedDifference[] {
  const named = evals.map((each) => ({ name: nameOf(each), difference: each }));
  return cases === null ? named : [...named, { name: 'all cases', difference: cases }];
}

/** `gsm8k, tag large, eval exact, run 1f0c, 49 cases`. */
export function describeSide({ suite, tag, eval: id, run_id, cases, is_complete }: SideInfo): string {
  return [
    suite,
    ...(tag === undefined ? [] : [`tag ${tag}`]),
    ...(id === undefined ? [] : [`eval ${id}`]),
    `run ${run_id}`,
    `${formatCount(cases, 'case')}${is_complete ? '' : ' (the run did not come to its end)'}`,
  ].join(', ');
}

/** Sentences about verdicts and scores with their p-values, and the counts of the pairs. */
export function summarizeDifference({ table, p_value: p, score }: Difference): string[] {
  if (p === null) return ['there is no pair to compare'];
  const scores =
    score === null || score.p_value === null
      ? []
      : [`${scoreWords(score.difference, score.p_value)} (${formatP(score.p_value)})`];
  return [
    `${verdictWords(table, p)} (${formatP(p)})`,
    ...scores,
    `passed in both ${table.both_passed}, only in A ${table.only_a_passed}, only in B ${table.only_b_passed}, in neither ${table.neither_passed}`,
  ];
}

function verdictWords({ only_a_passed: a, only_b_passed: b }: Difference['table'], p: number): string {
  if (p >= 0.05 || a === b) return 'verdicts: no significant change';
  return a > b ? 'verdicts: significantly fewer pass' : 'verdicts: significantly more pass';
}

function scoreWords(difference: number, p: number): string {
  if (p >= 0.05 || difference === 0) return 'scores: no significant change';
  return difference < 0 ? 'scores: significantly lower' : 'scores: significantly higher';
}

/** `0.0312`, `<0.0001`; a dash alone where nothing was compared. */
export function describeP(p: number | null): string {
  return p === null
    ? '–'
    : formatP(p)
        .replace(/^p (= )?/, '')
        .replace('< ', '<');
}

/** `3 regressions`, `70 regressions, the first 50`. */
export function describeRegressions({ regressions, first_regressions: first }: Difference): string {
  return formatListed(regressions, 'regression', first.length);
}

/** `+0.346 (0.317 to 0.375)`; empty where no two scores were compared. */
export function describeScores({ score }: Difference): string {
  if (score === null) return '';
  const { difference, ci95 } = score;
  const interval = ci95 === null ? '' : ` (${signed(ci95[0])} to ${signed(ci95[1])})`;
  return `${signed(difference)}${interval}`;
}

/** `2 → 5`, on both sides; empty where all were scored. */
export function describeUnscored({ unscored: { only_in_a: a, only_in_b: b, both } }: Difference): string {
  return a + b + both === 0 ? '' : `${a + both} → ${b + both}`;
}

/** `score 1 → score 0: said 41`. */
export function describeChange({ a, b }: Change): string {
  return `${describeScore({ ...a, detail: '' })} → ${describeScore(b)}`;
}

/** Sentences about cases and evals that only one side has. */
export function describeUnpaired(comparison: Comparison): string[] {
  const { evals_only_in_a: onlyA, evals_only_in_b: onlyB } = comparison;
  const [first] = namedRows(comparison).slice(-1);
  const { only_in_a: casesA = 0, only_in_b: casesB = 0 } = first?.difference ?? {};
  return [
    ...(casesA === 0 ? [] : [`only in A: ${formatCount(casesA, 'case')}`]),
    ...(casesB === 0 ? [] : [`only in B: ${formatCount(casesB, 'case')}`]),
    ...(onlyA.length === 0 ? [] : [`evals only in A: ${onlyA.join(', ')}`]),
    ...(onlyB.length === 0 ? [] : [`evals only in B: ${onlyB.join(', ')}`]),
  ];
}

/** The measures of guards that are compared. */
export const guardMeasures = ['precision', 'recall', 'f1', 'f2', 'accuracy', 'auc'] as const;

/** Both sides of each guard. */
export function guardRows(evals: readonly EvalDifference[]) {
  return evals.flatMap((each) => {
    const { classification } = each;
    // Without labels there are no measures.
    if (classification === undefined || (isEmpty(classification.a) && isEmpty(classification.b))) return [];
    return [
      { name: `${nameOf(each)} A`, classified: classification.a },
      { name: `${nameOf(each)} B`, classified: classification.b },
    ];
  });
}

function isEmpty({ accuracy }: ComparedClassification): boolean {
  return accuracy === null;
}

function signed(value: number): string {
  const text = value.toFixed(3);
  return value > 0 ? `+${text}` : text.replace(/^-0\.000$/, '0.000');
}
