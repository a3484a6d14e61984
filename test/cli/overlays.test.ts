import { expect, test } from 'vitest';
import { config, fixture, folderOf, pipeline, run } from './command-line.ts';

test('several --config are merged, also for every command that continues a run [DS-OVERLAY-01]', async () => {
  const cwd = folderOf({
    'base.yaml': config(
      `tools: {send: {description: d, input_schema: {type: object}, exec: {command: ${fixture('leaks-key.sh')}}}}\n`,
    ),
    'prod.yaml': 'spec: {tools: {send: {approval: required}}}\n',
    'p.pipeline.yaml': pipeline('steps:\n  - {id: one, tool: send}\n'),
  });
  const files = ['--config', 'base.yaml', '--config', 'prod.yaml'];
  const checked = await run(['validate', ...files, '--values'], { cwd });
  expect(checked).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('tools[send].approval  prod.yaml:1:33'),
  });
  const ran = await run(['run', 'p.pipeline.yaml', ...files], { cwd });
  expect({ code: ran.code, next: `${ran.stdout}${ran.stderr}` }).toEqual({
    code: 3,
    next: expect.stringContaining('--config base.yaml --config prod.yaml'),
  });
});

test('doctor --chaos tries the filters of all files together [DS-OVERLAY-01]', async () => {
  const cwd = folderOf({
    'base.yaml': config('hooks: {no: {command: ./no.sh, hook: tool, phases: [before_execution]}}\n'),
    'no.sh': '#!/bin/sh\n',
    'prod.yaml': 'spec: {hooks: {no: null}}\n',
  });
  const { code, stdout } = await run('doctor --chaos --json --config base.yaml --config prod.yaml', { cwd });
  expect({ code, cells: JSON.parse(stdout).cells }).toEqual({ code: 0, cells: 0 });
});
