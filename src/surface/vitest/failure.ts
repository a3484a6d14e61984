import { relative } from 'node:path';
import type { CaseRecord, loadResults, RunHeader, SuiteReport } from '../../runtime/open-runtime.ts';

/** What results are said with. */
export type Wording = Awaited<ReturnType<typeof loadResults>>;

type EvalResult = CaseRecord['epochs'][number]['results'][number];

/** What a case failed by, as vitest shows it; undefined of a case that passed. */
export function explainCase(record: CaseRecord, header: RunHeader, wording: Wording): Error | undefined {
  const failures = wording.failuresOf(record, wording.openRoles(header));
  if (failures.length === 0) return undefined;
  const lines = failures.map(({ eval: id, score, detail }) => {
    const asked = wording.askedOf(record, id);
    const shown = asked.find(({ passed }) => !passed) ?? asked[0];
    const words = describe(score, shown?.threshold, wording);
    return `  ${id}: ${words}${indent(detail === '' ? '' : `: ${detail}`)}${hintOf(shown)}`;
  });
  const difference = findDifference(record, { header, failed: failures.map((failure) => failure.eval) });
  const content = wording.cut(wording.oneLine(record.epochs[0]?.content ?? ''), 300);
  const judged = difference === undefined && content !== '' ? [`  judged: ${content}`] : [];
  return toError([`case ${record.id} failed`, ...lines, ...judged].join('\n'), record, difference);
}

/** What is wrong with a gate; undefined of one that is passed. */
export function explainGate(gate: SuiteReport['gates'][number], wording: Wording): Error | undefined {
  if (gate.passed) return undefined;
  return toError(`gate ${wording.nameGate(gate)} is missed: ${wording.explainGate(gate)}`);
}

/** What is wrong with rows that are no cases. `problem_count` may be more than there are problems. */
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

/** What failed in a run whose cases are too many for a test each; undefined when all passed. */
export function explainCases(report: SuiteReport, wording: Wording): Error | undefined {
  const { cases, overall, failures, failure_count: count } = report;
  if (overall.passed === cases) return undefined;
  const lines = failures.map((failure) => `  ${indent(wording.describeFailure(failure))}`);
  const title = `${cases - overall.passed} of ${cases} cases failed`;
  return toError([title, ...lines, ...andMore(count - failures.length)].join('\n'));
}

function andMore(count: number): string[] {
  return count > 0 ? [`  and ${count} more`] : [];
}

/** `score 0.25, wanted at least 0.5`. */
function describe(
  score: number | null,
  threshold: EvalResult['threshold'] | undefined,
  { describeBounds, describeScore, toHonest }: Wording,
): string {
  if (threshold === undefined) return describeScore({ score, detail: '' });
  const { max_score: max = null, min_score: min = max === null ? 1 : null } = threshold;
  const bound = score !== null && min !== null && score < min ? min : max;
  const said = score === null ? 'unscored' : `score ${toHonest(score, bound)}`;
  return `${said}, wanted ${describeBounds({ min, max })}`;
}

function hintOf(result: EvalResult | undefined): string {
  return result?.error === undefined ? '' : `\n    hint: ${result.error.hint}`;
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n    ');
}

/** Two texts that vitest shows as a diff. */
interface Difference {
  readonly expected: string;
  readonly actual: string;
}

interface Failed {
  readonly header: RunHeader;
  readonly failed: readonly string[];
}

/** Of the first failed eval that was asked for a text, that text and what was there in its place. */
function findDifference(record: CaseRecord, { header, failed }: Failed): Difference | undefined {
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
  difference?: Difference,
): Error {
  const error = new Error(message);
  error.name = 'SuiteFailure';
  error.stack = [`SuiteFailure: ${message}`, ...(place ? [`    at ${place.file}:${place.line}:1`] : [])].join(
    '\n',
  );
  return Object.assign(error, difference);
}
