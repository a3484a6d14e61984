import { escapeShownLine as oneLine } from '../../text/escape-commands.ts';
import { formatCount } from '../../text/format-count.ts';
import type { GateResult, RowProblem, SuiteReport } from '../run/record.ts';
import { bailedSentence, countProblems, countUnscored, explainGate, nameGate } from './wording.ts';

/**
 * Lines that explain why a run did not pass: status with reasons, missed gates, first problems, report
 * files. Of a run that passed only the files.
 */
export function explainVerdict(report: SuiteReport, files: readonly string[]): readonly string[] {
  const { suite, status, gates, problems, problem_count: count } = report;
  const written = files.length === 0 ? [] : [`written: ${files.map(oneLine).join(', ')}`];
  if (status === 'passed') return written;
  const missed = gates.filter(({ passed }) => !passed);
  const shown = status === 'error' ? problems.slice(0, mostProblems) : [];
  const rest = status === 'error' ? count - shown.length : 0;
  return [
    `${oneLine(suite)}: ${[status, ...reasonsOf(report, missed)].join(', ')}`,
    ...missed.map((gate) => `  gate missed: ${oneLine(`${nameGate(gate)} ${explainGate(gate)}`)}`),
    ...shown.flatMap(describeProblem),
    ...(rest > 0 ? [`  and ${formatCount(rest, 'more unusable row')}`] : []),
    ...(report.bailed ? [`  ${bailedSentence}`] : []),
    ...written,
  ];
}

/** How many unusable rows are shown. */
const mostProblems = 3;

function reasonsOf(report: SuiteReport, missed: readonly GateResult[]): string[] {
  const { cases, overall, status, gates } = report;
  const failedCases = cases - overall.passed;
  return [
    ...(status === 'error' ? countProblems(report) : []),
    ...countUnscored(report),
    ...(gates.length === 0 ? [] : [`${missed.length} of ${formatCount(gates.length, 'gate')} missed`]),
    ...(failedCases === 0 ? [] : [`${failedCases} of ${formatCount(cases, 'case')} did not pass`]),
  ];
}

function describeProblem({ scope, file, line, message, hint }: RowProblem): string[] {
  const what = scope === 'run' ? 'void' : 'unusable row';
  return [
    `  ${what}: [DATASET_INVALID] ${oneLine(`${file}:${line}`)} ${oneLine(message)}`,
    ...(hint === undefined ? [] : [`    hint: ${oneLine(hint)}`]),
  ];
}
