import { escapeShownLine as oneLine } from '../../base/text/escape-commands.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { cut } from '../../base/text/width.ts';
import {
  describeP,
  formatDifference,
  formatDuration,
  formatListed,
  formatMean,
  formatP,
  formatPercent,
} from '../report/numbers.ts';
import type {
  Change,
  ComparedClassification,
  Comparison,
  Decisions,
  Difference,
  EvalDifference,
  SideInfo,
} from './comparison.ts';
import { nameOf } from './regressions.ts';

export interface ComparisonDocument {
  readonly title: string;
  readonly isShadows: boolean;
  /** `gsm8k, tag large, eval exact, run 1f0c, 49 cases`. */
  readonly a: string;
  readonly b: string;
  readonly tables: readonly [ComparisonTable, ...ComparisonTable[]];
  readonly conclusions: readonly { readonly name?: string; readonly lines: readonly string[] }[];
  readonly unpaired: readonly string[];
  readonly changes: readonly NamedChanges[];
  readonly lists: readonly { readonly title: string; readonly lines: readonly string[] }[];
}

export interface ComparisonTable {
  readonly name: string;
  readonly columns: readonly ComparisonColumn[];
  readonly rows: readonly (readonly string[])[];
}

interface ComparisonColumn {
  readonly title: string;
  readonly longTitle?: string;
  /** If the terminal is too narrow, the column with the lowest number is dropped first. */
  readonly priority: number;
  /** The cell is not a plain number. */
  readonly isText?: boolean;
  readonly isBad?: boolean;
  readonly empty?: string;
  readonly isExtra?: boolean;
}

export interface NamedChanges {
  readonly name: string;
  /** `3 regressions`, `70 regressions, the first 50`. */
  readonly regressions: ChangeList;
  readonly improvements: ChangeList;
}

interface ChangeList {
  readonly title: string;
  readonly changes: readonly Change[];
}

export function toDocument(comparison: Comparison): ComparisonDocument {
  const { a, b, cases, evals, evals_only_in_a: evalsA, evals_only_in_b: evalsB } = comparison;
  const isShadows = a.kind === 'shadow' && b.kind === 'shadow';
  const rows: readonly NamedDifference[] = [
    ...evals.map((each) => ({ name: nameOf(each), difference: each })),
    ...(cases === null ? [] : [{ name: 'all cases', difference: cases }]),
  ];
  const { only_in_a: casesA = 0, only_in_b: casesB = 0 } = rows.at(-1)?.difference ?? {};
  const shared = {
    isShadows,
    a: describeSide(a),
    b: describeSide(b),
    unpaired: [
      ...(casesA === 0 ? [] : [`only in A: ${formatCount(casesA, 'case')}`]),
      ...(casesB === 0 ? [] : [`only in B: ${formatCount(casesB, 'case')}`]),
      ...(evalsA.length === 0 ? [] : [`evals only in A: ${evalsA.join(', ')}`]),
      ...(evalsB.length === 0 ? [] : [`evals only in B: ${evalsB.join(', ')}`]),
    ],
  };
  if (isShadows) {
    const sides = evals.flatMap(({ pairs, decisions }): Shadow[] =>
      decisions === undefined
        ? []
        : [
            { name: 'A', pairs, ...decisions.a },
            { name: 'B', pairs, ...decisions.b },
          ],
    );
    return {
      ...shared,
      title: 'Shadows compared',
      tables: [tableOf('Differences', shadowColumns, sides)],
      conclusions: [{ lines: evals.flatMap(describeShadows) }],
      changes: [],
      lists: evals.flatMap((each) => [
        ...shadowList('B', each.regressions, each.first_regressions),
        ...shadowList('A', each.improvements, each.first_improvements),
      ]),
    };
  }
  const guards = evals.flatMap(({ classification: found, ...each }): Guard[] =>
    found === undefined || (found.a.accuracy === null && found.b.accuracy === null)
      ? []
      : [
          { name: `${nameOf(each)} A`, ...found.a },
          { name: `${nameOf(each)} B`, ...found.b },
        ],
  );
  return {
    ...shared,
    title: 'Evals compared',
    tables: [
      tableOf('Differences', differenceColumns, rows),
      ...(guards.length === 0 ? [] : [tableOf('Guards', guardColumns, guards)]),
    ],
    conclusions: rows.map(({ name, difference }) => ({ name, lines: describeDifference(difference) })),
    changes: rows.map(({ name, difference }) => {
      const { regressions, improvements, first_regressions: worse, first_improvements: better } = difference;
      return {
        name,
        regressions: { title: formatListed(regressions, 'regression', worse.length), changes: worse },
        improvements: { title: formatListed(improvements, 'improvement', better.length), changes: better },
      };
    }),
    lists: [],
  };
}

function describeSide({ suite, tag, eval: id, run_id, cases, is_complete }: SideInfo): string {
  return [
    suite,
    ...(tag === undefined ? [] : [`tag ${tag}`]),
    ...(id === undefined ? [] : [`eval ${id}`]),
    `run ${run_id}`,
    `${formatCount(cases, 'case')}${is_complete ? '' : ' (the run did not finish)'}`,
  ].join(', ');
}

type Column<Item> = ComparisonColumn & { cell(item: Item): string };

function tableOf<Item>(
  name: string,
  columns: readonly Column<Item>[],
  items: readonly Item[],
): ComparisonTable {
  return { name, columns, rows: items.map((item) => columns.map(({ cell }) => cell(item))) };
}

interface NamedDifference {
  readonly name: string;
  readonly difference: Difference;
}

const differenceColumns: readonly Column<NamedDifference>[] = [
  { title: 'eval', longTitle: 'Eval', priority: 12, isText: true, cell: ({ name }) => name },
  { title: 'pairs', longTitle: 'Pairs', priority: 7, cell: ({ difference: { pairs } }) => String(pairs) },
  { title: 'A passed', priority: 11, cell: ({ difference: { pass_rate } }) => formatPercent(pass_rate.a) },
  { title: 'B passed', priority: 11, cell: ({ difference: { pass_rate } }) => formatPercent(pass_rate.b) },
  {
    ...{ title: 'p', longTitle: 'p of verdicts', priority: 8, isText: true },
    cell: ({ difference }) => describeP(difference.p_value),
  },
  {
    ...{ title: 'regressions', longTitle: 'Regressions', priority: 10, isBad: true },
    cell: ({ difference: { regressions } }) => String(regressions),
  },
  {
    ...{ title: 'improvements', longTitle: 'Improvements', priority: 6 },
    cell: ({ difference: { improvements } }) => String(improvements),
  },
  {
    ...{ title: 'flaky', longTitle: 'Flaky', priority: 4, empty: '0' },
    cell: ({ difference: { flaky } }) => (flaky === 0 ? '' : String(flaky)),
  },
  {
    ...{ title: 'unscored', longTitle: 'Unscored', priority: 5, isText: true, empty: '0' },
    // `2 → 5`, on both sides.
    cell({ difference: { unscored } }) {
      const { only_in_a: a, only_in_b: b, both } = unscored;
      return a + b + both === 0 ? '' : `${a + both} → ${b + both}`;
    },
  },
  {
    ...{ title: 'A mean', priority: 2, isExtra: true },
    cell: ({ difference: { score } }) => formatMean(score?.mean_a ?? null),
  },
  {
    ...{ title: 'B mean', priority: 2, isExtra: true },
    cell: ({ difference: { score } }) => formatMean(score?.mean_b ?? null),
  },
  {
    ...{ title: 'B − A (95 %)', priority: 3, isText: true, empty: '–' },
    cell: ({ difference: { score } }) =>
      score === null ? '' : formatDifference(score.difference, score.ci95),
  },
  {
    ...{ title: 'p', longTitle: 'p of scores', priority: 1, isText: true, isExtra: true },
    cell: ({ difference: { score } }) => describeP(score?.p_value ?? null),
  },
];

type Guard = ComparedClassification & { readonly name: string };

const guardColumns: readonly Column<Guard>[] = [
  { title: 'guard', longTitle: 'Guard', priority: 0, isText: true, cell: ({ name }) => name },
  ...(['precision', 'recall', 'f1', 'f2', 'accuracy', 'auc'] as const).map((title, index) => ({
    ...{ title, priority: -1 - index, cell: (guard: Guard) => formatMean(guard[title]) },
  })),
];

type Shadow = Decisions & { readonly name: string; readonly pairs: number };

const shadowColumns: readonly Column<Shadow>[] = [
  { title: '', cell: ({ name }: Shadow) => name },
  { title: 'events', cell: ({ pairs }: Shadow) => String(pairs) },
  ...(['allow', 'modify', 'deny', 'ask', 'failed'] as const).map((title) => ({
    ...{ title, cell: (side: Shadow) => String(side[title]) },
  })),
  ...(['p50', 'p99'] as const).map((title) => ({
    title,
    cell: ({ latency_ms: latency }: Shadow) => (latency === null ? '–' : formatDuration(latency[title])),
  })),
].map((column, index) => ({ ...column, priority: -index, isText: true }));

function describeDifference({ table, p_value: p, score }: Difference): string[] {
  if (p === null) return ['no pairs to compare'];
  const { both_passed: both, only_a_passed: onlyA, only_b_passed: onlyB, neither_passed: neither } = table;
  const verdicts =
    p >= 0.05 || onlyA === onlyB
      ? 'no significant change'
      : `significantly ${onlyA > onlyB ? 'fewer' : 'more'} pass`;
  const scores = ({ difference, p_value }: NonNullable<typeof score>): string[] => {
    if (p_value === null) return [];
    const isChange = p_value < 0.05 && difference !== 0;
    const words = isChange ? `significantly ${difference < 0 ? 'lower' : 'higher'}` : 'no significant change';
    return [`scores: ${words} (${formatP(p_value)})`];
  };
  return [
    `verdicts: ${verdicts} (${formatP(p)})`,
    ...(score === null ? [] : scores(score)),
    `passed in both ${both}, only in A ${onlyA}, only in B ${onlyB}, in neither ${neither}`,
  ];
}

function describeShadows({ pairs, table, p_value: p }: EvalDifference): string[] {
  if (p === null) return ['no event has a result on both sides'];
  const { both_passed: neither, only_a_passed: onlyB, only_b_passed: onlyA, neither_passed: both } = table;
  const share = (count: number) => `${count} of ${pairs} (${formatPercent(count / pairs)})`;
  return [
    `A would interfere with ${share(both + onlyA)}, B with ${share(both + onlyB)}; ${formatP(p)}`,
    `both ${both}, only A ${onlyA}, only B ${onlyB}, neither ${neither}`,
  ];
}

function shadowList(side: string, count: number, first: readonly Change[]): ComparisonDocument['lists'] {
  if (count === 0) return [];
  const lines = first.map((change) => {
    return cut(oneLine(`${change.case}: A ${change.a.detail} → B ${change.b.detail}`), longestText);
  });
  return [{ title: `only ${side} would interfere: ${formatListed(count, 'event', first.length)}`, lines }];
}

const longestText = 200;
