import { relative } from 'node:path';
import { formatCount } from '../../base/text/phrases.ts';
import type { CaseRecord, loadResults, RunHeader, SuitePlan, SuiteReport } from '../../runtime/runtime.ts';
import type { AwaitedRow, SuiteRun } from './run.ts';

export interface SuiteTest {
  readonly title: string;
  readonly needs: AwaitedRow | 'all' | 'nothing';
  /** Resolves to the failure, if any. Calls `start` if it needs the run, and throws the error that ended it early. */
  judge(start: () => Promise<SuiteRun>): Promise<TestFailure | undefined>;
}

/** `isOverruled`: the suite has gates, which alone decide, so the test is skipped instead. */
interface TestFailure {
  readonly error: Error;
  readonly isOverruled: boolean;
}

/** One test for each row, or for all rows if there are too many, then one for each gate. */
export function toTests(plan: SuitePlan, wording: ResultsModule): readonly SuiteTest[] {
  // As on the command line, gates alone decide if there are any.
  const isGated = plan.gates.length > 0;
  const rows = plan.hasMore ? wholeTests(isGated, wording) : rowTests(plan, isGated, wording);
  return [...rows, ...gateTests(plan, wording)];
}

function rowTests({ rows, variants }: SuitePlan, isGated: boolean, wording: ResultsModule): SuiteTest[] {
  return rows.flatMap((row) => {
    const { content } = row;
    if ('problem' in content) {
      const title = `${toShort(row.file)}:${row.line}`;
      const judge = async () => toFailure(explainProblems([content.problem]));
      return [{ title, needs: 'nothing' as const, judge }];
    }
    const awaited: readonly AwaitedRow[] = variants?.map((variant) => ({ ...row, variant })) ?? [row];
    return awaited.map(
      (each): SuiteTest => ({
        title: wording.oneLine(wording.nameCase({ id: content.id, variant: each.variant })),
        needs: each,
        judge: async (start) => {
          const run = await start();
          const outcome = await run.outcomeOf(each);
          if ('problems' in outcome) return toFailure(explainProblems(outcome.problems));
          return toFailure(explainCase(outcome.record, outcome.header, wording), isGated);
        },
      }),
    );
  });
}

function wholeTests(isGated: boolean, wording: ResultsModule): SuiteTest[] {
  return [
    {
      title: 'all cases',
      needs: 'all',
      judge: async (start) => {
        const run = await start();
        const report = await run.report();
        return toFailure(explainCases(report, wording), isGated);
      },
    },
    {
      title: 'all rows are usable',
      needs: 'all',
      judge: async (start) => {
        const run = await start();
        const report = await run.report();
        return toFailure(explainProblems(report.problems, report.problem_count));
      },
    },
  ];
}

function gateTests({ gates }: SuitePlan, wording: ResultsModule): SuiteTest[] {
  return gates.map((gate, index) => {
    const { min = null, max = null, betterThan } = gate;
    const wanted =
      betterThan === undefined ? wording.describeBounds({ min, max }) : `better than ${betterThan}`;
    return {
      title: wording.oneLine(`gate ${wording.nameGate(gate)} ${wanted}`),
      needs: 'all',
      judge: async (start) => {
        const run = await start();
        const { gates: judged } = await run.report();
        const result = judged[index];
        return result && toFailure(explainGate(result, wording));
      },
    };
  });
}

function toFailure(error: Error | undefined, isOverruled = false): TestFailure | undefined {
  return error && { error, isOverruled };
}

type ResultsModule = Awaited<ReturnType<typeof loadResults>>;

type EvalResult = CaseRecord['epochs'][number]['results'][number];

function explainCase(record: CaseRecord, header: RunHeader, resultsModule: ResultsModule): Error | undefined {
  const failures = resultsModule.failuresOf(record, resultsModule.roleLookup(header));
  if (failures.length === 0) return undefined;
  const lines = failures.map(({ eval: id, score, detail }) => {
    const results = resultsModule.resultsOf(record, id);
    const shown = results.find(({ passed }) => !passed) ?? results[0];
    const words = describe(score, shown?.threshold, resultsModule);
    return `  ${id}: ${words}${indent(detail === '' ? '' : `: ${detail}`)}${hintOf(shown)}`;
  });
  const difference = findDifference(record, { header, failed: failures.map((failure) => failure.eval) });
  const content = resultsModule.cut(resultsModule.oneLine(record.epochs[0]?.content ?? ''), 300);
  const judged = difference === undefined && content !== '' ? [`  judged: ${content}`] : [];
  const name = resultsModule.nameCase(record);
  return toError([`case ${name} failed`, ...lines, ...judged].join('\n'), record, difference);
}

function explainGate(gate: SuiteReport['gates'][number], wording: ResultsModule): Error | undefined {
  if (gate.passed) return undefined;
  return toError(`gate ${wording.nameGate(gate)} is missed: ${wording.explainGate(gate)}`);
}

/** `count` may exceed the listed problems. Undefined without problems. */
function explainProblems(
  problems: SuiteReport['problems'],
  count: number = problems.length,
): Error | undefined {
  const [first] = problems;
  if (first === undefined) return undefined;
  const lines = problems.map(({ file, line, message, hint }) => {
    return `${toShort(file)}:${line} ${message}${hint === undefined ? '' : `\n    hint: ${hint}`}`;
  });
  return toError([...lines, ...andMore(count - problems.length)].join('\n'), first);
}

function toShort(file: string): string {
  const path = relative('', file);
  return path.length < file.length ? path : file;
}

function explainCases(report: SuiteReport, wording: ResultsModule): Error | undefined {
  const { cases, overall, failures, failure_count: count } = report;
  if (overall.passed === cases) return undefined;
  const lines = failures.map((failure) => `  ${indent(wording.describeFailure(failure))}`);
  const title = `${cases - overall.passed} of ${formatCount(cases, 'case')} failed`;
  return toError([title, ...lines, ...andMore(count - failures.length)].join('\n'));
}

function andMore(count: number): string[] {
  return count > 0 ? [`  and ${count} more`] : [];
}

function describe(
  score: number | null,
  threshold: EvalResult['threshold'] | undefined,
  { describeBounds, describeScore, formatBeside }: ResultsModule,
): string {
  if (threshold === undefined) return describeScore({ score, detail: '' });
  const { max_score: max = null, min_score: min = max === null ? 1 : null } = threshold;
  const bound = score !== null && min !== null && score < min ? min : max;
  const scoreText = score === null ? 'unscored' : `score ${formatBeside(score, bound)}`;
  return `${scoreText}, wanted ${describeBounds({ min, max })}`;
}

function hintOf(result: EvalResult | undefined): string {
  return result?.error === undefined ? '' : `\n    hint: ${result.error.hint}`;
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n    ');
}

interface TextDifference {
  readonly expected: string;
  readonly actual: string;
}

interface FailedEvals {
  readonly header: RunHeader;
  readonly failed: readonly string[];
}

/** The difference of the first failed eval with a param `expected`; undefined without one. */
function findDifference(record: CaseRecord, { header, failed }: FailedEvals): TextDifference | undefined {
  const texts = header.evals.filter(({ id, type }) => failed.includes(id) && !type.startsWith('json_'));
  for (const { id } of texts) {
    for (const { content, results } of record.epochs) {
      const result = results.find((each) => each.eval === id && !each.passed && each.score !== null);
      const expected = result?.params?.['expected'];
      if (typeof expected === 'string') return { expected, actual: result?.content ?? content };
    }
  }
  return undefined;
}

function toError(
  message: string,
  place?: { readonly file: string; readonly line: number },
  difference?: TextDifference,
): Error {
  const error = new Error(message);
  error.name = 'SuiteFailure';
  error.stack = [`SuiteFailure: ${message}`, ...(place ? [`    at ${place.file}:${place.line}:1`] : [])].join(
    '\n',
  );
  return Object.assign(error, difference);
}
