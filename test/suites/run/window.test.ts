import { expect, test } from 'vitest';
import { windowOf } from '../../../src/suites/run/window.ts';
import { loadSpec } from '../support.ts';

const windowFor = (evals: string, subject = '') =>
  windowOf(loadSpec(`${subject}dataset: {path: rows.jsonl}\ncase: {content: x}\nevals: [${evals}]\n`), {
    concurrency: 2,
    batchSizeOf: (type) => (type === 'big' ? 1000 : type === 'batched' ? 50 : 1),
  });

test.each([
  { title: 'no eval takes batches', evals: '{id: a, type: plain}', window: { cases: 32, epochs: 2 } },
  {
    title: 'one of them does',
    evals: '{id: a, type: plain}, {id: b, not: {type: batched}}',
    window: { cases: 400, epochs: 100 },
  },
  {
    title: 'a part of a combination does',
    evals: '{id: b, any_of: [{type: plain}, {type: batched}]}',
    window: { cases: 400, epochs: 100 },
  },
  { title: 'batches are so large', evals: '{id: b, type: big}', window: { cases: 8000, epochs: 2000 } },
  {
    title: 'a judge calls a model as well',
    evals: '{id: a, type: batched}, {id: b, type: llm_judge, params: {criteria: good}}',
    window: { cases: 8, epochs: 2 },
  },
])('where $title, that many cases are in progress', ({ evals, window }) => {
  expect(windowFor(evals)).toEqual(window);
});

test('a subject keeps the window small', () => {
  expect(windowFor('{id: a, type: batched}', 'subject: {tool: t}\n')).toEqual({ cases: 8, epochs: 2 });
});
