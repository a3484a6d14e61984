import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import type { SuiteReport } from '../record.ts';
import type { Sink } from './reporter.ts';

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

/** The test suites of one document. Cases are spooled, since the counts stand before them in the document. */
export interface JunitSuites {
  /** Returns the suite of that key; makes it on the first call. */
  open(key: string, name?: string): JunitSuite;
  /** Writes the document; `propertiesOf` is called with the key of each suite. */
  write(
    sink: Pick<Sink, 'write'>,
    report: Pick<SuiteReport, 'suite' | 'duration_ms'>,
    propertiesOf: (key: string) => Readonly<Record<string, unknown>>,
  ): Promise<void>;
  close(): void;
}

export function newJunitSuites(): JunitSuites {
  const suites = new Map<string, SuiteBuffer>();
  return {
    open(key, name = key) {
      const suite = suites.get(key) ?? newSuiteBuffer(name);
      suites.set(key, suite);
      return suite;
    },
    async write(sink, { suite, duration_ms }, propertiesOf) {
      const all = sumCounts([...suites.values()], duration_ms);
      await sink.write(`<?xml version="1.0" encoding="UTF-8"?>\n`);
      await sink.write(startTag('testsuites', { name: escapeInvisible(suite), ...all }));
      for (const [key, { name, counts, spool }] of suites) {
        const { tests, failures, errors, skipped, ms } = counts;
        const attributes = { tests, failures, errors, skipped, time: toSeconds(ms) };
        await sink.write(startTag('testsuite', { name: escapeInvisible(name), ...attributes }));
        await sink.write(writeProperties(propertiesOf(key)));
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

interface Counts {
  tests: number;
  failures: number;
  errors: number;
  skipped: number;
  ms: number;
}

interface SuiteBuffer extends JunitSuite {
  readonly name: string;
  readonly counts: Counts;
  readonly spool: Spool;
}

function newSuiteBuffer(name: string): SuiteBuffer {
  const counts: Counts = { tests: 0, failures: 0, errors: 0, skipped: 0, ms: 0 };
  const spool = newSpool();
  return {
    name,
    counts,
    spool,
    add({ name: title, classname, ms, kind, content }) {
      counts.tests += 1;
      counts.ms += ms;
      if (kind === 'failure') counts.failures += 1;
      if (kind === 'error') counts.errors += 1;
      if (kind === 'skipped') counts.skipped += 1;
      spool.write(
        `${toElement('testcase', { name: escapeInvisible(title), classname: escapeInvisible(classname), time: toSeconds(ms) }, content)}\n`,
      );
    },
  };
}

type Attributes = Readonly<Record<string, string | number>>;

function sumCounts(suites: readonly SuiteBuffer[], ms: number): Attributes {
  const sum = (key: keyof Counts): number => suites.reduce((total, { counts }) => total + counts[key], 0);
  return { tests: sum('tests'), failures: sum('failures'), errors: sum('errors'), time: toSeconds(ms) };
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

/** One XML element; attributes that are undefined are left out. `content` is XML already. */
export function toElement(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  content = '',
): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => (value === undefined ? '' : ` ${key}="${escapeAttribute(String(value))}"`))
    .join('');
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** Text as the content of an element; what XML 1.0 cannot hold becomes U+FFFD (https://www.w3.org/TR/xml/#charsets). */
export function escapeText(text: string): string {
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

/** A buffer for text that is written later: in memory while it is short, then in a temporary file. */
export interface Spool {
  /** Throws FILE_UNREADABLE. */
  write(text: string): void;
  /** What was written, in parts. */
  parts(): Iterable<string>;
  /** Closes the file; no method may be called after it. */
  close(): void;
}

/** `memory` is how many characters are kept in memory. */
export function newSpool(memory = 256 * 1024): Spool {
  let text = '';
  let file: number | undefined;
  return {
    write(more) {
      text += more;
      if (text.length <= memory) return;
      file ??= openUnlinkedFile();
      writeAll(file, Buffer.from(text));
      text = '';
    },
    *parts() {
      if (file !== undefined) yield* readParts(file);
      if (text !== '') yield text;
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
      text = '';
    },
  };
}

/** Opens a temporary file and unlinks it at once, so that it is gone however this process ends. */
function openUnlinkedFile(): number {
  const name = join(tmpdir(), `signalbox-${randomUUID()}`);
  try {
    const file = openSync(name, 'wx+', 0o600);
    unlinkSync(name);
    return file;
  } catch (cause) {
    throw temporaryFileError(cause);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  } catch (cause) {
    throw temporaryFileError(cause);
  }
}

function temporaryFileError(cause: unknown): RuntimeError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RuntimeError('FILE_UNREADABLE', `a temporary file in ${tmpdir()} cannot be written: ${reason}`, {
    hint: 'Make room there, or set TMPDIR to another folder.',
    cause,
  });
}

function* readParts(file: number): Generator<string> {
  const decoder = new TextDecoder();
  const buffer = Buffer.alloc(64 * 1024);
  for (let at = 0; ; ) {
    const count = readSync(file, buffer, 0, buffer.length, at);
    if (count === 0) break;
    at += count;
    yield decoder.decode(buffer.subarray(0, count), { stream: true });
  }
}
