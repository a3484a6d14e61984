import { createHash } from 'node:crypto';
import type { EvalHeader, Failure, RowProblem, RunHeader, SuiteReport } from '../record.ts';
import { failuresOf, type RoleOf, roleLookup } from './case-failures.ts';
import { toUri } from './location.ts';
import type { ReportPlace, ReportWriter, Sink, SuiteOutcome } from './reporter.ts';
import { describeFailure } from './wording.ts';

/**
 * Assertions and guardrails that did not pass, as results of a static analysis: SARIF 2.1.0
 * (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), for code scanning. Each suite is a run of the document.
 * `most` results of a run are written, as many as GitHub accepts.
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
    async end({ outcomes }) {
      const faults = outcomes.flatMap((outcome) => ('report' in outcome ? [] : [toFaultRun(outcome)]));
      const before = begun === 0 ? sarifStart : `${unended}${faults.length === 0 ? '' : ','}`;
      await sink.write(`${before}${faults.map((run) => JSON.stringify(run)).join(',')}]}\n`);
    },
  };
};

const sarifStart = `{"version":"2.1.0","$schema":"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json","runs":[`;

/** A run without results, which says why there are none. */
function toFaultRun({ suite, error }: Extract<SuiteOutcome, { error: unknown }>): object {
  const text = escapeMessage(`[${error.code}] ${error.message}`);
  const notification = { level: 'error', message: { text } };
  return {
    tool: { driver: { name: 'signalbox' } },
    automationDetails: { id: `${suite}/` },
    results: [],
    invocations: [{ executionSuccessful: false, toolExecutionNotifications: [notification] }],
  };
}

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
  const { eval: evalId, case: id, variant } = failure;
  const ofVariant = variant === undefined ? [] : [variant];
  const ruleIndex = rulesOf(header).findIndex((rule) => rule.id === evalId);
  return {
    ruleId: evalId,
    ...(ruleIndex === -1 ? {} : { ruleIndex }),
    level: 'error',
    message: { text: escapeMessage(describeFailure(failure)) },
    locations: [toLocation(failure, header)],
    partialFingerprints: { 'signalboxCase/v1': fingerprint([header.suite, evalId, id, ...ofVariant]) },
    properties: {
      ...{ tags: [...new Set(tags)], case: id, score: failure.score },
      ...(variant === undefined ? {} : { variant }),
    },
  };
}

/** The location of a row; for rows from stdin, the first line of the suite file. */
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

function toInvocation(report: SuiteReport, header: RunHeader | undefined, omitted: number): object {
  const notes = report.problems.map(({ scope, file, line, message, hint = '' }) => ({
    level: 'error',
    message: {
      text: escapeMessage(
        `${scope === 'run' ? 'the run is void: ' : ''}${file}:${line}: ${message}${hint === '' ? '' : ` (${hint})`}`,
      ),
    },
    locations: [toLocation({ file, line }, header)],
  }));
  const rest = { level: 'warning', message: { text: `${omitted} more results are left out` } };
  const started = header?.started_at;
  return {
    executionSuccessful: report.status !== 'error',
    ...(started === undefined
      ? {}
      : { startTimeUtc: started, endTimeUtc: addMs(started, report.duration_ms) }),
    toolExecutionNotifications: omitted > 0 ? [...notes, rest] : notes,
  };
}

function addMs(started: string, ms: number): string {
  return new Date(Date.parse(started) + ms).toISOString();
}

/** In a message, braces are placeholders unless they are doubled (§3.11.5), and `[a](b)` is a link (§3.11.6). */
function escapeMessage(text: string): string {
  return text.replaceAll(/[{}]/g, '$&$&').replaceAll('](', '] (');
}
