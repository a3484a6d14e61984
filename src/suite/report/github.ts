import { escapeInvisible } from '../../text/escape-invisible.ts';
import { formatCount } from '../../text/format-count.ts';
import type { Failure, RowProblem, RunHeader, SuiteReport } from '../run/record.ts';
import { toLocalPath } from './location.ts';
import { formatPercent } from './numbers.ts';
import type { OpenReporter } from './reporter.ts';
import {
  countProblems,
  countUnscored,
  describeFailure,
  describeRun,
  explainGate,
  nameGate,
} from './wording.ts';

/**
 * Annotations of a pull request on GitHub: its workflow commands, of each kind as many as one step may have
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions). Gates come first.
 */
export const openGithub: OpenReporter = (sink) => {
  let file = '';
  return {
    async begin(header: RunHeader) {
      file = header.file;
    },
    readsCases: false,
    async onCase() {},
    async onProblem() {},
    async end(report) {
      await sink.write(renderCommands(commandsOf(report, file)));
    },
  };
};

/** How many annotations of one kind GitHub shows of a step. */
export const mostAnnotations = 10;

/** The annotations of a run: errors first, as notice what it came to. */
export function commandsOf(report: SuiteReport, file: string): readonly WorkflowCommand[] {
  return [...errorsOf(report, file), ...warningsOf(report), summaryOf(report, file)];
}

export function renderCommands(commands: readonly WorkflowCommand[]): string {
  return commands.map((command) => `${toLine(command)}\n`).join('');
}

export interface WorkflowCommand {
  readonly name: 'error' | 'warning' | 'notice';
  readonly file: string;
  readonly line: number;
  readonly title: string;
  readonly message: string;
}

/** Missed gates, then failures: these are warnings when the gates passed all the same. */
function errorsOf(report: SuiteReport, file: string): WorkflowCommand[] {
  const { gates, failures, status } = report;
  const missed = gates
    .filter(({ passed }) => !passed)
    .map((gate): WorkflowCommand => {
      const message = `${nameGate(gate)} ${explainGate(gate)}`;
      return { name: 'error', file, line: 1, title: 'gate missed', message };
    });
  const name = status === 'passed' ? 'warning' : 'error';
  const wrong = problemsOf(report, 'error');
  const failed = failures.map((failure) => toCommand(name, failure));
  return [...wrong, ...missed, ...failed].slice(0, mostAnnotations);
}

function toCommand(name: 'error' | 'warning', failure: Failure): WorkflowCommand {
  const { file, line, eval: id } = failure;
  return { name, file, line, title: `${id} did not pass`, message: describeFailure(failure) };
}

function warningsOf(report: SuiteReport): WorkflowCommand[] {
  const taken = report.status === 'passed' ? report.failures.length : 0;
  return problemsOf(report, 'warning').slice(0, Math.max(0, mostAnnotations - taken));
}

/** What makes the run void is an error; rows that could not be used are warnings. */
function problemsOf({ problems }: SuiteReport, name: 'error' | 'warning'): WorkflowCommand[] {
  const selected = problems.filter(({ scope }) => (scope === 'run') === (name === 'error'));
  return selected.map((problem) => ({
    name,
    file: problem.file,
    line: problem.line,
    title: titleOf(problem),
    message: messageOf(problem),
  }));
}

function titleOf({ scope }: RowProblem): string {
  return scope === 'run' ? 'the run is void' : 'unusable row';
}

function messageOf({ message, hint }: RowProblem): string {
  return hint === undefined ? message : `${message} (${hint})`;
}

function summaryOf(report: SuiteReport, file: string): WorkflowCommand {
  const { suite, status, overall, failure_count: failures } = report;
  const counts = [
    `${formatPercent(overall.pass_rate)} of ${describeRun(report)} passed`,
    ...(failures === 0 ? [] : [formatCount(failures, 'failure')]),
    ...countUnscored(report),
    ...countProblems(report),
  ];
  return { name: 'notice', file, line: 1, title: `${suite}: ${status}`, message: counts.join(', ') };
}

function toLine({ name, file, line, title, message }: WorkflowCommand): string {
  const path = toLocalPath(file);
  const place = path === undefined ? '' : `file=${escapeProperty(path)},line=${line},`;
  const words = path === undefined && name !== 'notice' ? `${file}:${line}: ${message}` : message;
  return `::${name} ${place}title=${escapeProperty(title)}::${escapeData(words)}`;
}

/** Escapes control and invisible characters, and what workflow commands give a meaning. */
function escapeData(text: string): string {
  return escapeInvisible(text.replaceAll(/\r\n?/g, '\n')).replaceAll('%', '%25').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
