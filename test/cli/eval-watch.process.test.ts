import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { config, fixture, folderOf, processesWith, run, start, suite, until } from './command-line.ts';

const files = (runtime = '') => ({
  'runtime.yaml': config(`state_store: {type: memory}\ndefaults: {grace_ms: 200}\n${runtime}`),
  'rows.jsonl': '{"text": "yes"}\n',
  'demo.suite.yaml': suite(`
runtime: ./runtime.yaml
dataset: {path: rows.jsonl}
case: {content: "\${case.text}"}
evals: [{id: says_yes, type: contains, params: {patterns: ["yes"]}}]
`),
});

function watch(cwd: string, ...more: string[]) {
  const { child, ran } = start(['eval', 'run', 'demo.suite.yaml', '--watch', ...more], { cwd });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const times = (text: string) => said.split(text).length - 1;
  return { child, ran, said: () => said, times };
}

test('watch reruns when the dataset, the suite or the config changes, and waits while one is broken [DS-SEVERAL-07]', async () => {
  const cwd = folderOf(files());
  const { child, ran, said, times } = watch(cwd);
  await until(() => times('waiting for a change') === 1);
  expect(said()).toContain('demo: passed');
  writeFileSync(join(cwd, 'rows.jsonl'), '{"text": "no"}\n');
  await until(() => times('waiting for a change') === 2);
  expect(said()).toContain('changed: rows.jsonl');
  expect(said()).toContain('demo: failed');
  const file = join(cwd, 'demo.suite.yaml');
  const good = readFileSync(file, 'utf8');
  writeFileSync(file, `${good}  evlas: []\n`);
  await until(() => times('waiting for a change') === 3);
  expect(said()).toMatch(/demo\.suite\.yaml:\d+:3/);
  // Editors replace the file by a new one.
  writeFileSync(`${file}.new`, good.replace('"yes"', '"no"'));
  renameSync(`${file}.new`, file);
  await until(() => times('waiting for a change') === 4);
  rmSync(join(cwd, 'runtime.yaml'));
  await until(() => times('waiting for a change') === 5);
  expect(said()).toContain('runtime.yaml does not exist');
  child.kill('SIGINT');
  expect((await ran).code).toBe(130);
});

test('a change during a run ends it and starts the next, and Ctrl-C leaves no process [DS-SEVERAL-07]', async () => {
  const marker = `watch-${process.pid}`;
  const hang = `evals: {says_yes: {command: ${fixture('hang-with-child.sh')}, env: [MARK=${marker}]}}\n`;
  const cwd = folderOf(files(hang));
  const file = join(cwd, 'demo.suite.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('type: contains', 'type: says_yes'));
  const { child, ran, times } = watch(cwd);
  await until(() => processesWith(marker).length > 0);
  const first = processesWith(marker);
  writeFileSync(join(cwd, 'rows.jsonl'), '{"text": "other"}\n');
  await until(() => times('changed: rows.jsonl') === 1);
  await until(() => processesWith(marker).some((each) => !first.includes(each)));
  expect(processesWith(marker).filter((each) => first.includes(each))).toEqual([]);
  child.kill('SIGINT');
  expect({ code: (await ran).code, left: processesWith(marker) }).toEqual({ code: 130, left: [] });
});

test.each([['--json'], ['--resume'], ['--record', 'tape'], ['--dataset', '-']])(
  '%s applies to one run only',
  async (...more) => {
    const { code } = await run(['eval', 'run', 'demo.suite.yaml', '--watch', ...more], {
      cwd: folderOf(files()),
    });
    expect(code).toBe(2);
  },
);
