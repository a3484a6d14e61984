import { formatCount } from '../base/text/phrases.ts';
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
import { formatUsd } from './report/numbers.ts';
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
 * Adds up the cases of a run while it goes on, in bounded memory, and makes its report: the same one of the same rows
 * in any order, and of tallies of any parts of them.
 */
export interface RunAccumulator {
  /**
   * Counts a row that cannot be used, or not by this variant. Undefined when the same line of the suite was reported
   * before.
   */
  addProblem(row: Row, problem: RowFault, variant?: VariantPlace): RowProblem | undefined;
  /** Counts a case; false when the run has as many failures as `bail` allows. */
  addCase(record: CaseRecord): boolean;
  /** `fraction`: how much of the dataset has been read. */
  progress(fraction: number | null): SuiteProgress;
  report(end: RunTotals): SuiteReport;
  /** What has been added so far, as plain JSON. */
  state(): RunTally;
  /** Adds a `state()`, as it is read from JSON. Throws STORE_FAILED for one of another version, suite or shape. */
  merge(state: unknown): void;
}

interface RunTotals {
  /** Cases that the budget left no money for. */
  readonly notJudged?: number | undefined;
  readonly durationMs: number;
  /** Rows that the dataset had, whether or not they were selected. */
  readonly rows: number;
  /** Set when the whole run is void, whatever its cases came to. */
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
      // A variant of which no case was judged has not passed.
      const hasVoidVariant = matrix?.variants.some((variant) => variant.cases === 0) ?? false;
      const isVoid =
        cases === 0 || fault !== undefined || unpaid !== undefined || (hasVoidVariant && !isBailed());
      // A variant without a case counts above; one with unusable rows makes the run unusable too.
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
 * The report of a run. For a run without one it is computed from the cases so far, without gates, with the
 * status `interrupted` or `running`; a shadow is always `running`.
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

/** What the cases of a run come to; its own state is that of the counts. */
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
        // Failures stand behind those of the rows before, whatever was judged first.
        const row = numberAmong(record.number, placeOf(header.variants, record.variant));
        failures.add(row * (header.evals.length + 1) + index, failure);
      }
    },
  };
}

/**
 * The statistics of a report. The cases of one row are asked the same in every variant, so that they are not independent: over
 * all variants together there is no standard error and no interval.
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

/** How many problems and failures the report lists. */
const maxListed = 20;
const tooManyTags: RowFault = {
  message: `tags: there are more than ${maxTags} different tags`,
  hint: 'A tag names a group of cases; what is different in every case belongs into `id`.',
};

/** What is not judged is told, and no gate over the rest is a verdict. */
function budgetSpent(notJudged: number, spending: Spending | undefined): RowFault {
  const spent = spending?.cost_usd;
  const amount = typeof spent === 'number' ? ` (${formatUsd(spent)} in all)` : '';
  return {
    message: `the budget is spent${amount}: ${formatCount(notJudged, 'case')} not judged`,
    hint: 'Go on with it: the same command with --resume and a higher --max-cost.',
  };
}

/** The problem of a run that judged no case, which must not pass. */
function nothingToJudge({ dataset, file }: Suite, rows: number): RowProblem {
  const path = dataset.kind === 'inline' ? file : dataset.path;
  const location = { scope: 'run', file: path === '-' ? '<stdin>' : path, line: 1, column: 1 } as const;
  if (rows === 0)
    return { ...location, message: 'the dataset is empty', hint: 'Write one JSON object for each case.' };
  const message = rows === 1 ? 'its one row was not selected' : `none of its ${rows} rows was selected`;
  return { ...location, message, hint: 'Rows are selected by tags, a filter, a shard and their numbers.' };
}

/** The rows of a run that could not be used, in bounded memory. */
interface RowProblems extends Mergeable<Pick<RunTally, 'problems' | 'suite_problems'>> {
  /** Counts a row, of that variant. Undefined when the same line of the suite was reported before. */
  add(row: Row, fault: RowFault, variant?: VariantPlace): RowProblem | undefined;
  /** The first ones, by the numbers of the rows; of a line of the suite where the first row came upon it. */
  items(): readonly RowProblem[];
  /** All rows. */
  count(): number;
}

/** Lists `limit` of them. */
function newRowProblems(limit: number): RowProblems {
  const ofRows = newBoundedList<RowProblem>(limit);
  /** By the line of the suite. */
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
      // Those of the variants of one row stand behind one another, before the next row.
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
