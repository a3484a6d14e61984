import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { openRemote } from '../../src/console/remote.ts';
import { type Line, pipeline, type Ran, run } from '../cli/command-line.ts';
import { keysOf, serve } from './serving.ts';

const files = {
  'echo.sh': '#!/bin/sh\ncat > /dev/null\nprintf \'{"result": {"n": 12345678901234567890.50}}\'\n',
  'fail.sh': '#!/bin/sh\n[ -e up ] && printf \'{"result": 1}\' || printf \'{"error": "it is down"}\'\n',
  'pay.pipeline.yaml': pipeline(
    'steps: [{id: look, tool: echo, args: {n: 1}}, {id: pay, tool: pay, args: {cents: 5}}]\noutput: ${steps.pay.result}',
  ),
  'ask.pipeline.yaml': pipeline('steps: [{id: q, ask: {question: "How much?", schema: {type: integer}}}]'),
  'fail.pipeline.yaml': pipeline('steps: [{id: one, tool: echo}, {id: two, tool: fail}]'),
  'many.pipeline.yaml': pipeline(
    'steps: [{id: all, for_each: {items: "${input.list}", concurrency: 4}, tool: echo, args: {n: "${item}"}}]\noutput: ${steps.all}',
  ),
};

const spec = `
decisions: {}
tools:
  echo: {exec: {command: ./echo.sh}}
  fail: {exec: {command: ./fail.sh}}
  pay:
    input_schema: {type: object, properties: {cents: {type: integer}}}
    approval: required
    exec: {command: ./echo.sh}
  wire: {approval: {by: [ada, mara, joe], quorum: 2}, exec: {command: ./echo.sh}}
hooks:
  look: {command: ./allow.sh, hook: tool, phases: [before_execution]}
`;

async function openDesk() {
  const desk = await serve(spec, { ...files, 'allow.sh': '#!/bin/sh\necho \'{"allow": true}\'\n' });
  const { folder, runtime, origin, token } = desk;
  const local = async (line: Line): Promise<Ran> => await run(line, { cwd: folder });
  const remote = async (line: string, url = origin, key = token ?? ''): Promise<Ran> =>
    await run(`${line} --remote ${url}`, { cwd: '/', env: { SIGNALBOX_KEY: key } });
  const begin = async (name: keyof typeof files, input: object = {}) =>
    await runtime.run(join(folder, name), input, { labels: { shop: 'berlin', order: 'A=17' } });
  return { ...desk, local, remote, begin };
}

/** Text names the commands that follow, which have --remote in place of a config. */
function withoutRemote({ code, stdout, stderr }: Ran, origin: string): Ran {
  const plain = (text: string) => text.replaceAll(` --remote ${origin}`, '');
  return { code, stdout: plain(stdout), stderr: plain(stderr) };
}

/** IDs and times of two runs differ. */
function anonymous({ code, stdout, stderr }: Ran): Ran {
  const plain = (text: string) =>
    text
      .replaceAll(/(run|pending|call)_[0-9a-f-]+/g, '$1_ID')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/"duration_ms":[\d.]+/g, '"duration_ms":0');
  return { code, stdout: plain(stdout), stderr: plain(stderr) };
}

test('with --remote, commands print what they print beside the runtime', async () => {
  const { runtime, origin, local, remote, begin } = await openDesk();
  const [waiting, asked, failed] = [
    await begin('pay.pipeline.yaml'),
    await begin('ask.pipeline.yaml'),
    await begin('fail.pipeline.yaml'),
  ];
  const many = await begin('many.pipeline.yaml', { list: Array.from({ length: 120 }, (_, n) => n) });
  const args = `{ "cents": 12345678901234567890,  "text": "${'x'.repeat(9_000)}\\u00e9", "list": [${'1,'.repeat(99)}2.50] }`;
  const long = await runtime.tools.call('pay', args);
  const id = long.status === 'pending' ? long.pending.id : '';
  const [{ id: pay = '' } = {}] = waiting.pending;
  const decided = await runtime.tools.call('pay', { cents: 1 });
  const done = decided.status === 'pending' ? decided.pending.id : '';
  await runtime.pending.approve(done, { by: 'mara', args: '{"cents": 2}' });
  const lines = [
    ...['pending list', 'pending list --all', 'pending list --use not_used', 'pending list --tool @ask'],
    ...[
      'pending list --limit 2',
      `pending list --run ${waiting.run_id}`,
      'pending list --since 1h --status approved',
    ],
    ...[pay, id, done, pay.slice(0, 14)].flatMap((each) => [`pending show ${each}`, `pending check ${each}`]),
    `pending check ${pay} --args '{"cents": "x"}'`,
    `pending check ${pay} --args '{"cents": 1'`,
    ...[
      'runs list',
      'runs list --label order=A=17 --status failed',
      'runs list --limit 1',
      'runs list --since 1h',
    ],
    ...[waiting, asked, failed, many].map(({ run_id }) => `runs show ${run_id}`),
    `runs show ${many.run_id} --step all[7]`,
    `runs show ${failed.run_id.slice(0, 12)}`,
    'decisions list',
    'decisions list --hook look --limit 3',
    ...[
      'pending show pending_0000000000000000',
      'runs show run_0000000000000000',
      `runs show ${asked.run_id} --step none`,
    ],
    `pending approve ${done}`,
    `pending approve ${pay} --args '{"cents": "x"}'`,
    `pending approve ${pay} --args '{'`,
    `pending approve ${asked.pending[0]?.id}`,
    `pending answer ${asked.pending[0]?.id} --value '"five"'`,
    `runs retry ${waiting.run_id}`,
    `runs cancel ${failed.run_id}`,
    `runs resume ${failed.run_id}`,
  ];
  for (const line of lines.flatMap((each) => [each, `${each} --json`]))
    expect({ line, ...withoutRemote(await remote(line), origin) }).toEqual({ line, ...(await local(line)) });
  expect((await remote(`pending show ${id} --json`)).stdout).toContain(`"args":${args}`);
});

test('with --remote, decisions and runs end as beside the runtime', async () => {
  const { runtime, origin, local, remote, begin } = await openDesk();
  const newCall = async (tool: string) => {
    const document = await runtime.tools.call(tool, '{"cents": 1}');
    return document.status === 'pending' ? document.pending.id : '';
  };
  const newRun = async (name: keyof typeof files) => {
    const { run_id, pending } = await begin(name);
    return pending[0]?.id ?? run_id;
  };
  const lines: readonly (readonly [make: () => Promise<string>, line: string, by?: string])[] = [
    [() => newCall('pay'), `pending approve ID --reason fine --args '{ "cents": 2, "more": 1.50 }'`, 'ada'],
    [() => newCall('pay'), 'pending reject ID --reason no', 'ada'],
    [
      () => newCall('pay'),
      `pending respond ID --result '{ "n": 12345678901234567890 }' --reason by-hand`,
      'ada',
    ],
    [() => newCall('wire'), 'pending approve ID', 'ada'],
    [() => newRun('ask.pipeline.yaml'), 'pending answer ID --value 5 --resume', 'ada'],
    [() => newRun('pay.pipeline.yaml'), 'pending approve ID --resume', 'ada'],
    [() => newRun('pay.pipeline.yaml'), 'pending reject ID --reason no --resume', 'ada'],
    [() => newRun('fail.pipeline.yaml'), 'runs retry ID'],
    [() => newRun('fail.pipeline.yaml'), 'runs retry ID --from one'],
    [async () => (await begin('pay.pipeline.yaml')).run_id, 'runs resume ID'],
    [async () => (await begin('pay.pipeline.yaml')).run_id, 'runs cancel ID --reason twice', 'ada'],
  ];
  for (const [make, line, by] of lines)
    for (const json of ['', ' --json']) {
      const [one, other] = [await make(), await make()];
      const there = anonymous(withoutRemote(await remote(line.replace('ID', one) + json), origin));
      const name = by === undefined ? '' : ` --by ${by}`;
      const here = anonymous(await local(`${line.replace('ID', other)}${json}${name}`));
      // The steps of a run are told where it is executed.
      const isExecuted = json === '' && / (?:--resume|retry|resume)\b/.test(line);
      const stderr = isExecuted ? there.stderr : here.stderr;
      expect({ line: line + json, ...there }).toEqual({ line: line + json, ...here, stderr });
    }
});

test('a decision has the name of the key, and a key decides no call of its own', async () => {
  const { folder, runtime, origin, remote } = await openDesk();
  const keys = await keysOf(folder);
  const { key: secret, id: keyId } = await keys.create({ name: 'mara', role: 'approver' });
  const viewer = await keys.create({ name: 'vic', role: 'viewer' });
  const call = async (principal: string) => {
    const document = await runtime.tools.call('pay', { cents: 1 }, { identity: { principal } });
    return document.status === 'pending' ? document.pending.id : '';
  };
  const id = await call('key_other');
  expect(await remote(`pending approve ${id}`, `${origin}/console`, secret)).toMatchObject({ code: 0 });
  expect(await runtime.pending.show(id)).toMatchObject({ by: 'mara', status: 'approved' });
  const own = await remote(`pending approve ${await call(keyId)}`, origin, secret);
  expect(own).toMatchObject({ code: 1, stderr: expect.stringContaining('[OWN_CALL]') });
  const seen = await remote(`pending approve ${await call('key_3')}`, origin, viewer.key);
  expect(seen).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/refused the key.*pendings:decide.*\nhint: Use a key of another role/),
  });
  const listed = await remote('pending list', `${origin}/console/inbox/pending_1`, viewer.key);
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  const wrong = await remote('pending list', origin, 'sbx_wrong');
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/hint: .* another console, or revoked/),
  });
});

test.each([
  [
    'tool list --remote http://127.0.0.1:1',
    /does not work with --remote\nhint: These commands do: `pending list`, .*`decisions list`/,
  ],
  ['runs prune --remote http://127.0.0.1:1', /`prune` does not work/],
  ['pending list --by mara --remote http://127.0.0.1:1', /--by does not work with --remote\nhint: The key/],
  ['pending approve pending_1 --resume --wait --remote http://127.0.0.1:1', /--wait does not work/],
  ['runs resume --all --remote http://127.0.0.1:1', /--all does not work/],
  ['pending list --config a.yaml --remote http://127.0.0.1:1', /--config and --remote cannot be combined/],
  ['pending list --remote http://example.com', /must be https/],
  ['pending list --remote ops.example.com', /is not the address of a console/],
  ['pending list --remote http://127.0.0.1:1/console#key=sbx_1', /without a key.*\nhint: .*SIGNALBOX_KEY/],
] as const)('%s is a USAGE error', async (line, message) => {
  const ran = await run(line, { env: { SIGNALBOX_KEY: 'x' } });
  expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
});

test('a console that cannot be reached, or that refuses the key, is named', async () => {
  const { origin } = await openDesk();
  const refused = await run(`pending list --json --remote ${origin}`);
  expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
    2,
    { error: { code: 'USAGE', message: expect.stringContaining(`${origin} refused the key`) } },
  ]);
  const gone = await run('pending list --json --remote http://127.0.0.1:1');
  expect([gone.code, JSON.parse(gone.stdout)]).toMatchObject([
    1,
    { error: { code: 'REMOTE_FAILED', message: expect.stringContaining('ECONNREFUSED') } },
  ]);
});

/** A server that is no console. Its stream of spaces has no end. */
async function otherServer(answer: { readonly status?: number; readonly text: string } | 'endless' | 'none') {
  const server = createServer((_, response) => {
    if (answer === 'endless') Readable.from(endless()).pipe(response);
    else if (answer !== 'none') response.writeHead(answer.status ?? 200).end(answer.text);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

function* endless() {
  const chunk = Buffer.alloc(1 << 20, ' ');
  for (;;) yield chunk;
}

test.each([
  ['runs list', { text: '<html>' }, 'without a JSON object'],
  ['runs list', { text: '{}' }, 'does not understand'],
  ['runs list', { text: '{"runs": [], "next": "same"}' }, 'the same page twice'],
  ['pending list', { text: '{"pending": [], "next": "same"}' }, 'the same page twice'],
  ['runs show run_1', { text: '{"runs": [{"run_id": "run_1"}]}' }, 'does not understand'],
  ['pending approve pending_1234', { text: '{"pending": []}' }, 'does not understand'],
  ['decisions list', { text: '{"decisions": [{}]}' }, 'does not understand'],
  ['runs list', { status: 302, text: '' }, 'answered 302'],
  ['runs list', { status: 500, text: '{"error": {"code": "INTERNAL", "message": "down"}}' }, 'down'],
  ['runs list', 'endless', 'more than'],
] as const)('%s of a server that answers %o fails with REMOTE_FAILED', async (line, answer, message) => {
  const ran = await run(`${line} --remote ${await otherServer(answer)}`, { env: { SIGNALBOX_KEY: 'x' } });
  expect(ran).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('[REMOTE_FAILED]') });
  expect(ran.stderr).toContain(message);
});

test('an interrupt ends a request without an answer', async () => {
  const stop = new AbortController();
  const desk = openRemote(await otherServer('none'), { key: 'x', signal: stop.signal });
  const asked = desk.runs.page();
  setTimeout(() => stop.abort(new Error('interrupted')), 20);
  await expect(asked).rejects.toThrow('interrupted');
});

test('a key that no header can have is refused without its text', async () => {
  const ran = await run('runs list --remote http://127.0.0.1:1', { env: { SIGNALBOX_KEY: 'sbx_a\nsecret' } });
  expect(ran).toMatchObject({ code: 2, stderr: expect.not.stringContaining('secret') });
});
