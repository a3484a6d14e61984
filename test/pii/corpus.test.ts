import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { corpus, measureCorpus, rowOf } from '../../bench/pii-score.ts';

const docs = readFileSync(join(import.meta.dirname, '../../docs/pii.md'), 'utf8');

/** The rows of the table of figures: entity, labelled, findings, precision, recall, F2. */
const documented = docs
  .split('\n')
  .filter((line) => /^\| .+( \| \d+){2}( \| \d\.\d{3}){3} \|$/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

describe.skipIf(!existsSync(corpus))('a labelled corpus (skipped without ../shared/data)', () => {
  const scores = measureCorpus();

  test('is measured as the documentation says', () => {
    expect(documented).toEqual(scores.map(rowOf));
  });

  test('what is looked for by default is found nearly always, and little else is taken for it', () => {
    const poor = scores.filter(({ isDefault, labelled, found, findings, right }) => {
      return isDefault && (found / labelled < 0.9 || right / findings < 0.95);
    });
    expect(poor).toEqual([]);
  });
});

test('the documentation has the table', () => {
  expect(documented.length).toBeGreaterThan(10);
});
