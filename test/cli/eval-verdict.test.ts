import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { config, folderOf, run, suite } from './command-line.ts';
import { evalRun, failing } from './failing-suite.ts';

const gate = 'gates: [{eval: says_yes, metric: pass_rate, min: 0.5}]\n';

describe('a run that does not pass is reported on stderr', () => {
  test('with only file reporters and --quiet: its status, the missed gates, the files', async () => {
    const cwd = folderOf(failing(12, gate));
    const args = evalRun('--quiet', '--reporter', 'junit=out/report.xml', '--reporter', 'jsonl=run.jsonl');
    expect(await run(args, { cwd })).toEqual({
      code: 1,
      stdout: '',
      stderr: [
        'demo: failed, 1 of 1 gate missed, 12 of 12 cases did not pass',
        '  gate missed: says_yes: pass_rate 0, but wanted at least 0.5',
        'written: out/report.xml, run.jsonl',
        '',
      ].join('\n'),
    });
    expect(existsSync(join(cwd, 'out/report.xml'))).toBe(true);
  });

  test('with --json, whose document uses stdout', async () => {
    const cwd = folderOf(failing(1));
    const { code, stdout, stderr } = await run([...evalRun(), '--json'], { cwd });
    expect({ code, status: JSON.parse(stdout).status, stderr }).toEqual({
      code: 1,
      status: 'failed',
      stderr: 'demo: failed, 1 of 1 case did not pass\n',
    });
  });

  test('with the reason, when it is void', async () => {
    const cwd = folderOf(failing(0));
    expect(await run(evalRun('--quiet', '--reporter', 'html=run.html'), { cwd })).toEqual({
      code: 2,
      stdout: '',
      stderr: [
        'demo: error, the run is invalid',
        '  invalid run: [DATASET_INVALID] rows.jsonl:1 the dataset is empty',
        '    hint: Write one JSON object for each case.',
        'written: run.html',
        '',
      ].join('\n'),
    });
  });

  test('also when its report could not be written', async () => {
    const cwd = folderOf(failing(1));
    const { code, stderr } = await run(evalRun('--quiet', '--reporter', 'csv=/dev/full'), { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^demo: failed, 1 of 1 case did not pass\nerror: /);
  });
});

test('a log shows the first ten failures, how many more there are, and where to see them', async () => {
  const cwd = folderOf(failing(300));
  const { stderr } = await run(evalRun('--reporter', 'csv=all.csv'), { cwd });
  const lines = stderr.trimEnd().split('\n');
  expect(lines.filter((line) => line.startsWith('case '))).toHaveLength(10);
  expect(lines).toContain(
    '290 more failures: --show-failures N prints more, --reporter html=FILE shows all of them',
  );
  const asked = await run(evalRun('--show-failures', '2'), { cwd });
  expect(asked.stderr.match(/^case .*$/gm)).toHaveLength(2);
  const table = await run(evalRun(), { cwd });
  expect(table.stderr).not.toContain('case 1,');
});

describe('on a stderr that is a pipe', () => {
  const noisy = (logging: string) => ({
    'runtime.yaml': config(
      `state_store: {type: memory}\n${logging}evals: {loud: {command: ./loud.sh, runtime: server}}\n`,
    ),
    'loud.sh': '#!/bin/sh\nkill -9 $$\n',
    'demo.suite.yaml': suite(
      'runtime: ./runtime.yaml\ncases: [{content: a}]\nevals: [{id: loud, type: loud}]\n',
    ),
  });

  test('the log is text, as are the lines between', async () => {
    const { stderr } = await run(evalRun('--reporter', 'csv=all.csv', '--log-level', 'debug'), {
      cwd: folderOf(noisy('')),
    });
    expect(stderr).toContain('eval loud');
    expect(stderr).not.toMatch(/^\{/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for.
    expect(stderr).not.toMatch(/\u001b/);
  });

  test('if the config selects JSON logs, no progress appears between their lines', async () => {
    const { stderr } = await run(evalRun('--reporter', 'csv=all.csv', '--log-level', 'debug'), {
      cwd: folderOf(noisy('logging: {format: json}\n')),
    });
    const lines = stderr.trimEnd().split('\n');
    const isJson = lines.map((line) => line.startsWith('{'));
    // The outcome of the run follows the last of them.
    expect(isJson.lastIndexOf(true)).toBe(isJson.filter(Boolean).length - 1);
    expect(lines.filter((line) => !line.startsWith('{'))[0]).toMatch(/^demo: error, 1 fault, /);
  });
});
