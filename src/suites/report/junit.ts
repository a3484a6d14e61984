import { escapeInvisibleLine as oneLine } from '../../base/text/escape-invisible.ts';
import { cut } from '../../base/text/width.ts';
import type { CaseRecord, EvalHeader, GateResult, RowProblem, RunHeader, SuiteReport } from '../record.ts';
import { resultsOf } from '../stats/epoch-reduction.ts';
import { classifyResult, durationMsOf, failuresOf, type RoleOf, roleLookup } from './case-failures.ts';
import { escapeText, type JunitSuites, newJunitSuites, type TestCase, toElement } from './junit-document.ts';
import type { OpenWriter, SuiteOutcome } from './reporter.ts';
import { describeScore, explainGate, nameCase, nameGate } from './wording.ts';

/**
 * The XML of JUnit, as CI servers read it: a `testsuite` for each eval with a `testcase` for each case, and others for
 * the gates, for cases that miss a threshold of their own, for rows that could not be used, and for what makes a run void. What a fault left
 * unscored is an error, an abstention is skipped, and metrics never fail.
 */
export const openJunit: OpenWriter = (sink, { isSeveral }) => {
  const suites = newJunitSuites();
  const properties = new Map<string, Readonly<Record<string, unknown>>>();
  return {
    next({ suite }) {
      let header: RunHeader | undefined;
      let roleOf: RoleOf = roleLookup({ evals: [] });
      const keyOf = (name: string) => JSON.stringify([suite, name]);
      const open: OpenSuite = (name) => {
        return suites.open(keyOf(name), `${isSeveral ? `${suite}.` : ''}${name.trimStart()}`);
      };
      return {
        async begin(run) {
          header = run;
          roleOf = roleLookup(run);
          for (const each of judgedSuites(run)) open(nameSuite(each));
        },
        async onCase(record) {
          if (header !== undefined) addCase(open, record, { header, roleOf });
        },
        async onProblem(problem) {
          open(extraSuites.dataset).add(toProblemCase(problem, header?.suite ?? ''));
        },
        async end(report) {
          for (const problem of report.problems.filter(({ scope }) => scope === 'run')) {
            open(extraSuites.run).add(toVoidCase(problem, report.suite));
          }
          for (const gate of report.gates) open(extraSuites.gates).add(toGateCase(gate, report.suite));
          for (const each of header === undefined ? [] : judgedSuites(header)) {
            properties.set(keyOf(nameSuite(each)), propertiesOf(each, report));
          }
        },
      };
    },
    async end({ outcomes, durationMs }) {
      for (const outcome of outcomes) if ('error' in outcome) addFault(suites, outcome);
      const suite = isSeveral ? 'signalbox' : (outcomes[0]?.suite ?? '');
      await suites.write(sink, { suite, duration_ms: durationMs }, (key) => properties.get(key) ?? {});
    },
    close: () => suites.close(),
  };
};

type OpenSuite = (name: string) => ReturnType<JunitSuites['open']>;

/** A suite that has no report is an error. */
function addFault(
  suites: JunitSuites,
  { suite, file, error }: Extract<SuiteOutcome, { error: unknown }>,
): void {
  const name = `${suite}.suite`;
  const message = oneLine(`[${error.code}] ${error.message}`);
  const content = toElement('error', { message, type: 'suite' }, escapeText(error.hint));
  suites.open(name).add({ name: file, classname: name, ms: 0, kind: 'error', content });
}

/** The results of one eval, in a matrix of one variant. */
interface JudgedSuite {
  readonly entry: EvalHeader;
  readonly variant?: string;
}

function judgedSuites({ evals, variants }: RunHeader): JudgedSuite[] {
  if (variants === undefined) return evals.map((entry) => ({ entry }));
  return variants.flatMap(({ name }) => evals.map((entry) => ({ entry, variant: name })));
}

function nameSuite({ entry, variant }: JudgedSuite): string {
  return nameCase({ id: entry.id, variant });
}

/** The leading space keeps these names apart from ids of evals. */
const extraSuites = { gates: ' gates', cases: ' cases', dataset: ' dataset', run: ' run' } as const;

interface RunContext {
  readonly header: RunHeader;
  readonly roleOf: RoleOf;
}

function addCase(open: OpenSuite, record: CaseRecord, { header, roleOf }: RunContext): void {
  const { suite, evals } = header;
  const ofVariant = record.variant === undefined ? {} : { variant: record.variant };
  for (const entry of evals) {
    const name = { name: record.id, classname: classOf(suite, record, entry.id) };
    open(nameSuite({ entry, ...ofVariant })).add({ ...name, ...judge(record, entry, roleOf) });
  }
  const failures = failuresOf(record, roleOf);
  const own = failures.find(({ eval: id }) => evals.every((entry) => entry.id !== id));
  if (own === undefined) return;
  const content = toFault('failure', { type: 'case', words: describeScore(own), detail: own.detail });
  open(extraSuites.cases).add({
    name: record.id,
    classname: classOf(suite, record, 'cases'),
    ms: 0,
    kind: 'failure',
    content,
  });
}

/** `support.exact`, and in a matrix `support.small.exact`. */
function classOf(suite: string, { variant }: CaseRecord, kind: string): string {
  return [suite, ...(variant === undefined ? [] : [variant]), kind].join('.');
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
  // An eval that abstains is asked and says nothing: no fault, and nothing that failed.
  const isAbstention =
    result.score === null && !result.fault && resultsOf(record, id).every(({ error }) => error === undefined);
  if (meaning === 'good' || isAbstention) {
    return result.score === null
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

function toProblemCase({ file, line, variant, message, hint = '' }: RowProblem, suite: string): TestCase {
  const content = toElement('error', { message: toMessage(message), type: 'row' }, escapeText(hint));
  const name = nameCase({ id: `${file}:${line}`, variant });
  return { name, classname: `${suite}.dataset`, ms: 0, kind: 'error', content };
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

function propertiesOf(
  { entry, variant }: JudgedSuite,
  report: SuiteReport,
): Readonly<Record<string, unknown>> {
  const own = variant === undefined ? report : report.variants?.find(({ name }) => name === variant);
  const stats = own?.evals[entry.id];
  if (stats === undefined) return {};
  const { type, role, weight, reducer } = entry;
  const { pass_rate, mean, flaky } = stats;
  return {
    run_id: report.run_id,
    ...(variant === undefined ? {} : { variant }),
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
