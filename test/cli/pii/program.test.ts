import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { asking, executing, user } from '../../builtins/pii/support.ts';
import { start } from '../command-line.ts';
import { program, runPii } from './run.ts';

const secret = '4111 1111 1111 1111';
const payload = asking([user(`card ${secret}`)]);
const rpc = (id: unknown, params: unknown) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method: 'execute', params })}\n`;

describe('one-shot', () => {
  test.each([
    { title: 'on one line', stdin: `${JSON.stringify(payload)}\n` },
    { title: 'on many lines, without an end', stdin: JSON.stringify(payload, null, 2) },
    { title: 'behind a byte order mark and blank lines', stdin: `\ufeff\n\n${JSON.stringify(payload)}` },
  ])('answers one object $title', async ({ stdin }) => {
    const { code, stdout, stderr } = await runPii([], { stdin });
    expect({ code, stderr, reply: JSON.parse(stdout) }).toEqual({
      code: 0,
      stderr: '',
      reply: {
        allow: true,
        replace: { messages: [user('card [CREDIT_CARD]')] },
        metadata: { pii: { CREDIT_CARD: 1 } },
      },
    });
  });

  test.each([
    { title: 'nothing', stdin: '' },
    { title: 'no JSON', stdin: `card ${secret}` },
    { title: 'two objects', stdin: `${JSON.stringify(payload)}\n${JSON.stringify(payload)}\n` },
    { title: 'a list', stdin: JSON.stringify([payload]) },
    { title: 'another phase', stdin: JSON.stringify({ ...payload, phase: secret }) },
    { title: 'a payload nested too deeply', stdin: `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
  ])('fails on $title, without quoting it', async ({ stdin }) => {
    const { code, stdout, stderr } = await runPii([], { stdin });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ error: expect.stringMatching(/.+/) });
    expect(stderr).toMatch(/^signalbox-pii: .+\n$/);
    expect(stdout + stderr).not.toContain('1111');
  });
});

test('a line that is not UTF-8 fails one object of many lines too', async () => {
  const { child, ran } = start([program], { stdin: null }, [process.execPath]);
  // Without its broken line, the object would be valid and harmless.
  const pretty = JSON.stringify(asking([{ name: 'é', role: 'user', content: 'hi' }]), null, 1);
  child.stdin?.end(Buffer.from(pretty, 'latin1'));
  const { code, stdout } = await ran;
  expect({ code, reply: JSON.parse(stdout) }).toEqual({ code: 1, reply: { error: expect.any(String) } });
});

describe('server', () => {
  test('answers every line by its id, and continues after lines that it cannot answer', async () => {
    const lines = [
      rpc(1, payload),
      '\n',
      rpc(2, { ...payload, phase: secret }),
      rpc(3, executing({ n: 1 })),
      `card ${secret}\n`,
      '{"jsonrpc":"2.0","id":4}\n',
      rpc(5, payload).trimEnd(),
    ];
    const { code, stdout, stderr } = await runPii(['--action', 'block'], { stdin: lines.join('') });
    const denied = {
      allow: false,
      reason: 'the request holds 1 credit card',
      metadata: { pii: { CREDIT_CARD: 1 } },
    };
    const failed = (id: number | null, number: number) => ({
      jsonrpc: '2.0',
      id,
      error: { code: number, message: expect.stringMatching(/.+/) },
    });
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { jsonrpc: '2.0', id: 1, result: denied },
      failed(2, -32_602),
      { jsonrpc: '2.0', id: 3, result: { allow: true, metadata: { pii: {} } } },
      failed(null, -32_700),
      failed(4, -32_602),
      { jsonrpc: '2.0', id: 5, result: denied },
    ]);
    expect(stderr.trimEnd().split('\n')).toHaveLength(3);
    expect(stdout + stderr).not.toContain('1111');
  });

  test('a line that is not UTF-8 fails', async () => {
    const { child, ran } = start([program], { stdin: null }, [process.execPath]);
    child.stdin?.write(rpc(1, payload));
    child.stdin?.write(Buffer.from(rpc(2, asking([user('é')])), 'latin1'));
    child.stdin?.end();
    const { code, stdout } = await ran;
    expect({ code, ids: stdout.match(/"id":(\d|null)/g) }).toEqual({ code: 0, ids: ['"id":1', '"id":null'] });
  });

  test('too deeply nested input fails under its id', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const lines = [rpc(1, payload), `{"jsonrpc":"2.0","id":2,"params":{"request":${deep}}}\n`];
    const { code, stdout } = await runPii([], { stdin: lines.join('') });
    expect({ code, ids: stdout.match(/"id":\d,"\w+/g) }).toEqual({
      code: 0,
      ids: ['"id":1,"result', '"id":2,"error'],
    });
  });

  test('ends when its stdout is closed', async () => {
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdout.destroy();
    child.stdin.on('error', () => {});
    const writing = setInterval(() => child.stdin.write(rpc(1, payload)), 20);
    const [code] = await once(child, 'exit').finally(() => clearInterval(writing));
    child.stdin.destroy();
    expect(code).toBe(1);
  });
});

describe('settings', () => {
  const reply = async (
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    asked: object = payload,
  ) => {
    const { stdout } = await runPii(args, { stdin: JSON.stringify(asked), env });
    return JSON.parse(stdout);
  };

  test('come from the environment, and from arguments, which take precedence', async () => {
    const env = { SIGNALBOX_PII_ACTION: 'block', SIGNALBOX_PII_ENTITIES: 'IP_ADDRESS' };
    const both = asking([user(`${secret}, 203.0.113.7`)]);
    expect(await reply([], env, both)).toMatchObject({ allow: false, metadata: { pii: { IP_ADDRESS: 1 } } });
    expect(
      await reply(['--entities', 'credit_card', '--action=redact,CREDIT_CARD=mask'], env, both),
    ).toMatchObject({
      replace: { messages: [user('**** **** **** 1111, 203.0.113.7')] },
    });
  });

  test('a key makes hashes the same in every process; without one they differ', async () => {
    const hashes = async (env: Readonly<Record<string, string>>) => [
      await reply(['--action', 'hash'], env),
      await reply(['--action', 'hash'], env),
    ];
    const [one, other] = await hashes({ SIGNALBOX_PII_KEY: 'k' });
    expect(one).toEqual(other);
    const [third, fourth] = await hashes({ SIGNALBOX_PII_KEY: '' });
    expect(third).not.toEqual(fourth);
  });

  test('allow values and patterns, which match whole values', async () => {
    const asked = asking([user('a@example.org, b@example.org, c@example.orgs.com')]);
    const args = ['--allow', 'A@example.org', '--allow', '/[bc]@example\\.org/'];
    expect(await reply(args, {}, asked)).toMatchObject({
      replace: { messages: [user('a@example.org, b@example.org, [EMAIL_ADDRESS]')] },
    });
    expect(await reply([], { SIGNALBOX_PII_ALLOW: '/.@example\\.org/\nc@example.orgs.com' }, asked)).toEqual({
      allow: true,
      metadata: { pii: {} },
    });
  });

  test('the region decides which national numbers are phone numbers', async () => {
    const asked = asking([user('030 901820')]);
    expect(await reply(['--region', 'us,de'], {}, asked)).toMatchObject({
      metadata: { pii: { PHONE_NUMBER: 1 } },
    });
  });

  test.each([
    { args: ['--entities', 'EMAIL'], says: /no entity "EMAIL".*EMAIL_ADDRESS/ },
    { args: ['--action', 'zap'], says: /no action "zap".*pseudonymise/ },
    { args: ['--action', 'EMAIL=mask'], says: /no entity "EMAIL"/ },
    { args: ['--action', 'EMAIL_ADDRESS=zap'], says: /no action "zap"/ },
    { args: ['--region', 'USA'], says: /no region "USA".*US or DE/ },
    { args: ['--restore', 'all'], says: /"all".*answer, args and none/ },
    { args: ['--allow', '/(/'], says: /pattern \/\(\/.*regular expression/ },
    { args: ['--entites', 'default'], says: /--entites.*did you mean .--entities/ },
    { args: ['EMAIL_ADDRESS'], says: /EMAIL_ADDRESS.*--help/ },
    { args: ['--action'], says: /--action.*--help/ },
  ])('exit with code 2 and the next step if they are wrong: $args', async ({ args, says }) => {
    const { code, stdout, stderr } = await runPii(args, { stdin: JSON.stringify(payload) });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).toMatch(/^signalbox-pii: [^\n]+\n$/);
  });

  test('--help documents everything', async () => {
    const { code, stdout, stderr } = await runPii(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const word of ['--entities', 'SIGNALBOX_PII_KEY', 'pseudonymise', 'US_SSN', 'PERSON']) {
      expect(stdout).toContain(word);
    }
  });
});
