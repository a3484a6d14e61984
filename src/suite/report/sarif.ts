import { createHash } from 'node:crypto';
import type { EvalHeader, Failure, RowProblem, RunHeader, SuiteReport } from '../run/record.ts';
import { toUri } from './location.ts';
import { failuresOf, openRoles, type RoleOf } from './outcome.ts';
import type { OpenReporter, Reporter, Sink } from './reporter.ts';
import { describeFailure } from './wording.ts';

/**
 * Assertions and guardrails that did not pass, as results of a static analysis: SARIF 2.1.0
 * (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), for code scanning.
 */
export const openSarif: OpenReporter = (sink) => openSarifUpTo(sink, mostResults);

/** As many as GitHub takes of one run. */
const mostResults = 25_000;

/** The same with another number of results. */
export function openSarifUpTo(sink: Sink, most: number): Reporter {
  let roleOf: RoleOf = openRoles({ evals: [] });
  let header: RunHeader | undefined;
  let count = 0;
  return {
    async begin(run) {
      header = run;
      roleOf = openRoles(run);
      await sink.write(`{"version":"2.1.0","$schema":${JSON.stringify(schema)},"runs":[{`);
      await sink.write(`"tool":${JSON.stringify(toTool(run))},`);
      await sink.write(
        `"automationDetails":${JSON.stringify({ id: `${run.suite}/${run.run_id}` })},"results":[`,
      );
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
      await sink.write(`\n],"invocations":[${invocation}],"columnKind":"utf16CodeUnits"}]}\n`);
    },
  };
}

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

function toTool(header: RunHeader): object {
  return { driver: { name: 'signalbox', rules: rulesOf(header).map(toRule) } };
}

function rulesOf({ evals }: RunHeader): EvalHeader[] {
  return evals.filter(({ role }) => role !== 'metric');
}

function toRule({ id, type, role }: EvalHeader): object {
  const text = escapeMessage(`The ${role} ${id} (${type}) must pass`);
  return { id, name: type, shortDescription: { text }, defaultConfiguration: { level: 'error' } };
}

function toResult(failure: Failure, tags: readonly string[], header: RunHeader): object {
  const { eval: evalId, case: id } = failure;
  const ruleIndex = rulesOf(header).findIndex((rule) => rule.id === evalId);
  return {
    ruleId: evalId,
    ...(ruleIndex === -1 ? {} : { ruleIndex }),
    level: 'error',
    message: { text: escapeMessage(describeFailure(failure)) },
    locations: [toLocation(failure, header)],
    partialFingerprints: { 'signalboxCase/v1': fingerprint([header.suite, evalId, id]) },
    properties: { tags: [...new Set(tags)], case: id, score: failure.score },
  };
}

/** Rows from stdin stand in no file; the suite is what a reader can open. */
function toLocation(place: Pick<RowProblem, 'file' | 'line'>, header: RunHeader | undefined): object {
  const own = toUri(place.file);
  const uri = own ?? toUri(header?.file ?? '') ?? '';
  const region = { startLine: own === undefined ? 1 : place.line };
  return { physicalLocation: { artifactLocation: { uri }, region } };
}

/** The same case and eval in every run, wherever the row has moved. */
function fingerprint(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function toInvocation(report: SuiteReport, header: RunHeader | undefined, left: number): object {
  const notes = report.problems.map(({ scope, file, line, message, hint = '' }) => ({
    level: 'error',
    message: {
      text: escapeMessage(
        `${scope === 'run' ? 'the run is void: ' : ''}${file}:${line}: ${message}${hint === '' ? '' : ` (${hint})`}`,
      ),
    },
    locations: [toLocation({ file, line }, header)],
  }));
  const rest = { level: 'warning', message: { text: `${left} more results are left out` } };
  const started = header?.started_at;
  return {
    executionSuccessful: report.status !== 'error',
    ...(started === undefined
      ? {}
      : { startTimeUtc: started, endTimeUtc: after(started, report.duration_ms) }),
    toolExecutionNotifications: left > 0 ? [...notes, rest] : notes,
  };
}

function after(started: string, ms: number): string {
  return new Date(Date.parse(started) + ms).toISOString();
}

/** In a message, braces are placeholders unless they are doubled (§3.11.5), and `[a](b)` is a link (§3.11.6). */
function escapeMessage(text: string): string {
  return text.replaceAll(/[{}]/g, '$&$&').replaceAll('](', '] (');
}
