import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openRuntime, type Runtime } from '../../../src/index.ts';
import { onTransports, type Transport } from '../../cite.ts';
import { open } from '../../runtime/open.ts';
import { fixture, readOverlap } from '../harness.ts';

const node = dirname(process.execPath);
const path = [node, '/usr/bin', '/bin'].join(delimiter);

const folder = join(tmpdir(), 'desk');
mkdirSync(join(folder, 'tools'), { recursive: true });
mkdirSync(join(folder, 'on-path'));
symlinkSync(fixture('facts'), join(folder, 'tools/facts'));
symlinkSync(fixture('facts'), join(folder, 'facts-beside'));
symlinkSync(fixture('facts'), join(folder, 'on-path/facts-on-path'));
writeFileSync(join(folder, 'not-executable'), '#!/bin/sh\n');
writeFileSync(join(folder, 'headless'), 'echo hi\n');
chmodSync(join(folder, 'headless'), 0o755);

const host = {
  PATH: `${path}${delimiter}${join(folder, 'on-path')}`,
  HOME: '/home/ada',
  LANG: 'C',
  LC_ALL: 'C.UTF-8',
  TZ: 'UTC',
  TMPDIR: tmpdir(),
  USER: 'ada',
  API_KEY: 'sk-1234',
  UNNAMED: 'must not be seen',
};

async function openTool(on: Transport, exec: object): Promise<Runtime & { readonly notes: string[] }> {
  const file = join(folder, 'runtime.yaml');
  const runtime = on === 'server' ? 'server' : 'exec';
  const head = 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nmetadata: {name: desk}\n';
  writeFileSync(
    file,
    `${head}spec:\n  tools:\n    demo: {exec: ${JSON.stringify({ env: [], ...exec, runtime })}}\n`,
  );
  const notes: string[] = [];
  const opened = await openRuntime(file, {
    log: false,
    env: host,
    onEvent: (event) => {
      if (event.type === 'note') notes.push(`${event.level} ${event.name}: ${event.message}`);
    },
  });
  return Object.assign(opened, { notes });
}

async function callOnce(on: Transport, exec: object) {
  const runtime = await openTool(on, exec);
  const document = await runtime.tools.call('demo', {});
  await runtime.close();
  return { document, notes: runtime.notes };
}

const facts = './tools/facts';
const closed = {
  PATH: host.PATH,
  HOME: '/home/ada',
  LANG: 'C',
  LC_ALL: 'C.UTF-8',
  TZ: 'UTC',
  TMPDIR: tmpdir(),
  USER: 'ada',
};
const tricky = ['two words', '"quoted"', "it's", '*', '$HOME', '`id`', '', '--x=1;', 'a\nb', '\\n'];

const found = onTransports([
  {
    title: 'a command with a slash starts from the config file’s folder',
    cites: 'PK-2-01@both PK-2-05@both',
    exec: { command: facts },
    result: { cwd: folder },
  },
  {
    title: 'a bare command is found on PATH',
    cites: 'PK-2-02@both',
    exec: { command: 'facts-on-path' },
    result: { cwd: folder },
  },
  {
    title: '`cwd` starts from the config file’s folder',
    cites: 'PK-2-05@both',
    exec: { command: facts, cwd: 'tools' },
    result: { cwd: join(folder, 'tools') },
  },
  {
    title: 'arguments reach the program as written',
    cites: 'PK-2-03@both',
    exec: { command: facts, args: tricky },
    result: { argv: tricky },
  },
  {
    title: 'the environment is closed',
    cites: 'PK-2-06@both',
    exec: { command: facts },
    result: { env: closed },
  },
  {
    title: 'a name in `env` is forwarded',
    cites: 'PK-2-07@both',
    exec: { command: facts, env: ['API_KEY'] },
    result: { env: { ...closed, API_KEY: 'sk-1234' } },
  },
  {
    title: 'NAME=value sets a literal, which may contain =',
    cites: 'PK-2-08@both',
    exec: { command: facts, env: ['QUERY=a=1&b=2', 'EMPTY='] },
    result: { env: { ...closed, QUERY: 'a=1&b=2', EMPTY: '' } },
  },
  {
    title: 'a process leads a group of its own',
    cites: 'DS-PROC-01@both',
    exec: { command: facts },
    result: { leads: true },
  },
]);

test.each(found)('$title', async ({ on, exec, result }) => {
  const { document, notes } = await callOnce(on, exec);
  expect(document).toMatchObject({ status: 'ok', result });
  expect(notes).toEqual([]);
});

// toMatchObject ignores extra variables, so this test compares the whole closed environment.
const exact = onTransports([
  { title: 'a process sees nothing else of the host', cites: 'PK-2-06@both', env: [], adds: {} },
  {
    title: 'a name that the host lacks is left out',
    cites: 'PK-2-09@both',
    env: ['API_KEY', 'GONE'],
    adds: { API_KEY: 'sk-1234' },
  },
]);

test.each(exact)('$title, and reports it', async ({ on, env, adds }) => {
  const { document, notes } = await callOnce(on, { command: facts, env });
  const result = document.status === 'ok' ? document.result : document;
  expect(result).toHaveProperty('env', { ...closed, ...adds, SIGNALBOX_OWNER: expect.any(String) });
  expect(notes).toEqual(
    env
      .filter((name) => name === 'GONE')
      .map((name) => `warn demo: the environment has no ${name}; it is left out`),
  );
});

const refused = onTransports([
  {
    title: 'a bare command is never found beside the config file',
    cites: 'PK-2-02@both',
    command: 'facts-beside',
    says: '"facts-beside" is not on PATH',
    hint: `${folder} has a file facts-beside: did you mean \`./facts-beside\`?`,
  },
  {
    title: 'two words in `command` are one program name',
    cites: 'PK-2-04@both',
    command: 'python3 x.py',
    says: '"python3 x.py" is not on PATH',
    hint: '`command` is one program name; put the other words into `args: [x.py]`.',
  },
  {
    title: 'a missing command',
    cites: 'PK-2-35@both',
    command: './no-such-tool',
    says: `${folder}/no-such-tool does not exist`,
    hint: 'Check the path; it is relative to the config file’s folder.',
  },
  {
    title: 'a command that is not executable',
    cites: 'PK-2-36@both',
    command: './not-executable',
    says: `${folder}/not-executable is not executable`,
    hint: `Run \`chmod +x ${folder}/not-executable\`.`,
  },
  {
    title: 'a script without a #! line',
    cites: 'PK-2-37@both',
    command: './headless',
    says: `${folder}/headless has no #! line`,
    hint: 'Start the script with a line such as `#!/usr/bin/env python3`.',
  },
  {
    title: 'a script whose interpreter is not there',
    cites: 'PK-2-35@both',
    command: fixture('missing-interpreter'),
    says: `the interpreter of ${fixture('missing-interpreter')}, /no/such/interpreter, does not exist`,
    hint: 'Install it, or correct the #! line; `#!/usr/bin/env interpreter` finds it on PATH.',
  },
]);

test.each(refused)(
  'a process cannot start, and the error says why: $title',
  async ({ on, command, says, hint }) => {
    const { document } = await callOnce(on, { command });
    const message = `"demo" could not be started: ${says}`;
    expect(document).toEqual({ status: 'failed', error: { code: 'PROCESS_START', message, hint } });
  },
);

const failures = [
  {
    title: 'a non-zero exit after a good reply [PK-2-18@oneshot]',
    command: 'crash-after-reply.sh',
    error: { code: 'PROCESS_EXIT', message: expect.stringContaining('exited with code 3') },
  },
  {
    title: 'a signal after a good reply [PK-2-19@oneshot]',
    command: 'killed-after-reply.sh',
    error: { code: 'PROCESS_SIGNAL', message: 'the process was ended by SIGKILL' },
  },
  {
    title: 'an exit whose stdout has a text `error` [PK-2-20@oneshot]',
    command: 'error-with-exit.sh',
    error: { code: 'PROCESS_EXIT', message: 'the database is locked', details: { exit_code: 1 } },
  },
  {
    title: 'an exit with a long last line on stderr [PK-2-15@oneshot PK-2-16@oneshot]',
    command: 'crash-loudly.sh',
    error: { code: 'PROCESS_EXIT', message: `the process exited with code 5: ${'0'.repeat(500)}` },
  },
];

test.each(failures)('is a failure: $title', async ({ command, error }) => {
  const { document } = await callOnce('oneshot', { command: fixture(command) });
  expect(document).toMatchObject({ status: 'failed', error });
});

test('without spec.concurrency as many calls run concurrently as there are cores [DS-PROC-07]', async () => {
  const file = join(folder, 'overlap');
  const runtime = await openTool('server', { command: fixture('overlap') });
  const calls = Array.from({ length: availableParallelism() * 2 + 1 }, () =>
    runtime.tools.call('demo', { file, ms: 300 }),
  );
  await Promise.all(calls);
  await runtime.close();
  expect(readOverlap(file)).toEqual({ calls: calls.length, most: availableParallelism() });
});

/** The exact request of each capability's process and its outcome. */
async function askAll(on: Transport, replies: { tool: string; eval: string; hook: string }) {
  const [program, runtime] = on === 'server' ? ['server-answers', 'server'] : ['answers', 'exec'];
  const entry = (reply: string) =>
    `command: $bin/${program}, runtime: ${runtime}, args: ['${reply}'], env: ["RECORD_FILE=$folder/asked"]`;
  const opened = await open(`
tools:
  demo: {exec: {${entry(replies.tool)}}}
evals:
  tone: {${entry(replies.eval)}}
hooks:
  guard: {${entry(replies.hook)}, hook: provider, phases: [before_call]}
`);
  const tool = await opened.runtime.tools.call('demo', '{"n":12345678901234567890, "x":1.0}');
  const score = await opened.runtime.evals.call('tone', { content: 'grün "☂" <b>&' });
  const request = { provider_id: 'p', model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  const decision = await opened.runtime.hooks.fire({ hook: 'provider', phase: 'before_call', request });
  const asked = readFileSync(join(opened.folder, 'asked'), 'utf8').trim().split('\n');
  return { asked, came: { tool, score, decision } };
}

const evalReply = '{"score": 0.5, "detail": "so so", "data": {"n": 12345678901234567890}}';
const hookReply = '{"allow": true, "metadata": {"by": "guard"}, "reason": "fine"}';

test('a server gets and answers the same requests as a one-shot process [PK-5-02@server PK-5-03@server]', async () => {
  const printed = { tool: '{"result": [1, 2]}', eval: evalReply, hook: hookReply };
  const once = await askAll('oneshot', printed);
  const served = await askAll('server', { ...printed, tool: '[1, 2]' });
  expect(served).toEqual(once);
  expect(once.asked[0]).toBe('{"args":{"n":12345678901234567890, "x":1.0}}');
  expect(once.asked).toHaveLength(3);
  expect(once.came).toMatchObject({
    tool: { status: 'ok', result: [1, 2] },
    score: { status: 'scored', score: 0.5, detail: 'so so' },
    decision: { verdict: 'allow', reason: 'fine', metadata: { by: 'guard' } },
  });
});
