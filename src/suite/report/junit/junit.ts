import { escapeInvisibleLine as oneLine } from '../../../text/escape-invisible.ts';
import { cut } from '../../../text/width.ts';
import type {
  CaseRecord,
  EvalHeader,
  GateResult,
  RowProblem,
  RunHeader,
  SuiteReport,
} from '../../run/record.ts';
import { classifyResult, durationMsOf, failuresOf, type RoleOf, roleLookup } from '../case-failures.ts';
import type { OpenReporter, Reporter } from '../reporter.ts';
import { describeScore, explainGate, nameGate } from '../wording.ts';
import { type JunitSuites, newJunitSuites, type TestCase } from './suites.ts';
import { escapeText, toElement } from './xml.ts';

/**
 * The XML of JUnit, as CI servers read it: a `testsuite` for each eval with a `testcase` for each case, and others for
 * the gates, for cases that miss a threshold of their own, for rows that could not be used, and for what makes a run void. What is unscored is an
 * error; metrics never fail.
 */
export const openJunit: OpenReporter = (sink) => {
  const { reporter, suites, propertiesOf } = collectJunit();
  return {
    ...reporter,
    async end(report) {
      try {
        await reporter.end(report);
        await suites.write(sink, report, propertiesOf);
      } finally {
        suites.close();
      }
    },
  };
};

/** The test suites of one run, which are written once it is over. */
export interface CollectedJunit {
  readonly reporter: Reporter;
  readonly suites: JunitSuites;
  readonly propertiesOf: (name: string) => Readonly<Record<string, unknown>>;
}

/** Collects the test suites of a run; `suites` has to be closed. */
export function collectJunit(): CollectedJunit {
  const suites = newJunitSuites();
  let header: RunHeader | undefined;
  let ended: SuiteReport | undefined;
  let roleOf: RoleOf = roleLookup({ evals: [] });
  const reporter: Reporter = {
    async begin(run) {
      header = run;
      roleOf = roleLookup(run);
      for (const { id } of run.evals) suites.open(id);
    },
    async onCase(record) {
      if (header !== undefined) addCase(suites, record, { header, roleOf });
    },
    async onProblem(problem) {
      suites.open(extraSuites.dataset).add(toProblemCase(problem, header?.suite ?? ''));
    },
    async end(report) {
      ended = report;
      for (const problem of report.problems.filter(({ scope }) => scope === 'run')) {
        suites.open(extraSuites.run).add(toVoidCase(problem, report.suite));
      }
      for (const gate of report.gates) suites.open(extraSuites.gates).add(toGateCase(gate, report.suite));
    },
    abort: () => suites.close(),
  };
  return {
    reporter,
    suites,
    propertiesOf: (name) => (ended === undefined ? {} : propertiesOf(name, { header, report: ended })),
  };
}

/** The leading space keeps these names apart from ids of evals. */
const extraSuites = { gates: ' gates', cases: ' cases', dataset: ' dataset', run: ' run' } as const;

interface RunContext {
  readonly header: RunHeader;
  readonly roleOf: RoleOf;
}

function addCase(suites: JunitSuites, record: CaseRecord, { header, roleOf }: RunContext): void {
  const { suite, evals } = header;
  for (const entry of evals) {
    const name = { name: record.id, classname: `${suite}.${entry.id}` };
    suites.open(entry.id).add({ ...name, ...judge(record, entry, roleOf) });
  }
  const failures = failuresOf(record, roleOf);
  const own = failures.find(({ eval: id }) => evals.every((entry) => entry.id !== id));
  if (own === undefined) return;
  const content = toFault('failure', { type: 'case', words: describeScore(own), detail: own.detail });
  suites
    .open(extraSuites.cases)
    .add({ name: record.id, classname: `${suite}.cases`, ms: 0, kind: 'failure', content });
}

type CaseVerdict = Pick<TestCase, 'ms' | 'kind' | 'content'>;

function judge(record: CaseRecord, { id, role }: EvalHeader, roleOf: RoleOf): CaseVerdict {
  const result = record.results.find(({ eval: evalId }) => evalId === id);
  if (result === undefined) {
    return { ms: 0, kind: 'skipped', content: toSkipped('not judged: its condition is false') };
  }
  const ms = durationMsOf(record, id);
  const words = describeScore(result);
  const output = toOutput(record, result);
  const meaning = classifyResult(record, result, roleOf);
  if (meaning === 'good') {
    const isMissing = result.score === null;
    return isMissing
      ? { ms, kind: 'skipped', content: toSkipped(words) + output }
      : { ms, kind: 'passed', content: output };
  }
  const kind = meaning === 'failed' ? 'failure' : 'error';
  return { ms, kind, content: toFault(kind, { type: role, words, detail: result.detail }) + output };
}

interface FaultText {
  readonly type: string;
  readonly words: string;
  readonly detail: string;
}

function toFault(kind: 'failure' | 'error', { type, words, detail }: FaultText): string {
  return toElement(kind, { message: toMessage(words), type }, escapeText(detail));
}

function toSkipped(words: string): string {
  // Not every schema knows its `message`, but all take a text.
  return toElement('skipped', {}, escapeText(toMessage(words)));
}

/** The message of a failure: one line of at most 300 columns. */
function toMessage(words: string): string {
  return cut(oneLine(words), 300);
}

/** A `testcase` has no properties in the schema that CI servers check, so they stand in its output. */
function toOutput(
  record: CaseRecord,
  { score, passed_epochs: passed }: CaseRecord['results'][number],
): string {
  const { file, line, tags, epochs } = record;
  const lines = [
    `row: ${file}:${line}`,
    `score: ${score ?? 'none'}`,
    ...(tags.length === 0 ? [] : [`tags: ${tags.join(', ')}`]),
    ...(epochs.length === 1 ? [] : [`epochs: ${passed} of ${epochs.length} passed`]),
  ];
  return toElement('system-out', {}, escapeText(lines.join('\n')));
}

function toProblemCase({ file, line, message, hint = '' }: RowProblem, suite: string): TestCase {
  const content = toElement('error', { message: toMessage(message), type: 'row' }, escapeText(hint));
  return { name: `${file}:${line}`, classname: `${suite}.dataset`, ms: 0, kind: 'error', content };
}

/** The test case for a problem that makes the whole run void. */
function toVoidCase({ file, line, message, hint }: RowProblem, suite: string): TestCase {
  const words = `the run is void: ${message}`;
  const detail = [`${file}:${line}`, ...(hint === undefined ? [] : [hint])].join('\n');
  const content = toElement('error', { message: toMessage(words), type: 'run' }, escapeText(detail));
  return { name: 'the run', classname: `${suite}.run`, ms: 0, kind: 'error', content };
}

function toGateCase(gate: GateResult, suite: string): TestCase {
  const content = gate.passed ? '' : toElement('failure', { message: explainGate(gate), type: 'gate' });
  const kind = gate.passed ? 'passed' : 'failure';
  return { name: nameGate(gate), classname: `${suite}.gates`, ms: 0, kind, content };
}

interface PropertySource {
  readonly header: RunHeader | undefined;
  readonly report: SuiteReport;
}

function propertiesOf(name: string, { header, report }: PropertySource): Readonly<Record<string, unknown>> {
  const entry = header?.evals.find(({ id }) => id === name);
  const stats = report.evals[name];
  if (entry === undefined || stats === undefined) return {};
  const { type, role, weight, reducer } = entry;
  const { pass_rate, mean, flaky } = stats;
  return {
    run_id: report.run_id,
    type,
    role,
    weight,
    reducer,
    epochs: report.epochs,
    pass_rate,
    mean,
    flaky,
  };
}
