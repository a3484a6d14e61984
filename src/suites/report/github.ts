import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import type { SuiteReport } from '../record.ts';
import { documentOf } from './document.ts';
import { toLocalPath } from './location.ts';
import { writesAtEnd } from './reporter.ts';
import { describeFailure } from './wording.ts';

/**
 * Annotations of a pull request on GitHub: its workflow commands, of each kind as many as one step may have
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions). Gates come first; of several suites, what has
 * no report.
 */
export const openGithub = writesAtEnd({
  one: (report, _sink, file) => commandsOf(report, file).map(toLine).join(''),
  several({ outcomes }) {
    const faults = outcomes.flatMap((outcome): WorkflowCommand[] => {
      if ('report' in outcome) return [];
      const { file, suite, error } = outcome;
      const title = `${suite} could not be run`;
      return [{ name: 'error', file, line: 1, title, message: `[${error.code}] ${error.message}` }];
    });
    const all = outcomes.flatMap((outcome) =>
      'report' in outcome ? commandsOf(outcome.report, outcome.file) : [],
    );
    // What a whole suite missed stands before its single failures.
    const weightOf = ({ title }: WorkflowCommand) => (title.endsWith(' did not pass') ? 1 : 0);
    const sorted = [...faults, ...all.toSorted((one, other) => weightOf(one) - weightOf(other))];
    const kinds = (['error', 'warning', 'notice'] as const).map((name) =>
      sorted.filter((command) => command.name === name).slice(0, mostAnnotations),
    );
    return kinds.flat().map(toLine).join('');
  },
});

/** How many annotations of one kind GitHub shows of a step. */
const mostAnnotations = 10;

interface WorkflowCommand {
  readonly name: 'error' | 'warning' | 'notice';
  readonly file: string;
  readonly line: number;
  readonly title: string;
  readonly message: string;
}

/**
 * The annotations of a run. Errors first: what makes it void, missed gates, failures, which are warnings when the gates passed all
 * the same; then rows that could not be used, and as notice what it came to.
 */
function commandsOf(report: SuiteReport, file: string): readonly WorkflowCommand[] {
  const { suite, status, failures } = report;
  const { counts, gates, voids, badRows } = documentOf(report);
  const problem = (name: 'error' | 'warning', title: string) => (each: (typeof voids)[number]) => {
    const message = each.hint === undefined ? each.message : `${each.message} (${each.hint})`;
    return { name, file: each.file, line: each.line, title, message };
  };
  const missed = gates.flatMap(({ gate, name, words }): WorkflowCommand[] =>
    gate.passed ? [] : [{ name: 'error', file, line: 1, title: 'gate missed', message: `${name} ${words}` }],
  );
  const failed = failures.map((failure): WorkflowCommand => {
    const name = status === 'passed' ? 'warning' : 'error';
    const title = `${failure.eval} did not pass`;
    return { name, file: failure.file, line: failure.line, title, message: describeFailure(failure) };
  });
  const taken = status === 'passed' ? failures.length : 0;
  return [
    ...[...voids.map(problem('error', 'the run is void')), ...missed, ...failed].slice(0, mostAnnotations),
    ...badRows.problems
      .map(problem('warning', 'unusable row'))
      .slice(0, Math.max(0, mostAnnotations - taken)),
    { name: 'notice', file, line: 1, title: `${suite}: ${status}`, message: counts.join(', ') },
  ];
}

function toLine({ name, file, line, title, message }: WorkflowCommand): string {
  const path = toLocalPath(file);
  const place = path === undefined ? '' : `file=${escapeProperty(path)},line=${line},`;
  const words = path === undefined && name !== 'notice' ? `${file}:${line}: ${message}` : message;
  return `::${name} ${place}title=${escapeProperty(title)}::${escapeData(words)}\n`;
}

/** Escapes control and invisible characters, and what workflow commands give a meaning. */
function escapeData(text: string): string {
  return escapeInvisible(text.replaceAll(/\r\n?/g, '\n')).replaceAll('%', '%25').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
