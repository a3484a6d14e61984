import { escapeInvisible } from '../../../text/escape-invisible.ts';
import type { SuiteReport } from '../../run/record.ts';
import type { Sink } from '../reporter.ts';
import { newSpool, type Spool } from '../spool.ts';
import { toElement } from './xml.ts';

/** The test cases of one `testsuite`, with their counts. */
interface JunitSuite {
  add(testcase: TestCase): void;
}

export interface TestCase {
  readonly name: string;
  readonly classname: string;
  readonly ms: number;
  readonly kind: 'passed' | 'failure' | 'error' | 'skipped';
  /** XML. */
  readonly content: string;
}

/**
 * The test suites of one document. Cases are spooled, since the counts stand before them in the document.
 */
export interface JunitSuites {
  /** Returns the suite of that name; makes it on the first call. */
  open(name: string): JunitSuite;
  /** Writes the document. */
  write(
    sink: Pick<Sink, 'write'>,
    report: Pick<SuiteReport, 'suite' | 'duration_ms'>,
    propertiesOf: PropertiesOf,
  ): Promise<void>;
  /** Writes them without the element that holds them all; `prefix` stands before each name. */
  writeSuites(sink: Pick<Sink, 'write'>, prefix: string, propertiesOf: PropertiesOf): Promise<void>;
  counts(): readonly Counts[];
  close(): void;
}

/** Writes the document around what `writeSuites` writes. */
export async function writeDocument(
  sink: Pick<Sink, 'write'>,
  { suite, duration_ms, counts }: Pick<SuiteReport, 'suite' | 'duration_ms'> & { counts: readonly Counts[] },
  writeSuites: () => Promise<void>,
): Promise<void> {
  await sink.write(`<?xml version="1.0" encoding="UTF-8"?>\n`);
  await sink.write(
    startTag('testsuites', { name: escapeInvisible(suite), ...sumCounts(counts, duration_ms) }),
  );
  await writeSuites();
  await sink.write('</testsuites>\n');
}

type PropertiesOf = (name: string) => Readonly<Record<string, unknown>>;

export function newJunitSuites(): JunitSuites {
  const suites = new Map<string, SuiteBuffer>();
  const counts = () => [...suites.values()].map((suite) => suite.counts);
  const junitSuites: JunitSuites = {
    open(name) {
      const suite = suites.get(name) ?? newSuiteBuffer();
      suites.set(name, suite);
      return suite;
    },
    counts,
    async writeSuites(sink, prefix, propertiesOf) {
      for (const [name, suite] of suites) {
        const fullName = escapeInvisible(`${prefix}${name.trimStart()}`);
        await sink.write(startTag('testsuite', { name: fullName, ...toAttributes(suite.counts) }));
        await sink.write(writeProperties(propertiesOf(name)));
        for (const text of suite.spool.parts()) await sink.write(text);
        await sink.write('</testsuite>\n');
      }
    },
    write: async (sink, { suite, duration_ms }, propertiesOf) =>
      await writeDocument(sink, { suite, duration_ms, counts: counts() }, () =>
        junitSuites.writeSuites(sink, '', propertiesOf),
      ),
    close() {
      for (const { spool } of suites.values()) spool.close();
    },
  };
  return junitSuites;
}

export interface Counts {
  tests: number;
  failures: number;
  errors: number;
  skipped: number;
  ms: number;
}

interface SuiteBuffer extends JunitSuite {
  readonly counts: Counts;
  readonly spool: Spool;
}

function newSuiteBuffer(): SuiteBuffer {
  const counts: Counts = { tests: 0, failures: 0, errors: 0, skipped: 0, ms: 0 };
  const spool = newSpool();
  return {
    counts,
    spool,
    add({ name, classname, ms, kind, content }) {
      counts.tests += 1;
      counts.ms += ms;
      if (kind === 'failure') counts.failures += 1;
      if (kind === 'error') counts.errors += 1;
      if (kind === 'skipped') counts.skipped += 1;
      spool.write(
        `${toElement('testcase', { name: escapeInvisible(name), classname: escapeInvisible(classname), time: toSeconds(ms) }, content)}\n`,
      );
    },
  };
}

type Attributes = Readonly<Record<string, string | number>>;

function sumCounts(counts: readonly Counts[], ms: number): Attributes {
  const sum = (key: keyof Counts): number => counts.reduce((total, each) => total + each[key], 0);
  return { tests: sum('tests'), failures: sum('failures'), errors: sum('errors'), time: toSeconds(ms) };
}

function toAttributes({ tests, failures, errors, skipped, ms }: Counts): Attributes {
  return { tests, failures, errors, skipped, time: toSeconds(ms) };
}

function toSeconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function startTag(name: string, attributes: Attributes): string {
  return `${toElement(name, attributes).slice(0, -2)}>\n`;
}

function writeProperties(properties: Readonly<Record<string, unknown>>): string {
  const elements = Object.entries(properties).map(([name, value]) =>
    toElement('property', { name, value: String(value ?? 'none') }),
  );
  return elements.length === 0 ? '' : `${toElement('properties', {}, elements.join(''))}\n`;
}
