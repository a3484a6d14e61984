import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  config,
  fixture,
  folderOf,
  onlyDocument,
  run,
  runBothWays,
  runJson,
  workspace,
} from './command-line.ts';

const long = '12345678901234567890';

const touch = '#!/bin/sh\ntouch started\necho \'{"result": null}\'\n';

const desk = workspace(
  `
tools:
  echo: {description: Says what it hears., exec: {command: ${fixture('echo-args')}}}
  stdin: {exec: {command: ${fixture('print-stdin')}}}
  text: {exec: {command: ${fixture('prints.sh')}, args: ['{"result": "two\\nlines"}']}}
  numbers: {exec: {command: ${fixture('big-integer.sh')}}}
  server: {exec: {command: ${fixture('server')}, args: [echo], runtime: server}}
  city:
    description: |
      Looks a city up.

      In the atlas.
    input_schema: {type: object, required: [name], properties: {name: {type: string}}}
    exec: {command: ./touch.sh}
  lost: {exec: {command: ${fixture('error-text.sh')}}}
  crash: {exec: {command: ${fixture('crash.sh')}}}
  refund: {exec: {command: ${fixture('pending.sh')}}}
  bare: {description: Declared only.}
`,
  { 'touch.sh': touch },
);

const guarded = workspace(`
tools:
  echo: {exec: {command: ${fixture('echo-args')}}}
  text: {exec: {command: ${fixture('prints.sh')}, args: ['{"result": "hello"}']}}
hooks:
  first: {command: ${fixture('allow-metadata.sh')}, args: [first, '${long}'], hook: tool}
  mark: {command: ${fixture('modify-after-execution')}, hook: tool, phases: [after_execution]}
`);

const denied = workspace(`
tools: {echo: {exec: {command: ${fixture('echo-args')}}}}
hooks:
  first: {command: ${fixture('allow-metadata.sh')}, hook: tool}
  second: {command: ${fixture('deny.sh')}, hook: tool}
`);

test.concurrent('tool list shows every tool, including those that cannot run [DS-CLI-07]', async ({
  expect,
}) => {
  const { code, stdout } = await run('tool list', { cwd: desk });
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    'TOOL     RUNTIME  DESCRIPTION',
    'echo     exec     Says what it hears.',
    'stdin    exec',
    'text     exec',
    'numbers  exec',
    'server   server',
    'city     exec     Looks a city up. In the atlas.',
    'lost     exec',
    'crash    exec',
    'refund   exec',
    'bare     none     Declared only.',
    '',
  ]);
});

test.concurrent('tool list --json includes the schemas [DS-CLI-07 DS-CLI-02]', async ({ expect }) => {
  const { code, document } = await runJson('tool list', { cwd: desk });
  const mcp = { result: null, task: null };
  const bare = { title: null, annotations: {}, approval: null, mcp, input_schema: null, output_schema: null };
  const exec = { ...bare, runtime: 'exec', dialect: 'promptkit' };
  expect({ code, document }).toEqual({
    code: 0,
    document: {
      tools: [
        { name: 'echo', description: 'Says what it hears.', ...exec },
        { name: 'stdin', description: '', ...exec },
        { name: 'text', description: '', ...exec },
        { name: 'numbers', description: '', ...exec },
        { name: 'server', description: '', ...exec, runtime: 'server' },
        {
          name: 'city',
          description: 'Looks a city up.\n\nIn the atlas.\n',
          ...exec,
          input_schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
        },
        { name: 'lost', description: '', ...exec },
        { name: 'crash', description: '', ...exec },
        { name: 'refund', description: '', ...exec },
        {
          ...bare,
          name: 'bare',
          description: 'Declared only.',
          runtime: 'none',
          dialect: null,
        },
      ],
    },
  });
});

const pendingId = expect.stringMatching(/^pending_[\da-f]{16}$/);
const runId = expect.stringMatching(/^run_[\da-f]{16}$/);

test.concurrent.for([
  {
    title: 'ok',
    line: `server --args '{"n": [1, null]}'`,
    code: 0,
    document: { status: 'ok', result: { n: [1, null] } },
    stdout: '{"n": [1, null]}\n',
  },
  {
    title: 'ok with a text',
    line: 'text',
    code: 0,
    document: { status: 'ok', result: 'two\nlines' },
    stdout: 'two\nlines\n',
  },
  {
    title: 'failed by its own word',
    line: 'lost',
    code: 1,
    document: {
      status: 'failed',
      error: {
        code: 'TOOL_ERROR',
        message: 'city not found',
        hint: 'The message comes from the tool: correct the tool or its input.',
      },
    },
    stderr:
      'failed: [TOOL_ERROR] tool "lost": city not found\nhint: The message comes from the tool: correct the tool or its input. See docs/guides/write-tools.md.\n',
  },
  {
    title: 'failed for want of anything to run',
    line: 'bare',
    code: 1,
    document: {
      status: 'failed',
      error: {
        code: 'TOOL_NOT_RUNNABLE',
        message: 'tool "bare" has no exec binding, so there is nothing to run',
        hint: 'Add `exec: {command: …}` to the tool.',
      },
    },
    stderr: expect.stringContaining('failed: [TOOL_NOT_RUNNABLE] tool "bare" has no exec binding'),
  },
  {
    title: 'pending',
    line: 'refund',
    code: 3,
    document: {
      status: 'pending',
      pending: { id: pendingId, run_id: runId, reason: 'requires_approval', message: 'Refund 250 EUR?' },
    },
    stderr: expect.stringMatching(
      /^pending: Refund 250 EUR\? \(requires_approval\)\napprove: {2}signalbox pending approve pending_[\da-f]{16}\nreject: {3}signalbox pending reject pending_[\da-f]{16} --reason REASON\nrespond: {2}signalbox pending respond pending_[\da-f]{16} --result JSON\nthen: {5}signalbox runs resume run_[\da-f]{16}\n$/,
    ),
  },
])(
  'tool call: $title [DS-EXIT-01 DS-JSON-01 DS-JSON-02 DS-JSON-04 DS-CLI-02]',
  async ({ line, code, document, stdout = '', stderr = '' }, { expect }) => {
    expect(await runBothWays(`tool call ${line} --log-level silent`, { cwd: desk })).toEqual({
      people: { code, stdout, stderr },
      programs: { code, document, stderr: '' },
    });
  },
);

test.concurrent('tool call: failed by its process, with the end of its stderr [DS-JSON-02 DS-JSON-08]', async ({
  expect,
}) => {
  const { code, document } = await runJson('tool call crash', { cwd: desk });
  expect({ code, document }).toEqual({
    code: 1,
    document: {
      status: 'failed',
      error: {
        code: 'PROCESS_EXIT',
        message: expect.stringContaining('rules.txt: no such file'),
        hint: 'Correct the program: its stderr says why.',
        details: expect.objectContaining({ stderr: 'reading the rules\nrules.txt: no such file\n' }),
      },
    },
  });
});

test.concurrent('tool call: denied, by the hook that denied it [DS-EXIT-01 DS-JSON-03]', async ({
  expect,
}) => {
  const called = ['tool', 'call', 'echo', '--log-level', 'silent'];
  expect(await runBothWays(called, { cwd: denied })).toEqual({
    people: { code: 1, stdout: '', stderr: 'denied by hook "second": not today\n' },
    programs: {
      code: 1,
      document: { status: 'denied', hook: 'second', reason: 'not today', metadata: { rule: 'weekday' } },
      stderr: '',
    },
  });
});

test.concurrent('tool call: the document has what its hooks report and change [DS-JSON-01]', async ({
  expect,
}) => {
  const { code, stdout } = await run('tool call text --json', { cwd: guarded });
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `{"status":"ok","result":"hello [modified]","metadata":{"first":${long}}}\n`,
  });
});

test.concurrent('a long integer reaches the tool and comes back digit for digit, in both outputs [DS-JSON-01] [PK-3-24]', async ({
  expect,
}) => {
  const args = `{"id":${long},"price":1.10}`;
  const echoed = ['tool', 'call', 'echo', '--args', args];
  const calls = [[...echoed, '--json'], echoed, ['tool', 'call', 'numbers']];
  const ran = await Promise.all(calls.map((call) => run(call, { cwd: desk })));
  expect(ran.map(({ stdout }) => stdout)).toEqual([
    `{"status":"ok","result":${args}}\n`,
    `${args}\n`,
    `${args}\n`,
  ]);
});

test.concurrent.for([
  ['text', `{ "id": ${long} }`, ''],
  ['@FILE', '@args.json', ''],
  ['- for stdin', '-', `{ "id": ${long} }`],
] as const)(
  '--args takes %s, and its bytes reach the tool [DS-CLI-08]',
  async ([, value, stdin], { expect }) => {
    const cwd = folderOf({
      'runtime.yaml': config(`tools: {stdin: {exec: {command: ${fixture('print-stdin')}}}}\n`),
      'args.json': `{ "id": ${long} }`,
    });
    const { code, document } = await runJson(['tool', 'call', 'stdin', '--args', value], { cwd, stdin });
    const result = `{"args":{ "id": ${long} }}\n`;
    expect({ code, document }).toEqual({ code: 0, document: { status: 'ok', result } });
  },
);

test.concurrent('without --args a tool gets {}', async ({ expect }) => {
  const { document } = await runJson('tool call stdin', { cwd: desk });
  expect(document).toEqual({ status: 'ok', result: '{"args":{}}\n' });
});

test.concurrent.for([
  ['are cut off', '{"name": '],
  ['are a list', '["Oslo"]'],
  ['name a member twice', '{"name": "Oslo", "name": "Bergen"}'],
  ['do not fit the schema', '{"name": 5}'],
] as const)('arguments that %s fail the call, and no process starts', async ([, value], { expect }) => {
  const { code, document } = await runJson(['tool', 'call', 'city', '--args', value], { cwd: desk });
  const message = expect.stringMatching(/^tool "city": /);
  const error = { code: 'ARGS_INVALID', message, hint: expect.any(String) };
  expect({ code, document }).toEqual({ code: 1, document: { status: 'failed', error } });
  expect(existsSync(join(desk, 'started'))).toBe(false);
});

test.concurrent.for([
  ['a file that is not there', '@nowhere.json', 'nowhere.json does not exist'],
  ['a folder', '@.', '. is a folder'],
] as const)('--args with %s exits 2 [DS-CLI-12]', async ([, value, says], { expect }) => {
  const hint = 'Check the path; relative paths start from the current folder.';
  const error = { code: 'FILE_UNREADABLE', message: `--args: ${says}`, hint };
  const ran = await runJson(['tool', 'call', 'echo', '--args', value], { cwd: desk });
  expect(ran).toEqual({ code: 2, document: { error }, stderr: '' });
});

test.concurrent('--approve approves in the name of the user, and the tool runs again with the approval', async ({
  expect,
}) => {
  const { code, stdout } = await run(['tool', 'call', 'refund', '--args', `{"id":${long}}`, '--approve'], {
    cwd: desk,
  });
  expect(code).toBe(0);
  expect(stdout).toContain(`"args":{"id":${long}}`);
  expect(JSON.parse(stdout)).toEqual({
    args: { id: expect.any(Number) },
    approval: {
      id: expect.stringMatching(/^pending_/),
      decision: 'approved',
      by: userInfo().username,
      reason: 'approved on the command line',
    },
  });
});

test.concurrent('commands and files are relative to the config, whatever the working directory [DS-CLI-01]', async ({
  expect,
}) => {
  const elsewhere = folderOf({});
  const home = workspace('tools: {city: {exec: {command: ./touch.sh}}}\n', { 'touch.sh': touch });
  const called = `--config ${join(home, 'runtime.yaml')} tool call city --args '{"name": "Oslo"}'`;
  expect(await run(called, { cwd: elsewhere })).toMatchObject({ code: 0, stdout: 'null\n' });
  expect(existsSync(join(home, 'started'))).toBe(true);
  expect(await runJson(called, { cwd: elsewhere })).toMatchObject({
    document: { status: 'ok', result: null },
  });
});

test.concurrent('a tool’s stderr is logged on stderr, line by line [DS-CLI-02]', async ({ expect }) => {
  const { stdout, stderr } = await run('--log-format json tool call crash --json', { cwd: desk });
  expect(onlyDocument(stdout)).toMatchObject({ status: 'failed' });
  expect(
    stderr
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).msg),
  ).toEqual([
    'runtime.yaml:22:5: tools[bare]: has no exec binding: it is listed, but a call of it fails',
    'crash: reading the rules',
    'crash: rules.txt: no such file',
  ]);
});

test('a warning of a config is logged with its line', () => {
  const lines = readFileSync(join(desk, 'runtime.yaml'), 'utf8').split('\n');
  expect(lines[21]).toBe('    bare: {description: Declared only.}');
});

test('a call with an id is one call: its run is shown, and the same call prints the same outcome', async () => {
  const cwd = workspace(
    `
state_store: {type: sqlite, path: state.db}
tools:
  pay: {approval: required, exec: {command: ./count.sh}}
`,
    { 'count.sh': '#!/bin/sh\necho run >> ran.txt\nprintf \'{"result": %s}\' "$(wc -l < ran.txt)"\n' },
  );
  const pay = `tool call pay --args {"cents":1} --id job-1`;
  const asked = await runJson(`${pay} --label shop=berlin`, { cwd });
  const again = await runJson(pay, { cwd });
  expect([asked.code, again.code, again.document]).toEqual([3, 3, asked.document]);
  const { runs } = (await runJson('runs list --label shop=berlin', { cwd })).document as { runs: object[] };
  expect(runs).toMatchObject([{ kind: 'tool', name: 'pay', status: 'pending', labels: { shop: 'berlin' } }]);
  expect(await runJson(`${pay} --approve`, { cwd })).toMatchObject({ code: 0, document: { result: 1 } });
  expect(await runJson(pay, { cwd })).toMatchObject({ code: 0, document: { status: 'ok', result: 1 } });
  const other = await runJson('tool call pay --args {"cents":2} --id job-1', { cwd });
  expect([other.code, JSON.stringify(other.document)]).toEqual([2, expect.stringContaining('CALL_ID_TAKEN')]);
  const labelled = await runJson('tool call pay --label shop=rome --approve', { cwd });
  expect(labelled).toMatchObject({ code: 0, document: { result: 2 } });
});
