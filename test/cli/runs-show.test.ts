import { expect, test } from 'vitest';
import { fixture, pipeline, run, runJson, runOf, runShown, workspace } from './command-line.ts';

const spec = `
tools:
  echo: {exec: {command: ${fixture('echo-args')}}}
  hostile: {exec: {command: ./hostile.sh}}
  keyed: {exec: {command: ./keyed.sh, env: [PAY_API_KEY]}}
`;

const files = {
  'hostile.sh': `#!/bin/sh\nprintf '{"result": "\\\\u001b[2Jgone\\\\u202e %s"}' "$(awk 'BEGIN { while (i++ < 2000) printf "x" }')"\n`,
  'keyed.sh': `#!/bin/sh\nprintf '{"result": {"said": "with %s", "password": "hunter2", "size": 4}}' "$PAY_API_KEY"\n`,
  'hostile.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: only, tool: hostile}]\n'),
  'keyed.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: only, tool: keyed}]\n'),
};

test('a terminal shows long results shortened to its width, with control characters escaped', async () => {
  const cwd = workspace(spec, files);
  const id = await runOf(cwd, 'hostile.yaml', {});
  const { stdout, code } = await runShown(['runs', 'show', id], { cwd, terminal: 'stdout' });
  const lines = stdout.split('\n');
  expect(code).toBe(0);
  expect(lines.filter((line) => line.length > 200)).toEqual([]);
  expect(stdout).toContain('\\u001b[2Jgone\\u202e xxx');
  expect(stdout).toContain('more characters)');
  const full = await runShown(['runs', 'show', id, '--full', '--step', 'only'], {
    cwd,
    terminal: 'stdout',
  });
  expect(full.stdout).toContain('x'.repeat(2_000));
  expect(full.stdout).not.toContain('\u001b[2J');
});

test('secrets of the config, and members named like secrets, are hidden', async () => {
  const env = { PAY_API_KEY: 'sk-live-4711-0815-abcd' };
  const cwd = workspace(spec, files);
  const { document: ran } = await runJson('run keyed.yaml', { cwd, env });
  const id = (ran as { run_id: string }).run_id;
  const { document } = await runJson(`runs show ${id}`, { cwd, env });
  expect(document).toMatchObject({ steps: [{ view: { result: { size: 4 } } }] });
  const people = await run(`runs show ${id}`, { cwd, env });
  for (const text of [JSON.stringify(document), people.stdout]) {
    expect(text).not.toContain('4711');
    expect(text).not.toContain('hunter2');
  }
});

test('a step that the run does not have is reported', async () => {
  const cwd = workspace(spec, files);
  const id = await runOf(cwd, 'hostile.yaml', {});
  for (const more of [[], ['--json']]) {
    const ran = await run(['runs', 'show', id, '--step', 'other', ...more], { cwd });
    expect(ran).toMatchObject({ code: 2 });
    expect(`${ran.stdout}${ran.stderr}`).toContain(
      'has no step \\"other\\"'.replaceAll('\\', more.length ? '\\' : ''),
    );
  }
});
