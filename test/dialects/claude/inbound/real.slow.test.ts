import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOf, run } from '../../../cli/command-line.ts';
import { hasProgram, playClaude } from './real.ts';

const guard = `if grep -q SECRET; then echo '{"allow": false, "reason": "leak"}'; else echo '{"allow": true}'; fi`;
const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: {type: memory}
  hooks:
    guard: {command: sh, args: ["-c", ${JSON.stringify(guard)}], hook: tool, phases: [after_execution]}
`;

const cell = {
  cell_type: 'code',
  id: 'c1',
  source: ['x = "SECRET"'],
  metadata: {},
  outputs: [],
  execution_count: null,
};
const notebook = {
  cells: [cell],
  metadata: { language_info: { name: 'python' } },
  nbformat: 4,
  nbformat_minor: 5,
};
const files = { 'a.txt': 'the SECRET is 42\n', 'n.ipynb': JSON.stringify(notebook) };

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'd' } });
const identity = 'git init -q . && git config user.email a@b && git config user.name n';

test.skipIf(!hasProgram).each([
  { title: 'the output of a command', tool: bash('cat a.txt'), goesOn: true },
  {
    title: 'a commit beside it',
    tool: bash(`${identity}; cat a.txt; git commit --allow-empty -m x`),
    goesOn: true,
  },
  { title: 'the output of a failed command', tool: bash('cat a.txt; exit 3'), goesOn: false },
  { title: 'a file', tool: { name: 'Read', input: { file_path: 'a.txt' } }, goesOn: true },
  { title: 'a notebook', tool: { name: 'Read', input: { file_path: 'n.ipynb' } }, goesOn: true },
])('Claude Code does not give its model $title that a guard denies', async ({ tool, goesOn }) => {
  const place = folderOf({ 'runtime.yaml': config });
  const work = join(place, 'work');
  mkdirSync(work);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), text);
  const exported = await run(['hooks', 'export', '--dialect', 'claude'], { cwd: place, binary: true });
  writeFileSync(join(place, 'settings.json'), exported.stdout);
  const model = await playClaude(place, work, { tools: [tool] });
  expect(JSON.stringify([...model.results])).not.toMatch(/SECRET|42/);
  expect(model.asked()).toBe(goesOn ? 2 : 1);
  expect(readFileSync(join(work, 'a.txt'), 'utf8')).toContain('SECRET');
});
