import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allowCanaryIn, canaryIn, filesWithCanary, canary as key } from '../canary.ts';
import { fixture, pipeline, run, runJson, suite, workspace } from './command-line.ts';

const env = { DESK_KEY: key };

const ways = ['stderr', 'chunks', 'killed', 'base64', 'stdout', 'error'] as const;

const leaks = [...ways, 'score', 'result'] as const;
const tool = (way: string) =>
  `  ${way}: {description: d, input_schema: {type: object}, exec: {command: ${fixture('leaks-key.sh')}, args: [${way}], env: [DESK_KEY]}}\n`;
const evaluation = (way: string) =>
  `  e_${way}: {command: ${fixture('leaks-key.sh')}, args: [${way}], env: [DESK_KEY]}\n`;
const spec = `tools:\n${leaks.map(tool).join('')}evals:\n${leaks.map(evaluation).join('')}`;

describe.each(ways)('a key that a program leaks through %s', (way) => {
  test('reaches no caller of it as a tool', async () => {
    const folder = workspace(spec);
    const { code, stdout, stderr } = await run(['tool', 'call', way], { cwd: folder, env });
    const { document, stderr: log } = await runJson(['tool', 'call', way, '--log-level', 'trace'], {
      cwd: folder,
      env,
    });
    expect({ code, pieces: canaryIn([stdout, stderr, log, JSON.stringify(document)].join('\n')) }).toEqual({
      code: 1,
      pieces: [],
    });
  });

  test('is in no store of runs, and in no output of one', async () => {
    const file = pipeline(`steps:\n  - {id: one, tool: ${way}}\n`);
    const folder = workspace(spec, { 'p.pipeline.yaml': file });
    const ran = await run('run p.pipeline.yaml', { cwd: folder, env });
    const shown = await run('runs list --json', { cwd: folder, env });
    expect(canaryIn(ran.stdout + ran.stderr + shown.stdout + shown.stderr)).toEqual([]);
    expect(existsSync(join(folder, '.signalbox/state.db'))).toBe(true);
    expect(filesWithCanary(folder)).toEqual([]);
  });
});

test('no report, no result store and no cassette shows a key, even if it was judged', async () => {
  const evals = leaks.map((way) => `  - {id: ${way}, type: e_${way}}\n`).join('');
  const folder = workspace(spec, {
    's.suite.yaml': suite(`dataset: {path: d.jsonl}\nevals:\n${evals}`),
    'd.jsonl': `${JSON.stringify({ content: `my key is ${key}` })}\n`,
  });
  const reports = ['junit', 'markdown', 'html', 'csv', 'jsonl', 'sarif', 'github'];
  const flags = reports.flatMap((name) => ['--reporter', `${name}=report.${name}`]);
  const ran = await run(
    ['eval', 'run', 's.suite.yaml', '--reporter', 'table', '--record', 'tape.jsonl', ...flags],
    {
      cwd: folder,
      env,
    },
  );
  const shown = await run('eval show --json', { cwd: folder, env });
  expect(canaryIn(ran.stdout + ran.stderr + shown.stdout + shown.stderr)).toEqual([]);
  expect(readdirSync(folder)).toEqual(
    expect.arrayContaining([...reports.map((name) => `report.${name}`), 'tape.jsonl']),
  );
  allowCanaryIn(join(folder, 'd.jsonl'));
  expect(filesWithCanary(folder)).toEqual([]);
});

test('a result is unchanged for its caller and for the run that continues with it', async () => {
  const folder = workspace(spec, {
    'p.pipeline.yaml': pipeline('steps:\n  - {id: one, tool: result}\noutput: "${steps.one.result}"\n'),
  });
  allowCanaryIn(join(folder, '.signalbox/state.db'));
  const called = await run('tool call result', { cwd: folder, env });
  const ran = await runJson('run p.pipeline.yaml', { cwd: folder, env });
  expect(called.stdout).toBe(`${key}\n`);
  expect(ran.document).toMatchObject({ status: 'completed', output: key });
});

test('a variable that was filled into a config is shown nowhere that a tool receives it', async () => {
  const says = '#!/bin/sh\nprintf \'{"error": "%s"}\' "$1"\necho "$1" >&2\n';
  const tools =
    'tools:\n  say: {description: d, input_schema: {type: object}, exec: {command: ./say.sh, args: ["${env:WORD}"]}}\n';
  const folder = workspace(tools, {
    'say.sh': says,
    'p.pipeline.yaml': pipeline('steps:\n  - {id: one, tool: say}\n'),
  });
  const words = { WORD: key };
  const called = await run('tool call say --log-level trace', { cwd: folder, env: words });
  const ran = await run('run p.pipeline.yaml --json', { cwd: folder, env: words });
  const checked = await run('doctor --json', { cwd: folder, env: words });
  const texts = [called, ran, checked].map(({ stdout, stderr }) => stdout + stderr).join('\n');
  expect({ codes: [called.code, ran.code], pieces: canaryIn(texts) }).toEqual({ codes: [1, 1], pieces: [] });
  expect(filesWithCanary(folder)).toEqual([]);
});
