import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  fixture,
  folderOf,
  onlyDocument,
  pipeline,
  run,
  runBothWays,
  runJson,
  start,
  until,
  workspace,
} from './command-line.ts';

const long = '12345678901234567890';
const silent = ['--log-level', 'silent'];

const tools = `
tools:
  echo: {exec: {command: ${fixture('echo-args')}}}
  text: {exec: {command: ${fixture('prints.sh')}, args: ['{"result": "two\\nlines"}']}}
  lost: {exec: {command: ${fixture('error-text.sh')}}}
  barred: {exec: {command: ${fixture('echo-args')}}}
  refund: {exec: {command: ${fixture('pending.sh')}}}
  pay: {exec: {command: ${fixture('echo-args')}}, approval: required}
  once: {exec: {command: ./hangs-once.sh}}
hooks:
  bar: {command: ./bar.sh, hook: tool, phases: [before_execution]}
`;

const scripts = {
  'bar.sh': `#!/bin/sh
case $(cat) in *'"name":"barred"'*) echo '{"allow": false, "reason": "not today"}' ;; *) echo '{"allow": true}' ;; esac
`,
  'hangs-once.sh': `#!/bin/sh
if [ -e begun ]; then echo '{"result": "second time"}'; else touch begun; sleep 30; fi
`,
};

const echo = pipeline(`
runtime: ./runtime.yaml
steps: [{id: first, tool: echo, args: {n: "\${input.n}"}}]
output: {got: "\${steps.first.result}"}
`);

const stepOf = (tool: string, args = '{}') =>
  pipeline(
    `runtime: ./runtime.yaml\nsteps: [{id: only, tool: ${tool}, args: ${args}}]\noutput: \${steps.only.result}\n`,
  );

const models = `
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, tool_calls: [{name: pay, args: {amount: 20}}]}
        - {text: "Paid, \${messages[0].content}."}
`;

const talk = pipeline(`
runtime: ./runtime.yaml
steps: [{id: answer, chat: {provider: main, messages: "\${input.name}", tools: [pay]}}]
output: \${steps.answer.text}
`);

const desk = workspace(`${tools}${models}`, {
  ...scripts,
  'echo.yaml': echo,
  'text.yaml': stepOf('text'),
  'lost.yaml': stepOf('lost'),
  'barred.yaml': stepOf('barred'),
  'refund.yaml': stepOf('refund', '{order: A-17}'),
  'input.json': `{"n": ${long}}`,
  'bad-input.yaml': pipeline(`
input: {type: object, required: [n]}
steps: [{id: only, tool: echo}]
`),
  'talk.yaml': talk,
  'broken.yaml': pipeline('steps: [{id: only, tol: echo}]\n'),
});

/** A workspace for a run that leaves something in its store. */
const ownDesk = (files: Readonly<Record<string, string>>) => workspace(tools, { ...scripts, ...files });

test.concurrent('a completed run prints its output, and a line for each step on stderr', async ({
  expect,
}) => {
  const { code, stdout, stderr } = await run(`run echo.yaml --input '{"n": 1}' --log-level silent`, {
    cwd: desk,
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"got":{"n":1}}\n' });
  expect(stderr).toMatch(/^desk: run_[\da-f]{16} started\nfirst: tool started\nfirst: ok in [\d.]+ m?s\n$/);
});

test.concurrent('--json prints the document of the run and nothing else', async ({ expect }) => {
  expect(await runJson(`run echo.yaml --input '{"n": 1}' --log-level silent`, { cwd: desk })).toEqual({
    code: 0,
    document: {
      run_id: expect.stringMatching(/^run_[\da-f]{16}$/),
      status: 'completed',
      output: { got: { n: 1 } },
      pending: [],
      steps: [{ step: 'first', kind: 'tool', status: 'ok', duration_ms: expect.any(Number) }],
    },
    stderr: '',
  });
});

test.concurrent('a text output is printed as plain text', async ({ expect }) => {
  expect(await run('run text.yaml', { cwd: desk })).toMatchObject({ code: 0, stdout: 'two\nlines\n' });
});

test.concurrent.for([
  { title: 'text', value: `{"n": ${long}}`, stdin: '' },
  { title: '@FILE', value: '@input.json', stdin: '' },
  { title: '- for stdin', value: '-', stdin: `{"n": ${long}}` },
])('--input takes $title, and its digits are kept', async ({ value, stdin }, { expect }) => {
  const { code, stdout } = await run(['run', 'echo.yaml', '--input', value], { cwd: desk, stdin });
  expect({ code, stdout }).toEqual({ code: 0, stdout: `{"got":{"n":${long}}}\n` });
});

test.concurrent('without --input a pipeline gets {}', async ({ expect }) => {
  const { code, stderr } = await run('run bad-input.yaml', { cwd: desk });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: \[INPUT_INVALID\] .*required.*\nhint: /);
});

const failures = [
  {
    file: 'lost.yaml',
    status: 'failed',
    code: 'TOOL_ERROR',
    message: 'city not found',
  },
  {
    file: 'barred.yaml',
    status: 'denied',
    code: 'DENIED',
    message: expect.stringContaining('not today'),
  },
];

test.concurrent.for(failures)(
  'a run that is $status names the step, and exits 1',
  async (row, { expect }) => {
    const { people, programs } = await runBothWays(['run', row.file, ...silent], { cwd: desk });
    const { code, message, status } = row;
    expect({ code: people.code, stdout: people.stdout }).toEqual({ code: 1, stdout: '' });
    expect(people.stderr.split('\n').slice(-4)).toEqual([
      expect.stringMatching(`^${status}: step "only": \\[${code}\\] `),
      expect.stringMatching(/^hint: ./),
      expect.stringMatching(/^try again: signalbox runs retry run_/),
      '',
    ]);
    const error = { code, message, hint: expect.any(String) };
    expect(programs).toMatchObject({
      code: 1,
      document: { status, output: null, error, steps: [{ step: 'only', status, error }] },
      stderr: '',
    });
  },
);

const wrongCalls = [
  { title: 'a pipeline that is not there', args: ['nowhere.yaml'], code: 'FILE_UNREADABLE' },
  { title: 'a pipeline with problems', args: ['broken.yaml'], code: 'CONFIG_INVALID' },
  { title: 'an input that is no JSON', args: ['echo.yaml', '--input', '{"n": '], code: 'INPUT_INVALID' },
  {
    title: 'an input file that is not there',
    args: ['echo.yaml', '--input', '@gone'],
    code: 'FILE_UNREADABLE',
  },
  {
    title: 'a recording that is not there',
    args: ['talk.yaml', '--input', '{"name": "Ada"}', '--replay', 'gone'],
    code: 'FILE_UNREADABLE',
  },
  { title: '--interactive without a terminal', args: ['echo.yaml', '--interactive'], code: 'USAGE' },
  {
    title: '--interactive where the input takes stdin',
    args: ['echo.yaml', '--interactive', '--input', '-'],
    code: 'USAGE',
  },
];

test.concurrent.for(wrongCalls)('run with $title exits 2', async ({ args, code }, { expect }) => {
  const ran = await runJson(['run', ...args], { cwd: desk, stdin: '{}' });
  expect(ran).toMatchObject({ code: 2, document: { error: { code } } });
});

test.concurrent('the pipeline names the runtime, unless --config names another', async ({ expect }) => {
  const other = workspace(
    `tools: {text: {exec: {command: ${fixture('prints.sh')}, args: ['{"result": "other"}']}}}\n`,
    {
      'plain.yaml': pipeline('steps: [{id: only, tool: text}]\noutput: ${steps.only.result}\n'),
    },
  );
  const text = join(desk, 'text.yaml');
  const ran = await Promise.all([
    run(['run', text], { cwd: folderOf({}) }),
    run(['run', text, '--config', join(other, 'runtime.yaml')], { cwd: folderOf({}) }),
    run('run plain.yaml', { cwd: other }),
    run(['run', join(other, 'plain.yaml')], { cwd: folderOf({}) }),
  ]);
  expect(ran.map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, 'two\nlines\n'],
    [0, 'other\n'],
    [0, 'other\n'],
    [2, ''],
  ]);
});

test.concurrent('a waiting run says what it waits for, and what to do next', async ({ expect }) => {
  const folder = ownDesk({ 'refund.yaml': stepOf('refund', '{order: A-17}') });
  const { code, stdout, stderr } = await run('run refund.yaml --log-level silent', { cwd: folder });
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  const [, id = '', runId = ''] = /id +(pending_[\da-f]{16})\n +run +(run_[\da-f]{16})\n/.exec(stderr) ?? [];
  expect(stderr.slice(stderr.indexOf('pending: '))).toBe(`pending: Refund 250 EUR? (requires_approval)
  id         ${id}
  run        ${runId}
  tool       refund
  step       only
  arguments  {"order":"A-17"}
approve:  signalbox pending approve ${id}
reject:   signalbox pending reject ${id} --reason REASON
respond:  signalbox pending respond ${id} --result JSON
then:     signalbox runs resume ${runId}
`);
});

test.concurrent('the next commands name the config, unless it is the default', async ({ expect }) => {
  const folder = folderOf({
    'with space/runtime.yaml': readFileSync(join(desk, 'runtime.yaml'), 'utf8'),
    'with space/bar.sh': scripts['bar.sh'],
    'with space/hangs-once.sh': scripts['hangs-once.sh'],
    'with space/refund.yaml': stepOf('refund'),
  });
  const { stderr } = await run(`run 'with space/refund.yaml' --log-level silent`, { cwd: folder });
  const [, command = ''] = /^approve: {2}signalbox (.*)$/m.exec(stderr) ?? [];
  expect(command).toMatch(/^pending approve pending_[\da-f]{16} --config 'with space\/runtime\.yaml'$/);
});

test.concurrent('--json of a waiting run has its pending calls', async ({ expect }) => {
  const folder = ownDesk({ 'refund.yaml': stepOf('refund') });
  const { code, document, stderr } = await runJson('run refund.yaml --log-level silent', { cwd: folder });
  expect({ code, document, stderr }).toEqual({
    code: 3,
    document: {
      run_id: expect.any(String),
      status: 'pending',
      output: null,
      pending: [
        {
          id: expect.stringMatching(/^pending_[\da-f]{16}$/),
          tool: 'refund',
          step: 'only/call',
          reason: 'requires_approval',
          message: 'Refund 250 EUR?',
          expires_at: null,
        },
      ],
      steps: [{ step: 'only', kind: 'tool', status: 'pending', duration_ms: 0 }],
    },
    stderr: '',
  });
});

const deceptive = '{"pending":{"reason":"r","message":"Pay 1 EUR?\\u001b[2K\\r\\n  arguments  {}\\u202e"}}';

test.concurrent('output of a tool or model cannot imitate other lines', async ({ expect }) => {
  const folder = workspace(
    `tools: {trick: {exec: {command: ${fixture('prints.sh')}, args: ['${deceptive}']}}}\n`,
    { 'trick.yaml': stepOf('trick', '{note: "${input.note}"}') },
  );
  const input = JSON.stringify({ note: '\u009b2K  two  spaces\u202e' });
  const { stderr } = await run(['run', 'trick.yaml', '--input', input, ...silent], { cwd: folder });
  expect(stderr).toContain('\npending: Pay 1 EUR?\\u001b[2K arguments {}\\u202e (r)\n');
  expect(stderr).toContain('\n  arguments  {"note":"\\u009b2K  two  spaces\\u202e"}\n');
});

test.concurrent('a chat waits for a person with a tool of its model, and continues when it is resumed', async ({
  expect,
}) => {
  const folder = workspace(`${tools}${models}`, { ...scripts, 'talk.yaml': talk });
  const paused = await runJson(`run talk.yaml --input '{"name": "Ada"}' --log-level silent`, { cwd: folder });
  expect(paused).toMatchObject({
    code: 3,
    document: { status: 'pending', pending: [{ tool: 'pay' }], steps: [{ step: 'answer', kind: 'chat' }] },
  });
  const id = await onlyPending(folder);
  expect(await run(`pending approve ${id} --resume --log-level silent`, { cwd: folder })).toMatchObject({
    code: 0,
    stdout: 'Paid, Ada.\n',
  });
});

test.concurrent('--replay answers from what --record stored, and a missing call fails', async ({
  expect,
}) => {
  const speak = pipeline(`
runtime: ./runtime.yaml
steps: [{id: answer, chat: {provider: main, messages: "\${input.name}"}}]
output: \${steps.answer.text}
`);
  const spec = (word: string) => `
providers:
  - {id: main, type: mock, model: scripted, additional_config: {responses: [{text: "${word}, \${messages[0].content}."}]}}
`;
  const folder = workspace(spec('Hello'), { 'speak.yaml': speak });
  const asked = (name: string) => ['run', 'speak.yaml', '--input', JSON.stringify({ name }), ...silent];
  const recorded = await run([...asked('Ada'), '--record', 'talk.jsonl'], { cwd: folder });
  const other = workspace(spec('Goodbye'), { 'speak.yaml': speak });
  const replay = ['--replay', join(folder, 'talk.jsonl')];
  const [same, different] = await Promise.all([
    run([...asked('Ada'), ...replay], { cwd: other }),
    runJson([...asked('Bob'), ...replay], { cwd: other }),
  ]);
  expect([recorded, same]).toMatchObject([
    { code: 0, stdout: 'Hello, Ada.\n' },
    { code: 0, stdout: 'Hello, Ada.\n' },
  ]);
  expect(different).toMatchObject({
    code: 1,
    document: { status: 'failed', error: { code: 'REPLAY_MISS' } },
  });
});

test.concurrent('Ctrl-C suspends a run, and it can be resumed [DS-EXIT-04]', async ({ expect }) => {
  const folder = ownDesk({ 'once.yaml': stepOf('once') });
  const { child, ran } = start(['run', 'once.yaml', '--json', ...silent], { cwd: folder });
  await until(() => existsSync(join(folder, 'begun')));
  child.kill('SIGINT');
  const { code, stdout } = await ran;
  const document = onlyDocument(stdout);
  const runId = runIdOf(document);
  expect({ code, document }).toEqual({
    code: 130,
    document: {
      error: {
        code: 'ABORTED',
        message: expect.stringContaining(runId),
        hint: `Resume it with \`signalbox runs resume ${runId}\`.`,
        run_id: expect.stringMatching(/^run_/),
      },
    },
  });
  expect(await run(`runs resume ${runId} --log-level silent`, { cwd: folder })).toMatchObject({
    code: 0,
    stdout: 'second time\n',
  });
});

test.concurrent('a run with --wait continues when another process approves', async ({ expect }) => {
  const folder = ownDesk({ 'pay.yaml': stepOf('pay', '{amount: 20}') });
  const { child, ran } = start(['run', 'pay.yaml', '--wait', ...silent], { cwd: folder });
  const id = await waitingFor(child);
  const [decision] = await Promise.all([
    runJson(`pending approve ${id} --args '{"amount": 15}' --by ada`, { cwd: folder }),
  ]);
  expect(decision).toMatchObject({ code: 0, document: { status: 'approved', by: 'ada' } });
  const { code, stdout, stderr } = await ran;
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"amount":15}\n' });
  expect(stderr).toContain(`\napprove:  signalbox pending approve ${id}\n`);
  expect(stderr).toContain(`\nonly: ${id} was approved\n`);
});

test.concurrent('with --json, --wait prints only the document, and reports on stderr what it waits for', async ({
  expect,
}) => {
  const folder = ownDesk({ 'pay.yaml': stepOf('pay', '{amount: 20}') });
  const { ran } = start(['run', 'pay.yaml', '--wait', '--json', ...silent], { cwd: folder });
  const id = await onlyPending(folder);
  await run(`pending reject ${id} --reason 'no money'`, { cwd: folder });
  const { code, stdout, stderr } = await ran;
  expect({ code, document: onlyDocument(stdout), stderr }).toMatchObject({
    code: 1,
    document: { status: 'failed', error: { code: 'REJECTED', message: expect.stringContaining('no money') } },
    stderr: `waiting for the decision about ${id}\n`,
  });
});

test.concurrent('Ctrl-C while a run waits leaves it waiting [DS-EXIT-04]', async ({ expect }) => {
  const folder = ownDesk({ 'pay.yaml': stepOf('pay', '{amount: 20}') });
  const { child, ran } = start(['run', 'pay.yaml', '--wait', ...silent], { cwd: folder });
  const id = await waitingFor(child);
  child.kill('SIGINT');
  const { code, stdout, stderr } = await ran;
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  expect(stderr).toMatch(/\nhint: Resume it with `signalbox runs resume run_[\da-f]{16}`\.\n$/);
  expect(await run(`pending approve ${id} --resume --log-level silent`, { cwd: folder })).toMatchObject({
    code: 0,
    stdout: '{"amount":20}\n',
  });
});

test.concurrent('a run finishes with the pipeline text that it started with', async ({ expect }) => {
  const folder = ownDesk({ 'pay.yaml': stepOf('pay', '{amount: 20}') });
  await run('run pay.yaml', { cwd: folder });
  writeFileSync(join(folder, 'pay.yaml'), 'kind: Nonsense\n');
  const id = await onlyPending(folder);
  expect(await run(`pending approve ${id} --resume --log-level silent`, { cwd: folder })).toMatchObject({
    code: 0,
    stdout: '{"amount":20}\n',
  });
});

async function waitingFor(child: ReturnType<typeof start>['child']): Promise<string> {
  let told = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  await until(() => /waiting for the decision about pending_[\da-f]{16}\n/.test(told));
  return /about (pending_[\da-f]{16})\n/.exec(told)?.[1] ?? '';
}

async function onlyPending(folder: string): Promise<string> {
  for (;;) {
    const { document } = await runJson('pending list', { cwd: folder });
    const [first] = pendingsOf(document);
    if (first !== undefined) return first.id;
  }
}

function pendingsOf(document: unknown): { id: string }[] {
  expect(document).toEqual(expect.objectContaining({ pending: expect.any(Array) }));
  return (document as { pending: { id: string }[] }).pending;
}

function runIdOf(document: unknown): string {
  expect(document).toMatchObject({ error: { run_id: expect.any(String) } });
  return (document as { error: { run_id: string } }).error.run_id;
}
