import { expect, test } from 'vitest';
import { failuresOf, roleLookup } from '../../../src/suites/report/case-failures.ts';
import { caseOf, evalResultOf } from './reports.ts';

const detail = 'the subject gave no answer: exit 3';
const results = ['exact', 'short', 'polite'].map((id) =>
  evalResultOf({ eval: id, score: null, passed: false, detail }),
);
const record = caseOf(results, { id: 'r1' });
const error = { code: 'PROCESS_EXIT', message: 'exit 3', hint: '' } as const;
const subject = { status: 'failed', duration_ms: 1, cached: false, attempts: 1, error } as const;
const evalsThatFailed = (each: typeof record) =>
  failuresOf(each, roleLookup({ evals: [] })).map((one) => one.eval);

test('a case whose subject gave no answer is reported once, whatever the number of its evals', () => {
  const unanswered = { ...record, epochs: record.epochs.map((epoch) => ({ ...epoch, subject })) };
  expect(evalsThatFailed(unanswered)).toEqual(['exact']);
});

test('evals that report the same of an answer are each listed', () => {
  expect(evalsThatFailed(record)).toEqual(['exact', 'short', 'polite']);
});

test('if only one epoch had no answer, failures of the others are listed too', () => {
  const failed = evalResultOf({ eval: 'long', score: 0.5, passed: false, detail });
  const mixed = caseOf([...results, failed], { id: 'r1' });
  const epochs = mixed.epochs.map((epoch) => ({ ...epoch, subject }));
  expect(evalsThatFailed({ ...mixed, epochs })).toEqual(['exact', 'long']);
});
