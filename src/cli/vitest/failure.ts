import { relative } from 'node:path';
import { formatCount } from '../../base/text/format-count.ts';
import type { CaseRecord, loadResults, RunHeader, SuiteReport } from '../../runtime/runtime.ts';

/** The module of `loadResults()`, whose functions word results. */
export type ResultsModule = Awaited<ReturnType<typeof loadResults>>;

type EvalResult = CaseRecord['epochs'][number]['results'][number];

/** The error of a failed case, as vitest shows it; undefined for a case that passed. */
export function explainCase(
  record: CaseRecord,
  header: RunHeader,
  resultsModule: ResultsModule,
): Error | undefined {
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

/** The error of a missed gate; undefined for one that passed. */
export function explainGate(gate: SuiteReport['gates'][number], wording: ResultsModule): Error | undefined {
  if (gate.passed) return undefined;
  return toError(`gate ${wording.nameGate(gate)} is missed: ${wording.explainGate(gate)}`);
}

/**
 * The error of rows that cannot be used; `count` may be more than the listed problems. Undefined without
 * problems.
 */
export function explainProblems(
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

/** A path as it is read from the current folder, unless that is no shorter. */
export function toShort(file: string): string {
  const path = relative('', file);
  return path.length < file.length ? path : file;
}

/** The error of a run whose cases share one test; undefined when all passed. */
export function explainCases(report: SuiteReport, wording: ResultsModule): Error | undefined {
  const { cases, overall, failures, failure_count: count } = report;
  if (overall.passed === cases) return undefined;
  const lines = failures.map((failure) => `  ${indent(wording.describeFailure(failure))}`);
  const title = `${cases - overall.passed} of ${formatCount(cases, 'case')} failed`;
  return toError([title, ...lines, ...andMore(count - failures.length)].join('\n'));
}

function andMore(count: number): string[] {
  return count > 0 ? [`  and ${count} more`] : [];
}

/** `score 0.25, wanted at least 0.5`. */
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

/** Two texts that vitest shows as a diff. */
interface TextDifference {
  readonly expected: string;
  readonly actual: string;
}

interface FailedEvals {
  readonly header: RunHeader;
  readonly failed: readonly string[];
}

/**
 * The expected and the actual text of the first failed eval that has a param `expected`; undefined without
 * one.
 */
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

/** An error whose place is the row in the dataset, where it is known. */
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
