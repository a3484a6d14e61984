import { createWriteStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { runJson, suite, workspace } from './command-line.ts';

const total = Number(process.env['SUITE_CASES'] ?? 100_000);

/** Rows of 600 bytes. An array of them, or of their results, would not fit into the heap. */
function* generateRows(): Generator<string> {
  const filler = 'words '.repeat(80);
  for (let index = 0; index < total; index++) {
    const word = index % 7 === 0 ? 'nowhere' : `row ${index}`;
    yield `${JSON.stringify({ id: `case-${index}`, text: `row ${index} ${filler}`, word, group: `g${index % 500}` })}\n`;
  }
}

const spec = `runtime: ./runtime.yaml
dataset: {path: rows.jsonl}
case: {id: "\${case.id}", content: "\${case.text}", tags: ["\${case.group}"]}
evals: [{id: word, type: contains, params: {patterns: ["\${case.word}"]}}]
gates: [{eval: word, metric: unscored, max: 0}]
`;

/** In megabytes; live data stays below 30. */
const heapMb = 64;

test(`${total} cases run, are stored and written in every format within a heap of 64 MB`, async () => {
  const folder = workspace('', { 'large.suite.yaml': suite(spec) });
  await pipeline(Readable.from(generateRows()), createWriteStream(join(folder, 'rows.jsonl')));
  expect(statSync(join(folder, 'rows.jsonl')).size).toBeGreaterThan(total * 500);
  const place = {
    cwd: folder,
    binary: true,
    env: { NODE_OPTIONS: `--max-old-space-size=${heapMb}` },
  } as const;
  const files = [
    'jsonl=r.jsonl',
    'csv=r.csv',
    'junit=r.xml',
    'html=r.html',
    'markdown=r.md',
    'sarif=r.sarif',
  ];
  const reporters = files.flatMap((name) => ['--reporter', name]);
  const { document } = await runJson(['eval', 'run', 'large.suite.yaml', '--quiet', ...reporters], place);
  const passed = total - Math.ceil(total / 7);
  expect(document).toMatchObject({
    status: 'passed',
    cases: total,
    evals: { word: { passed, unscored: 0 } },
  });
  expect(countLines(join(folder, 'r.csv'))).toBe(total + 1);
  expect(countLines(join(folder, 'r.jsonl'))).toBe(total + 2);
}, 600_000);

function countLines(file: string): number {
  let lines = 0;
  for (const byte of readFileSync(file)) if (byte === 0x0a) lines += 1;
  return lines;
}
