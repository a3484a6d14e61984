import { escapeInvisibleLine as oneLine } from '../../../base/text/escape-invisible.ts';
import { formatCount, shorten } from '../../../base/text/phrases.ts';
import { cut } from '../../../base/text/width.ts';
import type { PersonAgreement, RatedCases, RatedVerdicts, RatingAgreement } from '../../rating-agreement.ts';
import { formatInterval, formatPercent, formatScore } from '../numbers.ts';

/** Formats the result of `eval agreement`; empty without ratings. */
export function renderAgreement(
  { variants, ...all }: RatedCases & Pick<RatingAgreement, 'variants'>,
  columns = Number.POSITIVE_INFINITY,
): string {
  const blocks =
    variants === undefined
      ? blocksOf(all)
      : [
          ...variants.flatMap(({ name, ...each }) => blocksOf(each, ` (${shortName(name)})`)),
          ...blocksOf(all, ' (all variants)'),
        ];
  return blocks.map((lines) => lines.map((line) => cut(line, columns)).join('\n')).join('\n\n');
}

function blocksOf({ evals, cases }: RatedCases, of = ''): string[][] {
  const all = [...Object.entries(evals), ...(cases === null ? [] : [['the run', cases] as const])];
  return all.flatMap(([name, verdicts]) => blocksOfEval(`${shortName(name)}${of}`, verdicts));
}

function blocksOfEval(short: string, { people, between }: RatedVerdicts): string[][] {
  return [
    ...people.map((person) => personLines(short, person)),
    ...between.map(({ by: [one, other], agreement, disagreements }) => {
      const [first, second] = [shortName(one), shortName(other)];
      const counts = [agreement.only_first, agreement.only_second] as const;
      return [
        `${first} and ${second}, of ${short}: ${kappaText(agreement)}`,
        countsText([first, second], agreement, counts),
        ...listed(disagreements.map((id) => oneLine(id))),
      ];
    }),
  ];
}

function personLines(name: string, person: PersonAgreement): string[] {
  const by = shortName(person.by);
  const { agreement, disagreements, ratings, unscored, without_verdict: wordless } = person;
  const left = [
    ...(wordless === 0 ? [] : [`${formatCount(wordless, 'rating')} without a verdict`]),
    ...(unscored === 0 ? [] : [`${formatCount(unscored, 'case')} without a score`]),
  ];
  const leftOut = left.length === 0 ? [] : [`  not compared: ${left.join(', ')}`];
  if (agreement === null) {
    return [`${name} and ${by}: nothing to compare in ${formatCount(ratings, 'rating')}`, ...leftOut];
  }
  return [
    `${name} and ${by}: ${kappaText(agreement)}`,
    countsText([name, by], agreement, [agreement.only_eval, agreement.only_person]),
    ...leftOut,
    ...listed(
      disagreements.map(({ case: id, eval_passed, eval_score, person_passed, comment }) => {
        const score = eval_score === null ? '' : ` with ${formatScore(eval_score)}`;
        const why = comment === null ? '' : `: ${oneLine(shorten(comment, 200))}`;
        return `${oneLine(id)}: ${verdict(eval_passed)}${score}, but ${by} says ${verdict(person_passed)}${why}`;
      }),
    ),
  ];
}

type Measured = Pick<
  NonNullable<PersonAgreement['agreement']>,
  'n' | 'both_passed' | 'both_failed' | 'observed' | 'kappa' | 'stderr' | 'ci95'
>;

function kappaText({ n, observed, kappa, stderr, ci95 }: Measured): string {
  const same = `the same verdict in ${formatPercent(observed)} of ${formatCount(n, 'case')}`;
  if (kappa === null) return `no kappa, because both gave only one verdict; ${same}`;
  // The large-sample formula gives no width if one side has a single verdict.
  const interval = ci95 === null || stderr === 0 ? '' : ` (${formatInterval(ci95)})`;
  return `kappa ${kappa.toFixed(2)}${interval}, ${same}`;
}

function countsText(
  [one, other]: readonly [string, string],
  { both_passed: passed, both_failed: failed }: Measured,
  [onlyOne, onlyOther]: readonly [number, number],
): string {
  const counts = `  passed by both ${passed}, by ${one} alone ${onlyOne}, by ${other} alone ${onlyOther}, failed by both ${failed}`;
  const rarest = Math.min(passed + onlyOther, failed + onlyOne);
  return rarest < FEW ? `${counts} (too few to rely on)` : counts;
}

/** Source: docs/guides/check-a-judge.md. */
const FEW = 20;

function verdict(passed: boolean): string {
  return passed ? 'passed' : 'failed';
}

function listed(cases: readonly string[]): string[] {
  if (cases.length === 0) return [];
  const more = cases.length > MOST_LISTED ? [`    … and ${cases.length - MOST_LISTED} more: --json`] : [];
  return ['  disagree', ...cases.slice(0, MOST_LISTED).map((each) => `    ${each}`), ...more];
}

const MOST_LISTED = 20;

function shortName(text: string): string {
  return oneLine(shorten(text, 60));
}
