import { formatCount, formatUsd } from '../base/text/phrases.ts';
import { omitUndefined } from '../base/yaml/wording.ts';
import type { Row, RowFault } from './dataset/row.ts';
import type { Suite, SuiteProgress } from './file/model.ts';
import type {
  CaseRecord,
  CaseStats,
  EvalStats,
  Failure,
  RowProblem,
  RunHeader,
  RunSource,
  RunSummary,
  Spending,
  Stats,
  SuiteReport,
} from './record.ts';
import { failuresOf, roleLookup } from './report/case-failures.ts';
import { hasUntoleratedFaults, judgeGates } from './run/gates.ts';
import {
  newBoundedList,
  type RunTally,
  readRunTally,
  type SuiteProblem,
  tallyVersion,
} from './run/run-tally.ts';
import { newTotalsTally } from './run/totals.ts';
import { combine, type Mergeable, newCounters } from './stats/mergeable.ts';
import { newSpendingTally } from './stats/spending.ts';
import { maxTags, newStatsAccumulator } from './stats/stats-accumulator.ts';
import { type MatrixReport, newVariantTallies } from './variant-tallies.ts';
import { numberAmong, placeOf, type VariantPlace } from './variants.ts';

/**
 * Adds up the cases of a run in bounded memory and makes its report. The report depends neither on the order of cases
 * nor on how they are split into tallies.
 */
export interface RunAccumulator {
  /**
   * Counts an invalid row, for one variant if given. Returns undefined if the same suite line was already reported.
   */
  addProblem(row: Row, problem: RowFault, variant?: VariantPlace): RowProblem | undefined;
  addCase(record: CaseRecord): boolean;
  progress(fraction: number | null): SuiteProgress;
  report(end: RunTotals): SuiteReport;
  state(): RunTally;
  /** Merges a `state()` parsed from JSON. Throws STORE_FAILED for another version, suite or shape. */
  merge(state: unknown): void;
}

interface RunTotals {
  readonly notJudged?: number | undefined;
  readonly durationMs: number;
  readonly rows: number;
  /** Set if the whole run is void, whatever its results. */
  readonly fault?: RowFault | undefined;
}

interface RunAccumulatorOptions {
  readonly header: RunHeader;
  readonly bail?: number | undefined;
  readonly keepGoing?: boolean | undefined;
}

export function newRunAccumulator(
  suite: Suite,
  { header, bail, keepGoing }: RunAccumulatorOptions,
): RunAccumulator {
  const tallies = newCaseTallies(header, suite.gates);
  const { counts, stats: statsAccumulator, totals, variants, failures } = tallies;
  const spending = newSpendingTally();
  const parts = combine({ stats: statsAccumulator, totals, spending, failures });
  const problems = newRowProblems(maxListed);
  const isBailed = () => bail !== undefined && counts.cases - counts.passed >= bail;
  return {
    addProblem(row, fault, variant) {
      if (variant !== undefined) variants?.addProblem(variant.name);
      return problems.add(row, fault, variant);
    },
    addCase(record) {
      tallies.add(record);
      spending.add(record);
      return !isBailed();
    },
    progress: (fraction) => ({
      ...{ ...tallies.state(), problems: problems.count(), failed: counts.cases - counts.passed },
      ...{ total: header.total, fraction },
    }),
    report({ durationMs, rows, fault, notJudged = 0 }) {
      const { cases, passed } = counts;
      const unpaid = notJudged === 0 ? undefined : budgetSpent(notJudged, spending.value());
      const voids = [unpaid, fault, statsAccumulator.hasTooManyTags() ? tooManyTags : undefined]
        .filter((each) => each !== undefined)
        .map((each): RowProblem => ({ scope: 'run', file: suite.file, line: 1, column: 1, ...each }));
      const none = cases + problems.count() + voids.length === 0 ? [nothingToJudge(suite, rows)] : [];
      const ofRun = [...none, ...voids];
      const problemCount = ofRun.length + problems.count();
      const [overall, stats, taken] = [statsAccumulator.overall(), statsAccumulator.stats(), totals.totals()];
      const matrix = variants?.report({ gates: suite.gates, keepGoing: keepGoing === true });
      const gates =
        matrix?.gates ??
        judgeGates(suite.gates, {
          ...{ overall, evals: stats, totals: taken },
          exactly: (gate) => ({ ...statsAccumulator.exactly(gate), ...totals.exactly() }),
        });
      const hasPassed = gates.length > 0 ? gates.every((gate) => gate.passed) : passed === cases;
      const hasVoidVariant = matrix?.variants.some((variant) => variant.cases === 0) ?? false;
      const isVoid =
        cases === 0 || fault !== undefined || unpaid !== undefined || (hasVoidVariant && !isBailed());
      // A variant without cases counts above. One with invalid rows makes the run unusable too.
      const isFaulty =
        matrix?.variants.some((variant) => variant.status === 'error' && variant.cases > 0) ??
        hasUntoleratedFaults(stats, gates);
      const isUnusable = isVoid || isFaulty || (problemCount > 0 && keepGoing !== true);
      return {
        run_id: header.run_id,
        suite: suite.name,
        status: isUnusable ? 'error' : hasPassed && !isBailed() ? 'passed' : 'failed',
        ...{ cases, epochs: suite.epochs, bailed: isBailed() },
        ...figuresOf(overall, stats, matrix),
        gates,
        ...(taken && { totals: taken }),
        ...omitUndefined({ spending: spending.value(), not_judged: notJudged === 0 ? undefined : notJudged }),
        duration_ms: Math.round(durationMs),
        problems: [...ofRun, ...problems.items()].slice(0, maxListed),
        problem_count: problemCount,
        failures: failures.items(),
        failure_count: failures.count(),
      };
    },
    state: () => ({
      version: tallyVersion,
      ...{ ...tallies.state(), ...parts.state(), ...problems.state() },
      ...(variants && { variants: variants.state() }),
    }),
    merge(state) {
      const tally = readRunTally(state, header);
      tallies.merge(tally);
      parts.merge(tally);
      if (tally.variants !== undefined) variants?.merge(tally.variants);
      problems.merge(tally);
    },
  };
}

/**
 * The report of a run. Without a stored report, computes one from the cases without gates, with status `interrupted` or
 * `running`. A shadow is always `running`.
 */
export async function summarize(source: RunSource): Promise<RunSummary> {
  if (source.report !== undefined) return source.report;
  const { header } = source;
  const { counts, stats, totals, variants, failures, add } = newCaseTallies(header, []);
  for await (const record of source.cases()) add(record);
  const taken = totals.totals();
  const { run_id, suite, epochs, kind } = header;
  const status = kind === 'shadow' ? 'running' : (source.status ?? 'interrupted');
  return {
    ...{ run_id, ...(kind === undefined ? {} : { kind }), suite, status, cases: counts.cases, epochs },
    bailed: false,
    ...figuresOf(stats.overall(), stats.stats(), variants?.report({ gates: [], keepGoing: true })),
    gates: [],
    ...(taken && { totals: taken }),
    duration_ms: null,
    problems: [],
    problem_count: 0,
    failures: failures.items(),
    failure_count: failures.count(),
  };
}

function newCaseTallies(header: RunHeader, gates: Suite['gates']) {
  const { counts, state, merge } = newCounters(['cases', 'evals', 'unscored', 'passed']);
  const [stats, totals] = [newStatsAccumulator(header.evals, header.epochs), newTotalsTally()];
  const variants = newVariantTallies(header, gates);
  const failures = newBoundedList<Failure>(maxListed);
  const roleOf = roleLookup(header);
  return {
    ...{ counts, state, merge, stats, totals, variants, failures },
    add(record: CaseRecord): void {
      const { results } = record;
      counts.cases += 1;
      counts.evals += results.length;
      if (results.some(({ score }) => score === null)) counts.unscored += 1;
      if (record.passed) counts.passed += 1;
      for (const tally of [stats, totals]) tally.add(record);
      variants?.addCase(record);
      for (const [index, failure] of failuresOf(record, roleOf).entries()) {
        // Failures are listed by row, then by variant, regardless of the judging order.
        const row = numberAmong(record.number, placeOf(header.variants, record.variant));
        failures.add(row * (header.evals.length + 1) + index, failure);
      }
    },
  };
}

/**
 * The cases of a row are not independent across variants. Totals over all variants therefore have no standard error and
 * no interval.
 */
function figuresOf(
  overall: CaseStats,
  evals: Readonly<Record<string, EvalStats>>,
  matrix: MatrixReport | undefined,
): Pick<SuiteReport, 'overall' | 'evals' | 'variants' | 'comparisons'> {
  if (matrix === undefined) return { overall, evals };
  const withoutIntervals = <Kind extends Stats & { readonly tags: Readonly<Record<string, Stats>> }>(
    stats: Kind,
  ): Kind => ({
    ...stats,
    ...noIntervals,
    tags: mapValues(stats.tags, (tag) => ({ ...tag, ...noIntervals })),
  });
  return {
    overall: withoutIntervals(overall),
    evals: mapValues(evals, withoutIntervals),
    ...{ variants: matrix.variants, comparisons: matrix.comparisons },
  };
}

const noIntervals = { pass_rate_ci95: null, stderr: null, ci95: null } as const;

function mapValues<Value, Other>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Other,
): Record<string, Other> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

const maxListed = 20;
const tooManyTags: RowFault = {
  message: `tags: there are more than ${maxTags} different tags`,
  hint: 'A tag names a group of cases; put what differs in every case into `id`.',
};

/** Unjudged cases are reported, and gates over the rest give no verdict. */
function budgetSpent(notJudged: number, spending: Spending | undefined): RowFault {
  const spent = spending?.cost_usd;
  const amount = typeof spent === 'number' ? ` (${formatUsd(spent)} in all)` : '';
  return {
    code: 'BUDGET_EXCEEDED',
    message: `the budget is spent${amount}: ${formatCount(notJudged, 'case')} not judged`,
    hint: 'Continue the run: the same command with --resume and a higher --max-cost.',
  };
}

function nothingToJudge({ dataset, file }: Suite, rows: number): RowProblem {
  const path = dataset.kind === 'inline' ? file : dataset.path;
  const location = { scope: 'run', file: path === '-' ? '<stdin>' : path, line: 1, column: 1 } as const;
  if (rows === 0)
    return { ...location, message: 'the dataset is empty', hint: 'Write one JSON object for each case.' };
  const message = rows === 1 ? 'its one row was not selected' : `none of its ${rows} rows was selected`;
  return { ...location, message, hint: 'Rows are selected by tags, a filter, a shard and their numbers.' };
}

interface RowProblems extends Mergeable<Pick<RunTally, 'problems' | 'suite_problems'>> {
  add(row: Row, fault: RowFault, variant?: VariantPlace): RowProblem | undefined;
  items(): readonly RowProblem[];
  count(): number;
}

function newRowProblems(limit: number): RowProblems {
  const ofRows = newBoundedList<RowProblem>(limit);
  const ofSuite = new Map<string, SuiteProblem>();
  const addToSuite = (added: SuiteProblem): boolean => {
    const key = `${added.problem.file}:${added.problem.line}`;
    const known = ofSuite.get(key);
    const first = known !== undefined && known.row < added.row ? known : added;
    ofSuite.set(key, { ...first, count: added.count + (known?.count ?? 0) });
    return known === undefined;
  };
  return {
    add({ number, file, line }, { location, ...fault }, variant) {
      const words =
        variant === undefined
          ? fault
          : { ...fault, variant: variant.name, message: `variant ${variant.name}: ${fault.message}` };
      const problem = { ...(location ?? { file, line }), column: 1, ...words };
      if (location !== undefined) return addToSuite({ row: number, count: 1, problem }) ? problem : undefined;
      ofRows.add(variant === undefined ? number : number + variant.index / variant.of, problem);
      return problem;
    },
    items() {
      const first = newBoundedList<RowProblem>(limit);
      first.merge(ofRows.state());
      for (const { row, problem } of ofSuite.values()) first.add(row, problem);
      return first.items();
    },
    count: () => [...ofSuite.values()].reduce((sum, { count }) => sum + count, ofRows.count()),
    state: () => ({ problems: ofRows.state(), suite_problems: [...ofSuite.values()] }),
    merge({ problems, suite_problems: ofLines }) {
      ofRows.merge(problems);
      for (const each of ofLines) addToSuite(each);
    },
  };
}
