import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { escapeInvisible, escapeInvisibleLine as oneLine } from '../../base/text/escape-invisible.ts';
import { cut } from '../../base/text/width.ts';
import type { CaseRecord, EvalHeader, RowProblem, RunHeader, SuiteReport } from '../record.ts';
import { resultsOf } from '../stats/epoch-reduction.ts';
import { classifyResult, durationMsOf, failuresOf, type RoleOf, roleLookup } from './case-failures.ts';
import { documentOf, outcomeRows } from './document.ts';
import { openFileSink } from './file-sink.ts';
import type { OpenWriter, Sink } from './reporter.ts';
import { describeScore, nameCase } from './wording.ts';

/**
 * Writes JUnit XML for CI servers: one `testsuite` per eval with one `testcase` per case. Gates, case thresholds,
 * invalid rows and run faults have suites of their own. A fault is an error, an abstention is skipped, and metrics
 * never fail.
 */
export const openJunit: OpenWriter = (sink, { isSeveral }) => {
  const suites = newJunitSuites();
  return {
    next({ suite }) {
      let header: RunHeader | undefined;
      let roleOf = roleLookup({ evals: [] });
      // A leading space separates our names from eval ids.
      const open = (name: string) =>
        suites.open(JSON.stringify([suite, name]), `${isSeveral ? `${suite}.` : ''}${name.trimStart()}`);
      return {
        async begin(run) {
          header = run;
          roleOf = roleLookup(run);
          for (const variant of variantsOf(run))
            for (const { id } of run.evals) open(nameCase({ id, variant }));
        },
        async onCase(record) {
          if (header === undefined) return;
          const { evals } = header;
          const { id: name, variant } = record;
          // For example `support.exact`, or `support.small.exact` in a matrix.
          const about = (kind: string) => ({
            name,
            classname: [header?.suite, ...(variant === undefined ? [] : [variant]), kind].join('.'),
          });
          for (const entry of evals)
            open(nameCase({ id: entry.id, variant })).add({
              ...about(entry.id),
              ...judge(record, entry, roleOf),
            });
          const own = failuresOf(record, roleOf).find(({ eval: id }) =>
            evals.every((each) => each.id !== id),
          );
          if (own === undefined) return;
          const fault = { message: toMessage(describeScore(own)), type: 'case', detail: own.detail };
          open(' cases').add({ ...about('cases'), ms: 0, kind: 'failure', ...fault });
        },
        async onProblem({ file, line, variant, message, hint }) {
          const name = nameCase({ id: `${file}:${line}`, variant });
          const about = { name, classname: `${header?.suite ?? ''}.dataset`, ms: 0 };
          const fault = { message: toMessage(message), type: 'row', detail: hint };
          open(' dataset').add({ ...about, kind: 'error', ...fault });
        },
        async end(report) {
          const { voids, gates } = documentOf(report);
          for (const problem of voids) open(' run').add(toVoidCase(problem, report.suite));
          for (const { gate, name, words } of gates) {
            const about = { name, classname: `${report.suite}.gates`, ms: 0 };
            open(' gates').add(
              gate.passed
                ? { ...about, kind: 'passed' }
                : { ...about, kind: 'failure', message: words, type: 'gate' },
            );
          }
          if (header === undefined) return;
          for (const variant of variantsOf(header))
            for (const entry of header.evals)
              open(nameCase({ id: entry.id, variant })).properties = propertiesOf(entry, variant, report);
        },
      };
    },
    async end(report) {
      for (const { suite, file, fault, hint } of outcomeRows(report)) {
        if (fault === undefined) continue;
        const name = `${suite}.suite`;
        const error = { message: oneLine(fault), type: 'suite', detail: hint };
        suites.open(name).add({ name: file, classname: name, ms: 0, kind: 'error', ...error });
      }
      const name = isSeveral ? 'signalbox' : (report.outcomes[0]?.suite ?? '');
      await suites.write(sink, { name, ms: report.durationMs });
    },
    close: () => suites.close(),
  };
};

function variantsOf({ variants }: RunHeader): readonly (string | undefined)[] {
  return variants === undefined ? [undefined] : variants.map(({ name }) => name);
}

function judge(
  record: CaseRecord,
  { id, role }: EvalHeader,
  roleOf: RoleOf,
): Omit<TestCase, 'name' | 'classname'> {
  const result = record.results.find(({ eval: evalId }) => evalId === id);
  if (result === undefined) return { ms: 0, kind: 'skipped', message: 'not judged: its condition is false' };
  const { file, line, tags, epochs } = record;
  const lines = [
    `row: ${file}:${line}`,
    `score: ${result.score ?? 'none'}`,
    ...(tags.length === 0 ? [] : [`tags: ${tags.join(', ')}`]),
    ...(epochs.length === 1 ? [] : [`epochs: ${result.passed_epochs} of ${epochs.length} passed`]),
  ];
  const about = { ms: durationMsOf(record, id), output: lines.join('\n') };
  const message = toMessage(describeScore(result));
  const meaning = classifyResult(record, result, roleOf);
  // An abstention is neither a fault nor a failure.
  const isAbstention =
    result.score === null && !result.fault && resultsOf(record, id).every(({ error }) => error === undefined);
  if (meaning === 'good' || isAbstention)
    return result.score === null ? { ...about, kind: 'skipped', message } : { ...about, kind: 'passed' };
  const kind = meaning === 'failed' ? 'failure' : 'error';
  return { ...about, kind, message, type: role, detail: result.detail };
}

function toMessage(words: string): string {
  return cut(oneLine(words), 300);
}

function toVoidCase({ file, line, message, hint }: RowProblem, suite: string): TestCase {
  return {
    ...{ name: 'the run', classname: `${suite}.run`, ms: 0, kind: 'error', type: 'run' },
    message: toMessage(`the run is invalid: ${message}`),
    detail: [`${file}:${line}`, ...(hint === undefined ? [] : [hint])].join('\n'),
  };
}

function propertiesOf(
  { id, type, role, weight, reducer }: EvalHeader,
  variant: string | undefined,
  report: SuiteReport,
): Properties {
  const own = variant === undefined ? report : report.variants?.find(({ name }) => name === variant);
  const stats = own?.evals[id];
  if (stats === undefined) return {};
  const { pass_rate, mean, flaky } = stats;
  return {
    run_id: report.run_id,
    ...(variant === undefined ? {} : { variant }),
    ...{ type, role, weight, reducer, epochs: report.epochs, pass_rate, mean, flaky },
  };
}

type Properties = Readonly<Record<string, unknown>>;

export interface TestCase {
  readonly name: string;
  readonly classname: string;
  readonly ms: number;
  readonly kind: 'passed' | 'failure' | 'error' | 'skipped';
  readonly message?: string;
  readonly type?: string;
  readonly detail?: string | undefined;
  /** The schema of CI servers allows no properties in a `testcase`, so they go into its output. */
  readonly output?: string;
}

interface JunitSuite {
  properties: Properties;
  add(testcase: TestCase): void;
}

/** The suites of one document. Cases are spooled, because the counts precede them. */
interface JunitSuites {
  /** Creates the suite on the first call for a key. */
  open(key: string, name?: string): JunitSuite;
  write(sink: Pick<Sink, 'write'>, whole: { readonly name: string; readonly ms: number }): Promise<void>;
  close(): void;
}

function newJunitSuites(): JunitSuites {
  const suites = new Map<string, ReturnType<typeof newSuite>>();
  return {
    open(key, name = key) {
      const suite = suites.get(key) ?? newSuite(name);
      suites.set(key, suite);
      return suite;
    },
    async write(sink, { name, ms }) {
      const sum = (key: 'tests' | 'failures' | 'errors') =>
        suites.values().reduce((total, { counts }) => total + counts[key], 0);
      const all = { tests: sum('tests'), failures: sum('failures'), errors: sum('errors') };
      await sink.write(`<?xml version="1.0" encoding="UTF-8"?>\n`);
      await sink.write(startTag('testsuites', { name: escapeInvisible(name), ...all, time: toSeconds(ms) }));
      for (const { name, counts, spool, properties } of suites.values()) {
        const { ms, ...numbers } = counts;
        await sink.write(
          startTag('testsuite', { name: escapeInvisible(name), ...numbers, time: toSeconds(ms) }),
        );
        const elements = Object.entries(properties).map(([name, value]) =>
          toElement('property', { name, value: String(value ?? 'none') }),
        );
        if (elements.length > 0) await sink.write(`${toElement('properties', {}, elements.join(''))}\n`);
        for (const text of spool.parts()) await sink.write(text);
        await sink.write('</testsuite>\n');
      }
      await sink.write('</testsuites>\n');
    },
    close() {
      for (const { spool } of suites.values()) spool.close();
    },
  };
}

/** Writes a document of JUnit to a file in one step. Throws FILE_UNREADABLE. */
export async function writeJunitFile(
  file: string,
  whole: { readonly name: string; readonly ms: number },
  fill: (suites: JunitSuites) => void,
): Promise<void> {
  const suites = newJunitSuites();
  const sink = await openFileSink(file, { grows: false });
  try {
    fill(suites);
    await suites.write(sink, whole);
    await sink.publish();
  } catch (thrown) {
    await sink.discard().catch(() => {});
    throw thrown;
  } finally {
    suites.close();
  }
}

function newSuite(name: string) {
  const counts = { tests: 0, failures: 0, errors: 0, skipped: 0, ms: 0 };
  const spool = newSpool();
  const properties: Properties = {};
  return {
    ...{ name, counts, spool, properties },
    add({ name: title, classname, ms, kind, message = '', type, detail = '', output = '' }: TestCase) {
      counts.tests += 1;
      counts.ms += ms;
      if (kind === 'failure') counts.failures += 1;
      if (kind === 'error') counts.errors += 1;
      if (kind === 'skipped') counts.skipped += 1;
      // Some schemas lack `message` for skipped cases, but all allow text.
      const skipped = kind === 'skipped' ? toElement('skipped', {}, escapeText(message)) : '';
      const isBad = kind === 'failure' || kind === 'error';
      const bad = isBad ? toElement(kind, { message, type }, escapeText(detail)) : '';
      const out = output === '' ? '' : toElement('system-out', {}, escapeText(output));
      const names = { name: escapeInvisible(title), classname: escapeInvisible(classname) };
      spool.write(`${toElement('testcase', { ...names, time: toSeconds(ms) }, skipped + bad + out)}\n`);
    },
  };
}

function toSeconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

function startTag(name: string, attributes: Attributes): string {
  return `${toElement(name, attributes).slice(0, -2)}>\n`;
}

function toElement(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => (value === undefined ? '' : ` ${key}="${escapeAttribute(String(value))}"`))
    .join('');
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** Replaces characters that XML 1.0 forbids with U+FFFD (https://www.w3.org/TR/xml/#charsets). */
function escapeText(text: string): string {
  return text
    .replaceAll(illegal, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');
}

function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
}

const illegal = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

interface Spool {
  /** Throws FILE_UNREADABLE. */
  write(text: string): void;
  parts(): Iterable<string>;
  close(): void;
}

/** `memory` is the number of characters held in memory. */
export function newSpool(memory = 256 * 1024): Spool {
  let text = '';
  let file: number | undefined;
  return {
    write(more) {
      text += more;
      if (text.length <= memory) return;
      const bytes = Buffer.from(text);
      text = '';
      try {
        file ??= openUnlinkedFile();
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        const message = `a temporary file in ${tmpdir()} cannot be written: ${reason}`;
        const hint = 'Free some disk space there, or set TMPDIR to another folder.';
        throw new RuntimeError('FILE_UNREADABLE', message, { hint, cause });
      }
    },
    *parts() {
      const decoder = new TextDecoder();
      const buffer = Buffer.alloc(64 * 1024);
      for (let at = 0, count = 0; file !== undefined; at += count) {
        count = readSync(file, buffer, 0, buffer.length, at);
        if (count === 0) break;
        yield decoder.decode(buffer.subarray(0, count), { stream: true });
      }
      if (text !== '') yield text;
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
      text = '';
    },
  };
}

/** Unlinks the file at once, so that it disappears however the process ends. */
function openUnlinkedFile(): number {
  const name = join(tmpdir(), `signalbox-${randomUUID()}`);
  const file = openSync(name, 'wx+', 0o600);
  unlinkSync(name);
  return file;
}
