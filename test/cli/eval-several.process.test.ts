import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { config, fixture, folderOf, onlyDocument, processesWith, start, until } from './command-line.ts';

test('Ctrl-C ends all suites, keeps finished cases, and says how to continue [DS-SEVERAL-06]', async () => {
  const marker = `several-${process.pid}`;
  const suiteOf = (name: string, check: string) => `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: ${name}}
spec: {runtime: ./runtime.yaml, cases: [{content: a}], evals: [{id: e, ${check}, role: metric}]}
`;
  const cwd = folderOf({
    'runtime.yaml': config(
      `defaults: {grace_ms: 200}\nevals: {hang: {command: ${fixture('hang-with-child.sh')}, env: [MARK=${marker}]}}\n`,
    ),
    'a.yaml': suiteOf('a', 'type: max_length, params: {max: 5}'),
    'b.yaml': suiteOf('b', 'type: hang'),
    'c.yaml': suiteOf('c', 'type: max_length, params: {max: 5}'),
  });
  const { child, ran } = start(['eval', 'run', '.', '--json', '--reporter', 'jsonl=all.jsonl'], { cwd });
  await until(() => processesWith(marker).length > 0);
  child.kill('SIGINT');
  const { code, stdout } = await ran;
  expect({ code, left: processesWith(marker) }).toEqual({ code: 130, left: [] });
  expect(onlyDocument(stdout)).toMatchObject({
    error: { code: 'ABORTED', hint: expect.stringMatching(/^1 of 3 suites are done; --resume/) },
  });
  const lines = readFileSync(join(cwd, 'all.jsonl'), 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).type)).toEqual(['run', 'case', 'report', 'run']);
});
