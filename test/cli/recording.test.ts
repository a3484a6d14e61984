import { existsSync, linkSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { fixture, pipeline, run, runJson, workspace } from './command-line.ts';

const silent = ['--log-level', 'silent'];

const spec = (word: string) => `
tools:
  mark: {exec: {command: ./mark.sh}}
  pay: {exec: {command: ${fixture('echo-args')}}, approval: required}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, tool_calls: [{name: pay, args: {amount: 20}}]}
        - {text: "${word}."}
`;

const files = {
  'mark.sh': '#!/bin/sh\ntouch begun\necho \'{"result": true}\'\n',
  'mark.yaml': pipeline('steps: [{id: only, tool: mark}]\n'),
  'talk.yaml': pipeline(`
steps: [{id: answer, chat: {provider: main, messages: hello, tools: [pay]}}]
output: \${steps.answer.text}
`),
  'prose.txt': 'This is no recording.\n',
  'other.json': '{"v": 1, "request": {}}\n',
  'cut.jsonl':
    '{"v":1,"provider":"main","mod\n{"v":1,"provider":"m","model":"s","recorder":"r","digest":"d"}\n',
  'empty.jsonl': '',
};

const desk = (word = 'Paid') => workspace(spec(word), files);

test.concurrent('a waiting run continues with the recordings that it started with', async ({ expect }) => {
  const folder = desk();
  const first = ['run', 'talk.yaml', '--record', 'my calls.jsonl', ...silent];
  const recorded = await run(first, { cwd: folder });
  const [, resume = ''] = /^then: {5}signalbox (.*)$/m.exec(recorded.stderr) ?? [];
  expect(resume).toMatch(/^runs resume run_[\da-f]{16} --record 'my calls\.jsonl'$/);
  const [id = ''] = /pending_[\da-f]{16}/.exec(recorded.stderr) ?? [];
  const approved = await run(`pending approve ${id} --record 'my calls.jsonl'`, { cwd: folder });
  expect(approved.stderr).toBe(`resume:   signalbox ${resume}\n`);
  const [, run_id = ''] = /(run_[\da-f]{16})/.exec(resume) ?? [];
  await run(`runs resume ${run_id} --record 'my calls.jsonl' --log-level silent`, { cwd: folder });

  const other = desk('Another answer');
  const recording = join(folder, 'my calls.jsonl');
  const replayed = await run(['run', 'talk.yaml', '--replay', recording, ...silent], { cwd: other });
  expect(replayed.stderr).toMatch(
    new RegExp(`\\nthen: {5}signalbox runs resume (run_[\\da-f]{16}) --replay '?${recording}'?\\n$`),
  );
  const [asked = ''] = /pending_[\da-f]{16}/.exec(replayed.stderr) ?? [];
  const end = await run(['pending', 'approve', asked, '--resume', '--replay', recording, ...silent], {
    cwd: other,
  });
  expect(end).toMatchObject({ code: 0, stdout: 'Paid.\n' });
});

const refused = [
  { title: 'a --record in no folder', args: ['--record', 'gone/new.jsonl'], code: 'FILE_UNREADABLE' },
  { title: 'a --record that is a folder', args: ['--record', '.'], code: 'FILE_UNREADABLE' },
  { title: 'a --replay of prose', args: ['--replay', 'prose.txt'], code: 'FILE_UNREADABLE' },
  { title: 'a --replay of other JSON', args: ['--replay', 'other.json'], code: 'FILE_UNREADABLE' },
  { title: 'a --replay of a folder', args: ['--replay', '.'], code: 'FILE_UNREADABLE' },
  {
    title: 'one file for both',
    args: ['--record', 'cut.jsonl', '--replay', './cut.jsonl'],
    code: 'USAGE',
  },
  {
    title: 'one file for both by two names',
    args: ['--record', 'alias.jsonl', '--replay', 'cut.jsonl'],
    code: 'USAGE',
  },
];

test.concurrent.for(refused)('$title exits 2 before anything runs', async ({ args, code }, { expect }) => {
  const folder = desk();
  linkSync(join(folder, 'cut.jsonl'), join(folder, 'alias.jsonl'));
  const ran = await runJson(['run', 'mark.yaml', ...args, ...silent], { cwd: folder });
  expect(ran).toMatchObject({ code: 2, document: { error: { code } } });
  expect(existsSync(join(folder, 'begun'))).toBe(false);
  expect(existsSync(join(folder, '.signalbox'))).toBe(false);
});

test.concurrent.for(['empty.jsonl', 'cut.jsonl'])('%s is still a recording', async (file, { expect }) => {
  const folder = desk();
  mkdirSync(join(folder, 'kept'));
  const args = ['run', 'mark.yaml', '--replay', file, '--record', 'kept/new.jsonl', ...silent];
  expect(await run(args, { cwd: folder })).toMatchObject({ code: 0 });
});
