import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { corpus, measureCorpus, rowOf, type Score } from '../../../bench/pii-score.ts';
import { detector } from './support.ts';

const docs = readFileSync(join(import.meta.dirname, '../../../docs/reference/pii.md'), 'utf8');

/** The rows of the table: entity, labelled, findings, precision, recall, F2. */
const documented = docs
  .split('\n')
  .filter((line) => /^\| .+( \| \d+){2}( \| \d\.\d{3}){3} \|$/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

describe.skipIf(!existsSync(corpus))('a labelled corpus (skipped without ../shared/data)', () => {
  let scores: Score[] = [];
  // Not in the body: vitest runs the body of a skipped block, to collect its tests.
  beforeAll(() => {
    scores = measureCorpus();
  }, 60_000);

  test('is measured as the documentation says', () => {
    expect(documented).toEqual(scores.map(rowOf));
  });

  test('default entities are found nearly always, with few false positives', () => {
    const poor = scores.filter(({ isDefault, labelled, found, findings, right }) => {
      return isDefault && (found / labelled < 0.9 || right / findings < 0.95);
    });
    expect(poor).toEqual([]);
  });
});

const solutions = join(import.meta.dirname, '../../../../shared/data/gsm8k/example_model_solutions.jsonl');

test.skipIf(!existsSync(solutions))(
  'arithmetic has as few false positives as documented (skipped without ../shared/data)',
  { timeout: 60_000 },
  () => {
    const texts = readFileSync(solutions, 'utf8').trim().split('\n').flatMap(textsOf);
    const detect = detector();
    const findings = texts.reduce((count, text) => count + detect(text).length, 0);
    const [, numbers = '', total = ''] =
      /In ([\d,]+) texts of arithmetic[\s\S]*?the default\s+finds (\d+)\./.exec(docs) ?? [];
    expect({ texts: texts.length, findings }).toEqual({
      texts: Number(numbers.replace(',', '')),
      findings: Number(total),
    });
  },
);

function textsOf(line: string): string[] {
  const { question, ground_truth: truth, ...rest } = JSON.parse(line);
  const models = ['6b_finetuning', '6b_verification', '175b_finetuning', '175b_verification'];
  return [question, truth, ...models.map((model) => rest[model].solution)].map(String);
}

test('the documentation has the table', () => {
  expect(documented.length).toBeGreaterThan(10);
});
