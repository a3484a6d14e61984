import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOf, pipeline, run, runJson, workspace } from './command-line.ts';

function folderWith(name: string, below = 'bin'): string {
  const file = join(mkdtempSync(join(tmpdir(), 'path-')), below, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return dirname(file);
}

const system = '/usr/bin:/bin';
const places = [
  { title: 'installed globally', PATH: `${system}:${folderWith('signalbox')}`, name: 'signalbox' },
  { title: 'not on PATH', PATH: system, name: 'npx signalbox' },
  {
    title: 'in a project, started by npx',
    PATH: `${folderWith('signalbox', 'node_modules/.bin')}:${system}`,
    name: 'npx signalbox',
  },
  { title: 'without a PATH', PATH: '', name: 'npx signalbox' },
];

test.for(places)('$title, hints say "$name" [DS-CLI-03]', async ({ PATH, name }) => {
  const env = { PATH };
  const cwd = folderOf({});
  const { stderr } = await run('tool list', { cwd, env });
  expect(stderr).toContain(`hint: Run \`${name} init\` to make one here`);
  const { document } = await runJson('tool list', { cwd, env });
  expect(document).toMatchObject({ error: { hint: expect.stringContaining(`\`${name} init\``) } });
  const written = await run('init', { cwd, env });
  expect(written.stdout).toContain(`\nTry:\n  ${name} validate\n`);
  const checked = await run('doctor', { cwd: folderOf({}), env });
  expect(checked.stdout.replaceAll(/\s+/g, ' ')).toContain(`\`${name} init\``);
});

test.for(places)('$title, a waiting call continues with "$name"', async ({ PATH, name }) => {
  const cwd = workspace(
    'state_store: {type: sqlite}\ntools:\n  t: {description: d, input_schema: {type: object}, exec: {command: /bin/true}, approval: required}\n',
    { 'p.pipeline.yaml': pipeline('runtime: runtime.yaml\nsteps:\n  - {id: s, tool: t}\n') },
  );
  const { code, stderr } = await run('run p.pipeline.yaml', { cwd, env: { PATH } });
  expect({ code, stderr }).toMatchObject({ code: 3 });
  for (const verb of ['pending approve', 'pending reject', 'runs resume'])
    expect(stderr).toMatch(new RegExp(`(approve|reject|then): +${name} ${verb} `));
});
