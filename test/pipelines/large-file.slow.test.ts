import { expect, test } from 'vitest';
import { config, fixture, folderOf, pipeline, run } from '../cli/command-line.ts';

test('a file of 20,000 steps is checked in linear time, and a repeated id is found', async () => {
  const tool = `greet: {input_schema: {type: object, required: [name]}, exec: {command: ${fixture('echo-args')}}}`;
  const steps = Array.from(
    { length: 20_000 },
    (_, at) => `  - {id: s${at}, tool: greet, args: {name: n${at}}}\n`,
  );
  const last = '  - {id: s19999, tool: greet, args: {}}\n';
  const cwd = folderOf({
    'runtime.yaml': config(`tools:\n  ${tool}\n`),
    'large.pipeline.yaml': pipeline(`runtime: ./runtime.yaml\nsteps:\n${steps.join('')}`),
    'wrong.pipeline.yaml': pipeline(`runtime: ./runtime.yaml\nsteps:\n${steps.join('')}${last}`),
  });
  expect(await run(['validate', 'large.pipeline.yaml'], { cwd })).toMatchObject({ code: 0 });
  const { code, stdout } = await run(['validate', 'wrong.pipeline.yaml'], { cwd });
  expect(code).toBe(2);
  const told = stdout.split('\n').filter((line) => /^wrong\.pipeline\.yaml:\d+:\d+/.test(line));
  expect(told).toHaveLength(2);
  expect(told.join('\n')).toMatch(/another step of this file already has the id s19999/);
  expect(told.join('\n')).toMatch(/name/);
});
