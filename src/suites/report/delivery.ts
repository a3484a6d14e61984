import { createHash } from 'node:crypto';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RuntimeError } from '../../base/errors.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { EvalHeader, Failure, RowProblem, RunHeader, SuiteReport } from '../record.ts';
import { failuresOf, type RoleOf, roleLookup } from './case-failures.ts';
import { openCsv } from './csv.ts';
import { documentOf, outcomeRows } from './document.ts';
import { type InputFile, openFileSink, refuseOverwriting } from './file-sink.ts';
import { openJson, openJsonl } from './json.ts';
import { openJunit } from './junit.ts';
import { openMarkdown } from './markdown.ts';
import {
  type FileSink,
  type OpenWriter,
  ofOne,
  type Reporter,
  type ReporterName,
  type ReportPlace,
  type ReportWriter,
  reporterNames,
  type SeveralReport,
  type Sink,
  type SuiteName,
  writesAtEnd,
} from './reporter.ts';
import { openTable } from './terminal/table.ts';
import { describeFailure } from './wording.ts';

/**
 * Writes failed assertions and guardrails as SARIF 2.1.0 for code scanning
 * (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html). Each suite is a run of the document. `most`
 * limits the results of a run; the default is GitHub's limit.
 */
export const openSarif = (sink: Sink, _place: ReportPlace, most = 25_000): ReportWriter => {
  let begun = 0;
  let unended = '';
  return {
    next() {
      let roleOf: RoleOf = roleLookup({ evals: [] });
      let header: RunHeader | undefined;
      let count = 0;
      return {
        async begin(run) {
          header = run;
          roleOf = roleLookup(run);
          await sink.write(
            `${unended}${begun === 0 ? sarifStart : ','}{"tool":${JSON.stringify(toTool(run))},`,
          );
          await sink.write(
            `"automationDetails":${JSON.stringify({ id: `${run.suite}/${run.run_id}` })},"results":[`,
          );
          begun += 1;
          unended = `\n],"invocations":[{"executionSuccessful":false}],"columnKind":"utf16CodeUnits"}`;
        },
        async onCase(record) {
          if (header === undefined) return;
          for (const failure of failuresOf(record, roleOf)) {
            count += 1;
            if (count > most) continue;
            const text = JSON.stringify(toResult(failure, record.tags, header));
            await sink.write(count === 1 ? `\n${text}` : `,\n${text}`);
          }
        },
        async onProblem() {},
        async end(report) {
          const invocation = JSON.stringify(toInvocation(report, header, count - most));
          await sink.write(`\n],"invocations":[${invocation}],"columnKind":"utf16CodeUnits"}`);
          unended = '';
        },
      };
    },
    async end(report) {
      const faults = outcomeRows(report).flatMap(({ suite, fault }) => {
        if (fault === undefined) return [];
        const notification = { level: 'error', message: { text: escapeMessage(fault) } };
        return {
          tool: { driver: { name: 'signalbox' } },
          automationDetails: { id: `${suite}/` },
          results: [],
          invocations: [{ executionSuccessful: false, toolExecutionNotifications: [notification] }],
        };
      });
      const before = begun === 0 ? sarifStart : `${unended}${faults.length === 0 ? '' : ','}`;
      await sink.write(`${before}${faults.map((run) => JSON.stringify(run)).join(',')}]}\n`);
    },
  };
};

const sarifStart = `{"version":"2.1.0","$schema":"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json","runs":[`;

function toTool(header: RunHeader): object {
  const rules = rulesOf(header).map(({ id, type, role }) => ({
    ...{ id, name: type },
    shortDescription: { text: escapeMessage(`The ${role} ${id} (${type}) must pass`) },
    defaultConfiguration: { level: 'error' },
  }));
  return { driver: { name: 'signalbox', rules } };
}

function rulesOf({ evals }: RunHeader): EvalHeader[] {
  return evals.filter(({ role }) => role !== 'metric');
}

function toResult(failure: Failure, tags: readonly string[], header: RunHeader): object {
  const { eval: evalId, case: id, variant } = failure;
  const ruleIndex = rulesOf(header).findIndex((rule) => rule.id === evalId);
  // Stable across runs, even if the row moves.
  const identity = [header.suite, evalId, id, ...(variant === undefined ? [] : [variant])];
  const fingerprint = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
  return {
    ruleId: evalId,
    ...(ruleIndex === -1 ? {} : { ruleIndex }),
    level: 'error',
    message: { text: escapeMessage(describeFailure(failure)) },
    locations: [toLocation(failure, header)],
    partialFingerprints: { 'signalboxCase/v1': fingerprint },
    properties: {
      ...{ tags: [...new Set(tags)], case: id, score: failure.score },
      ...(variant === undefined ? {} : { variant }),
    },
  };
}

/** Rows from stdin get the first line of the suite file. */
function toLocation(place: Pick<RowProblem, 'file' | 'line'>, header: RunHeader | undefined): object {
  const own = toUri(place.file);
  const uri = own ?? toUri(header?.file ?? '') ?? '';
  const region = { startLine: own === undefined ? 1 : place.line };
  return { physicalLocation: { artifactLocation: { uri }, region } };
}

function toInvocation(report: SuiteReport, header: RunHeader | undefined, omitted: number): object {
  const notes = report.problems.map((problem) => {
    const { scope, file, line, message, hint = '' } = problem;
    const next = hint === '' ? '' : ` (${hint})`;
    const words = `${scope === 'run' ? 'the run is invalid: ' : ''}${file}:${line}: ${message}${next}`;
    const locations = [toLocation(problem, header)];
    return { level: 'error', message: { text: escapeMessage(words) }, locations };
  });
  const rest = { level: 'warning', message: { text: `${omitted} more results are left out` } };
  const started = header?.started_at;
  return {
    executionSuccessful: report.status !== 'error',
    ...(started !== undefined && {
      startTimeUtc: started,
      endTimeUtc: new Date(Date.parse(started) + report.duration_ms).toISOString(),
    }),
    toolExecutionNotifications: omitted > 0 ? [...notes, rest] : notes,
  };
}

/** In a SARIF message, single braces are placeholders (§3.11.5) and `[a](b)` is a link (§3.11.6). */
function escapeMessage(text: string): string {
  return text.replaceAll(/[{}]/g, '$&$&').replaceAll('](', '] (');
}

/**
 * Writes pull request annotations as GitHub workflow commands
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions). Limits each kind to GitHub's
 * maximum per step. With several suites, suites without a report come first, then missed gates.
 */
const openGithub = writesAtEnd((report, { isSeveral }) => {
  const ofSuites = report.outcomes.flatMap((outcome) =>
    'report' in outcome ? commandsOf(outcome.report, outcome.file) : [],
  );
  if (!isSeveral) return ofSuites.map(toLine).join('');
  const faults = outcomeRows(report).flatMap(({ suite, file, fault }): WorkflowCommand[] =>
    fault === undefined
      ? []
      : [{ name: 'error', file, line: 1, title: `${suite} could not be run`, message: fault }],
  );
  const weightOf = ({ title }: WorkflowCommand) => (title.endsWith(' did not pass') ? 1 : 0);
  const sorted = [...faults, ...ofSuites.toSorted((one, other) => weightOf(one) - weightOf(other))];
  const kinds = (['error', 'warning', 'notice'] as const).map((name) =>
    sorted.filter((command) => command.name === name).slice(0, mostAnnotations),
  );
  return kinds.flat().map(toLine).join('');
});

/** GitHub shows this many annotations of each kind per step. */
const mostAnnotations = 10;

interface WorkflowCommand {
  readonly name: 'error' | 'warning' | 'notice';
  readonly file: string;
  readonly line: number;
  readonly title: string;
  readonly message: string;
}

/**
 * In order: run faults, missed gates, failures (warnings if the gates passed), invalid rows, and a notice with the
 * summary.
 */
function commandsOf(report: SuiteReport, file: string): readonly WorkflowCommand[] {
  const { suite, status, failures } = report;
  const { counts, gates, voids, badRows } = documentOf(report);
  const problem = (name: 'error' | 'warning', title: string) => (each: RowProblem) => {
    const { file, line, message, hint } = each;
    return { name, file, line, title, message: hint === undefined ? message : `${message} (${hint})` };
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
    ...[...voids.map(problem('error', 'the run is invalid')), ...missed, ...failed].slice(0, mostAnnotations),
    ...badRows.problems.map(problem('warning', 'invalid row')).slice(0, Math.max(0, mostAnnotations - taken)),
    { name: 'notice', file, line: 1, title: `${suite}: ${status}`, message: counts.join(', ') },
  ];
}

function toLine({ name, file, line, title, message }: WorkflowCommand): string {
  const path = toLocalPath(file);
  const place = path === undefined ? '' : `file=${escapeProperty(path)},line=${line},`;
  const words = path === undefined && name !== 'notice' ? `${file}:${line}: ${message}` : message;
  return `::${name} ${place}title=${escapeProperty(title)}::${escapeData(words)}\n`;
}

function escapeData(text: string): string {
  return escapeInvisible(text.replaceAll(/\r\n?/g, '\n')).replaceAll('%', '%25').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** The path relative to the current folder, with slashes. Undefined for stdin and files outside that folder. */
function toLocalPath(file: string): string | undefined {
  if (isStdin(file)) return undefined;
  const path = relative('', resolve(file));
  const isOutside = path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  return isOutside ? undefined : path.split(sep).join('/');
}

function toUri(file: string): string | undefined {
  if (isStdin(file)) return undefined;
  const path = toLocalPath(file);
  return path === undefined
    ? pathToFileURL(resolve(file)).href
    : path
        .split('/')
        .map((part) => encodeURIComponent(part.toWellFormed()))
        .join('/');
}

function isStdin(file: string): boolean {
  return file === '-' || file === '<stdin>';
}

interface ReporterEntry {
  readonly summary: string;
  readonly open: (...args: Parameters<OpenWriter>) => ReportWriter | Promise<ReportWriter>;
}

export const reporters: Readonly<Record<ReporterName, ReporterEntry>> = {
  table: { open: openTable, summary: 'scores, gates and first failures, to read on a terminal' },
  json: { open: openJson, summary: 'the result of the run, as one JSON document' },
  jsonl: { open: openJsonl, summary: 'everything, as it happens: a JSON document on each line' },
  csv: { open: openCsv, summary: 'a line for each case and eval, for spreadsheets' },
  junit: { open: openJunit, summary: 'XML for the test view of a CI server' },
  markdown: { open: openMarkdown, summary: 'a comment for a pull request, or a job summary' },
  github: { open: openGithub, summary: 'annotations of a pull request on GitHub' },
  sarif: { open: openSarif, summary: 'failures as findings, for code scanning' },
  html: {
    open: async (...args) => (await import('./html/html.ts')).openHtml(...args),
    summary: 'one page to look into every case',
  },
};

/** A reporter and its output file; without a file it writes to stdout. */
export interface ReporterSpec {
  readonly name: ReporterName;
  readonly file?: string;
}

/** Parses `name` or `name=file`; the file `-` is stdout. Throws USAGE. */
export function readReporter(text: string): ReporterSpec {
  const at = text.indexOf('=');
  const word = at === -1 ? text : text.slice(0, at);
  const name = reporterNames.find((known) => known === word);
  if (name === undefined) {
    const { hint } = suggest(word, reporterNames, 'reporters');
    throw new RuntimeError('USAGE', `there is no reporter "${word}"`, { hint });
  }
  const file = at === -1 ? '-' : text.slice(at + 1);
  if (file === '') {
    throw new RuntimeError('USAGE', `--reporter ${text} has no file name`, {
      hint: `Write ${name}=FILE, or ${name}.`,
    });
  }
  return file === '-' ? { name } : { name, file };
}

/** Combines several reporters. Call `close` or `abort` at the end. */
export interface Delivery {
  readonly reporter: Reporter;
  /** Publishes the files, or discards them if `end` was not called. Throws FILE_UNREADABLE. */
  close(): Promise<void>;
  /** Discards the files, except JSON Lines, which keeps what was written. */
  abort(): Promise<void>;
}

interface SeveralDelivery extends Omit<Delivery, 'reporter'> {
  /** Returns a reporter that combines all formats. Its write errors are also in `fault`. */
  next(suite: SuiteName): Reporter;
  /** A write error. Further suites should not run after it. */
  readonly fault: () => unknown;
  end(report: SeveralReport): Promise<void>;
}

interface DeliveryOptions {
  readonly stdout: Sink;
  /** Files that no report may overwrite: the suite, its config and its dataset. */
  readonly inputs?: readonly InputFile[];
}

/**
 * Opens reporters, which are called one at a time in this order. Throws FILE_UNREADABLE. Throws USAGE if two share an
 * output or one would overwrite an input.
 */
export async function openDelivery(
  specs: readonly ReporterSpec[],
  options: DeliveryOptions,
): Promise<Delivery> {
  const { nextOfEach, finish, close, abort } = await openWriters(specs, { ...options, isSeveral: false });
  const own = nextOfEach({ suite: '', file: '' });
  const all = asOne(own);
  let file = '';
  return {
    reporter: {
      ...all,
      begin(header) {
        file = header.file;
        return all.begin(header);
      },
      end: (report) => finish(ofOne(report, file), own),
    },
    close,
    abort,
  };
}

/** Like `openDelivery`, for several suites. Also throws USAGE if a format with pages has no file. */
export async function openSeveralDelivery(
  specs: readonly ReporterSpec[],
  options: DeliveryOptions,
): Promise<SeveralDelivery> {
  const { nextOfEach, finish, ...rest } = await openWriters(specs, { ...options, isSeveral: true });
  let fault: unknown;
  return {
    fault: () => fault,
    next: (suite) => {
      return asOne(nextOfEach(suite), (thrown) => {
        fault = thrown;
      });
    },
    end: (report) => finish(report, []),
    ...rest,
  };
}

function asOne(reporters: readonly Reporter[], onFault: (thrown: unknown) => void = () => {}): Reporter {
  const forEach = async (call: (reporter: Reporter) => Promise<void> | undefined): Promise<void> => {
    try {
      for (const each of reporters) await call(each);
    } catch (thrown) {
      onFault(thrown);
      throw thrown;
    }
  };
  return {
    readsCases: reporters.some((each) => each.readsCases !== false),
    begin: (header) => forEach((each) => each.begin(header)),
    onCase: (record) => forEach((each) => each.onCase(record)),
    onProblem: (problem) => forEach((each) => each.onProblem(problem)),
    onRating: (rating) => forEach((each) => each.onRating?.(rating)),
    end: (report) => forEach((each) => each.end(report)),
  };
}

async function openWriters(
  specs: readonly ReporterSpec[],
  { stdout, inputs = [], isSeveral }: DeliveryOptions & { readonly isSeveral: boolean },
) {
  const outputs = specs.map(({ file }) => (file === undefined ? 'stdout' : `the file ${resolve(file)}`));
  const twice = outputs.find((place, index) => outputs.indexOf(place) !== index);
  if (twice !== undefined) {
    const hint = 'Give each a file of its own: --reporter NAME=FILE.';
    throw new RuntimeError('USAGE', `two reporters write to ${twice}`, { hint });
  }
  if (isSeveral && specs.some(({ name, file }) => name === 'html' && file === undefined)) {
    const message = 'with several suites, the html reporter needs a file';
    const hint = 'Write --reporter html=FILE: FILE lists the suites, with a page for each next to it.';
    throw new RuntimeError('USAGE', message, { hint });
  }
  refuseOverwriting(
    specs.flatMap(({ file }) => file ?? []),
    inputs,
  );
  const open: { readonly writer: ReportWriter; readonly file: FileSink | undefined }[] = [];
  let hasEnded = false;
  const closeWriters = (): FileSink[] =>
    open.splice(0).flatMap(({ writer, file }) => {
      writer.close?.();
      return [...(writer.pages?.() ?? []), ...(file === undefined ? [] : [file])];
    });
  const abort = async (): Promise<void> => {
    await Promise.allSettled(closeWriters().map((each) => each.discard()));
  };
  try {
    for (const { name, file: path } of specs) {
      const file = path === undefined ? undefined : await openFileSink(path, { grows: name === 'jsonl' });
      const writer = await reporters[name].open(file ?? stdout, { isSeveral, file: path });
      open.push({ writer, file });
    }
  } catch (thrown) {
    await abort();
    throw thrown;
  }
  return {
    nextOfEach: (suite: SuiteName): Reporter[] => open.map(({ writer }) => writer.next(suite)),
    /**
     * Files are finished first, so that a write error appears before stdout reports the end. `own` are the reporters if
     * there is only one run.
     */
    async finish(report: SeveralReport, own: readonly Reporter[]): Promise<void> {
      const parts = open.map((part, index) => ({ ...part, reporter: own[index] }));
      for (const { writer, file, reporter } of parts.toSorted((a, b) => Number(!a.file) - Number(!b.file))) {
        for (const outcome of report.outcomes) {
          if ('report' in outcome) await reporter?.end(outcome.report);
        }
        await writer.end(report);
        await file?.flush();
      }
      hasEnded = true;
    },
    async close(): Promise<void> {
      if (!hasEnded) return await abort();
      const failed: unknown[] = [];
      for (const each of closeWriters()) await each.publish().catch((thrown) => failed.push(thrown));
      if (failed.length > 0) throw failed[0];
    },
    abort,
  };
}
