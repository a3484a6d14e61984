import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fuzz } from './fuzz-loop.ts';
import { readRecord, withTable } from './record.ts';
import type { Target } from './target.ts';
import { targets } from './targets.ts';
import { tryInput } from './try-input.ts';

/** Inputs that once showed a defect, by target. */
const mended: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'found.json'), 'utf8'),
);

test.each(Object.entries(targets))(
  '%s: earlier findings stay fixed, and some more inputs find nothing',
  async (name, load) => {
    const target = await load();
    for (const input of mended[name] ?? []) expect(await tryInput(target, input)).toBeUndefined();
    // About half a second of inputs, but the same number on every machine.
    const { findings } = await fuzz(target, { inputs: shortRuns[name] ?? 1_500, seed: 1 });
    expect(findings).toEqual([]);
  },
);

/** For targets with slow inputs. */
const shortRuns: Readonly<Record<string, number>> = {
  config: 60,
  suites: 100,
  pipelines: 100,
  imports: 200,
  pii: 150,
  patterns: 150,
  yaml: 200,
  reports: 200,
  recordings: 200,
  datasets: 400,
  responses: 400,
};

test('every fixed input belongs to a target', () => {
  expect(Object.keys(mended).filter((name) => targets[name] === undefined)).toEqual([]);
});

test('the record has more than ten million inputs, and the page says so', () => {
  const record = readRecord();
  expect(Object.keys(record).filter((name) => targets[name] === undefined)).toEqual([]);
  const counts = Object.values(record).map(({ inputs }) => inputs);
  expect(counts.reduce((sum, inputs) => sum + inputs, 0)).toBeGreaterThan(10_000_000);
  const page = readFileSync(join(import.meta.dirname, '../../docs/internals/fuzzing.md'), 'utf8');
  expect(withTable(page, record)).toBe(page);
});

const bugs: Readonly<Record<string, Target['run']>> = {
  'a throw': (text) => void (text.includes('{{') && text.endsWith(']') ? JSON.parse('{') : undefined),
  'a prototype that is written to': (text) => {
    if (text.includes('"__proto__"')) Reflect.set(Object.prototype, 'polluted', true);
  },
};

test.each(Object.entries(bugs))('it finds %s, and makes the input small', async (_what, run) => {
  const target: Target = { seeds: ['{"a": [1]}'], tokens: ['{', '[', ']', '"__proto__"'], run };
  try {
    const { findings } = await fuzz(target, { inputs: 20_000, seed: 3, most: 1 });
    expect(findings).toHaveLength(1);
    expect(findings[0]?.input.length).toBeLessThan(14);
  } finally {
    Reflect.deleteProperty(Object.prototype, 'polluted');
  }
});
