import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { header, writeFiles } from './support.ts';

const suite = (name: string, min: number) => `${header}metadata: {name: ${name}}
spec:
  cases: [{text: yes}, {text: no}]
  case: {content: "\${case.text}"}
  evals: [{id: agrees, type: contains, params: {patterns: ["yes"]}, threshold: {min_score: 1}}]
  gates: [{eval: agrees, metric: pass_rate, min: ${min}}]
`;

test('the history of a suite has each run with its gates as they were, newest first', async () => {
  const folder = writeFiles({
    'runtime.yaml': 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n',
    'low.suite.yaml': suite('support', 0.5),
    'high.suite.yaml': suite('support', 0.9),
    'other.suite.yaml': suite('other', 0.5),
  });
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  onTestFinished(() => runtime.close());
  const run = async (name: string) => (await runtime.evals.run(join(folder, `${name}.suite.yaml`))).run_id;
  expect(await runtime.evals.history()).toEqual([]);
  const [first, second, other] = [await run('low'), await run('high'), await run('other')];
  const stopping = new AbortController();
  const cutOff = runtime.evals.run(join(folder, 'low.suite.yaml'), {
    signal: stopping.signal,
    onStart: () => stopping.abort(),
  });
  await expect(cutOff).rejects.toMatchObject({ code: 'ABORTED' });
  const [interrupted, ...ended] = await runtime.evals.history({ suite: 'support' });
  const gate = { eval: 'agrees', metric: 'pass_rate', value: 0.5, max: null };
  const of = (run_id: string, status: string, gates: readonly object[]) => ({
    ...{ run_id, status, gates, suite: 'support', started_at: expect.stringMatching(/^20.*Z$/) },
    ...{ cases: 2, pass_rate: 0.5 },
  });
  expect(interrupted).toMatchObject({ status: 'interrupted', pass_rate: null, gates: [] });
  expect(ended).toEqual([
    of(second, 'failed', [{ ...gate, min: 0.9, passed: false }]),
    of(first, 'passed', [{ ...gate, min: 0.5, passed: true }]),
  ]);
  expect((await runtime.evals.history({ limit: 2 })).map(({ run_id }) => run_id)).toEqual([
    interrupted?.run_id,
    other,
  ]);
  await expect(runtime.evals.history({ limit: 0 })).rejects.toMatchObject({ code: 'USAGE' });
});
