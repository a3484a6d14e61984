import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { escapeInvisible } from '../../../src/base/text/escape-invisible.ts';
import { textWidth } from '../../../src/base/text/width.ts';
import type { CaseRecord } from '../../../src/suites/record.ts';
import { reporters } from '../../../src/suites/report/delivery.ts';
import { renderMarkdown } from '../../../src/suites/report/markdown.ts';
import { openRunFile } from '../../../src/suites/report/run-file.ts';
import { renderTable } from '../../../src/suites/report/terminal/table.ts';
import { caseOf, evalResultOf, evalStatsOf, reportOf, stats, written } from './reports.ts';

// The syntax of each format, and other text.
const pieces = [
  ...['<', '>', '&', '"', "'", ']]>', '<!--', '&#0;', '\u0000', '\u0008', '\u001B[2J', '\u0085', '\uFFFE'],
  ...[
    '\uD800',
    '\uDC00',
    '😀',
    '\r',
    '\n',
    '\r\n',
    '\t',
    '\u2028',
    ',',
    ';',
    '""',
    '=1+1',
    '+',
    '-',
    '@octocat',
  ],
  ...[
    '|',
    '\\',
    '\\|',
    '`',
    '``',
    '</details>',
    '[a](http://b)',
    '{',
    '{0}',
    '::error::x',
    '%0A',
    ':',
    '漢字',
    ' ',
  ],
];
const hostile = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

function recordOf(text: string): CaseRecord {
  const result = evalResultOf({ score: 0, passed: false, detail: text });
  return caseOf([result], { id: text, file: `${text}.jsonl`, tags: [text], row: { [text]: text } });
}

const write = (open: Parameters<typeof written>[0], texts: readonly string[]) =>
  written(open, { records: texts.map(recordOf) });

test('any text can be read back from CSV', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 5 }), async (texts) => {
      const rows: { case: string; detail: string; content: string }[] = parse(
        await write(reporters.csv.open, texts),
        {
          columns: true,
        },
      );
      // A file cannot hold a lone surrogate.
      const writable = texts.map((text) => text.toWellFormed());
      expect(rows.map((row) => restore(row.case))).toEqual(writable);
      expect(rows.map((row) => restore(row.detail))).toEqual(writable);
      const [first = ''] = writable;
      expect(restore(Object(rows[0])[`row.${first}`])).toBe(first);
      expect(rows.filter((row) => /^[=+\-@\t\r\n]/.test(row.case))).toEqual([]);
    }),
  );
});

/** Removes the apostrophe that stops a spreadsheet from running the cell. */
function restore(cell: string): string {
  return /^'+[=+\-@\t\r\n＝＋－＠]/.test(cell) ? cell.slice(1) : cell;
}

test('any text can be read back from JSON Lines', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'hostile-')), 'run.jsonl');
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { maxLength: 5 }), async (texts) => {
      writeFileSync(file, await write(reporters.jsonl.open, texts));
      const run = await openRunFile(file);
      expect(await Array.fromAsync(run.cases())).toEqual(texts.map(recordOf));
    }),
    { numRuns: 50 },
  );
});

test('any text can be read back from JUnit, except what XML cannot hold and invisible characters in names', async () => {
  const texts = [...pieces, ...fc.sample(hostile, { numRuns: 500, seed: 7 })];
  const { errors, normalized } = await validateXML({
    xml: await write(reporters.junit.open, texts),
    normalization: 'c14n',
  });
  expect(errors).toEqual([]);
  const cases = [...normalized.matchAll(testcase)];
  const possible = texts.map((text) => replaceImpossible(text));
  const named = texts.map((text) => replaceImpossible(escapeInvisible(text)));
  expect(cases.map(([, name = '']) => decode(name))).toEqual(named);
  expect(cases.map(([, , detail = '']) => decode(detail))).toEqual(possible);
});

/** Canonical XML sorts attributes. */
const testcase =
  /<testcase classname="[^"]*" name="([^"]*)" time="[^"]*"><failure message="[^"]*" type="[^"]*">([^<]*)<\/failure>/g;

/** https://www.w3.org/TR/xml/#charsets */
function replaceImpossible(text: string): string {
  return [...text]
    .map((character) => {
      const code = character.codePointAt(0) ?? 0;
      const isControl = code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d;
      const isSurrogate = code >= 0xd800 && code <= 0xdfff;
      return isControl || isSurrogate || code === 0xfffe || code === 0xffff ? '\uFFFD' : character;
    })
    .join('');
}

/** The entities of canonical XML. */
function decode(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x9;', '\t')
    .replaceAll('&#xA;', '\n')
    .replaceAll('&#xD;', '\r')
    .replaceAll('&amp;', '&');
}

test('no text adds a cell, a line or markup to Markdown', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const lines = renderMarkdown(
        reportOf({
          suite: text,
          evals: { [`e${text}`]: evalStatsOf({ tags: { [`t${text}`]: stats } }) },
          gates: [{ eval: text, metric: text, tag: text, value: 1, min: 1, max: null, passed: true }],
          failures: [{ case: text, file: text, line: 1, eval: text, score: 0, detail: text }],
          failure_count: 1,
        }),
      ).split('\n');
      expect(lines).toHaveLength(20);
      expect(lines.filter((line) => line.startsWith('|')).map(countCells)).toEqual([
        5, 5, 5, 10, 10, 10, 10, 10,
      ]);
      expect(lines.map(dropCode).join('\n')).not.toMatch(/[@[\]{}#]|<(?!\/?details>|\/?summary>)(?!\/)/);
    }),
  );
});

/** A pipe after a backslash is not a border, whatever precedes the backslash. */
function countCells(line: string): number {
  return line.split(/(?<!\\)\|/).length - 2;
}

/** A code span ends at as many backticks as it began with. */
function dropCode(line: string): string {
  return line.replace(/^###/, '').replaceAll(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
}

test('no text adds a workflow command', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      const failure = { case: text, file: text, line: 1, eval: text, score: 0, detail: text };
      const report = reportOf({ suite: text, status: 'failed', failures: [failure], failure_count: 1 });
      const lines = (await written(reporters.github.open, { report })).split(/\r\n|\r|\n/);
      expect(lines.map((line) => line.split('::')[1]?.split(' ')[0])).toEqual(['error', 'notice', undefined]);
    }),
  );
});

test('no text makes a line of the table wider than the terminal', () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 20, max: 120 }), (text, columns) => {
      const report = reportOf({
        suite: text,
        evals: { [text]: evalStatsOf({ tags: { [text]: stats } }) },
        gates: [{ eval: text, metric: 'mean', tag: text, value: 1, min: 1, max: null, passed: true }],
        failures: [{ case: text, file: text, line: 1, eval: text, score: 0, detail: text }],
        failure_count: 1,
      });
      const lines = renderTable(report, false, columns).split('\n');
      expect(lines.filter((line) => textWidth(line) > columns)).toEqual([]);
      expect(lines).toHaveLength(14);
    }),
  );
});
