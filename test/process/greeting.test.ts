import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { RuntimeError, toFault } from '../../src/base/errors.ts';
import type { Binding } from '../../src/process/binding.ts';
import type { Handshake, Reply } from '../../src/process/transport.ts';
import { allOf, bind, isRunning, launchers, numberAfter, open, stderrOf, textOf, until } from './harness.ts';

const accepted = '{"ok":true}';

function checkOk(reply: Reply | RuntimeError): RuntimeError | undefined {
  if (reply instanceof RuntimeError || textOf(reply) === accepted) return undefined;
  return new RuntimeError('REPLY_MALFORMED', `it said ${textOf(reply)}`, { hint: 'Say ok.' });
}

const message = { method: 'hook.hello', body: '{"version":1}' };
const greeting: Handshake = { message: { ...message, timeoutMs: 10_000 }, check: checkOk };
const impatient: Handshake = { message: { ...message, timeoutMs: 300 }, check: checkOk };
const hello = '{"jsonrpc":"2.0","id":1,"method":"hook.hello","params":{"version":1}}\n';

const request = (id: number, args: object) =>
  `{"jsonrpc":"2.0","id":${id},"method":"execute","params":${JSON.stringify({ args })}}\n`;

/** `said` is the reply of the fixture `wants-greeting` to a greeting. */
function bindGreeted(said: string | readonly string[] = accepted, overrides: Partial<Binding> = {}): Binding {
  return bind('wants-greeting', { mode: 'server', args: [said].flat(), ...overrides });
}

const calm = { firstDelayMs: 10, maxDelayMs: 20, circuitDeaths: 3, circuitPauseMs: 60_000 };

describe.each(launchers)('a server that is greeted, through the %s launcher', (launcher) => {
  test('receives the greeting first and once, with any concurrent calls [PC-3-01@server PK-5-08@server]', async () => {
    const opened = await open(bindGreeted(), { launcher, greeting });
    const replies = await Promise.all([opened.call({ n: 1 }), opened.call({ n: 2 }), opened.call({ n: 3 })]);
    expect(replies).toEqual(['2', '3', '4']);
    await opened.transport.close();
    expect(stderrOf(opened.events)).toBe(
      hello + request(2, { n: 1 }) + request(3, { n: 2 }) + request(4, { n: 3 }),
    );
    expect(allOf(opened.events, 'process.started')).toHaveLength(1);
  });

  test('is greeted again in every life, with ids from 1 [PC-3-10@server]', async () => {
    const opened = await open(bindGreeted(), { launcher, greeting });
    expect((await opened.fault({ die: 1 })).code).toBe('SERVER_EXIT');
    await opened.event('process.ended');
    expect(await opened.call({ n: 1 })).toBe('2');
    await opened.transport.close();
    const life = hello + request(2, { die: 1 });
    expect(stderrOf(opened.events)).toBe(life + hello + request(2, { n: 1 }));
  });

  test('that is refused is killed with its group [PC-3-09@server]', async () => {
    const script = `sleep 60 & echo "child $!" >&2; read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; wait`;
    const binding = bind('/bin/sh', { mode: 'server', args: ['-c', script], graceMs: 60_000 });
    const opened = await open(binding, { launcher, greeting });
    expect((await opened.fault()).code).toBe('REPLY_MALFORMED');
    const child = numberAfter('child', (await opened.event('stderr')).line);
    await until(() => !isRunning(child), 'end of the child');
    expect(await opened.event('process.ended')).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
  });
});

const refusals = [
  {
    title: 'the check refuses',
    said: '{"ok":false}',
    fault: { code: 'REPLY_MALFORMED', message: 'it said {"ok":false}', hint: 'Say ok.' },
  },
  {
    title: 'is an error',
    said: 'error',
    fault: { code: 'REPLY_MALFORMED', message: 'it said {"code":-1,"message":"no"}', hint: 'Say ok.' },
  },
  {
    title: 'never comes',
    said: 'silent',
    fault: {
      code: 'PROCESS_TIMEOUT',
      message: '"demo" did not answer its greeting within 300 ms',
      hint: 'It has written nothing to stdout since it started: if it is not just slow, it must flush each reply (Python: `print(…, flush=True)`), and must not wait for the end of stdin.',
    },
  },
  {
    title: 'has no id',
    said: 'nameless',
    fault: { code: 'PROCESS_TIMEOUT', message: '"demo" did not answer its greeting within 300 ms' },
  },
  {
    title: 'is an exit',
    said: 'dies',
    fault: {
      code: 'SERVER_EXIT',
      details: { exit_code: 3 },
      hint: 'The next call starts it again; the message has the last line of its stderr.',
    },
  },
  { title: 'is too long', said: 'long', fault: { code: 'OUTPUT_LIMIT' } },
];

describe('a greeting with an answer that', () => {
  test.each(refusals)(
    '$title fails all callers that wait for it, and no request is sent',
    async ({ said, fault }) => {
      const opened = await open(bindGreeted(said), { greeting: said === 'long' ? greeting : impatient });
      const faults = await Promise.all([opened.fault({ n: 1 }), opened.fault({ n: 2 })]);
      expect(faults.map(toFault)).toMatchObject([
        { ...fault, details: { stage: 'hello' } },
        { ...fault, details: { stage: 'hello' } },
      ]);
      await opened.transport.close();
      expect(stderrOf(opened.events)).toBe(hello);
      expect(allOf(opened.events, 'process.started')).toHaveLength(1);
    },
  );

  test('is not a result is left to the check', async () => {
    const lenient = await open(bindGreeted('bare'), { greeting });
    expect(await lenient.call({ n: 1 })).toBe('2');
    const check = (reply: Reply | RuntimeError) => (reply instanceof RuntimeError ? reply : undefined);
    const strict = await open(bindGreeted('bare'), { greeting: { message, check } });
    expect(toFault(await strict.fault({ n: 1 }))).toMatchObject({
      code: 'REPLY_MALFORMED',
      details: { problem: 'no_result', stage: 'hello' },
    });
  });

  test('is an exit without stderr refers to none', async () => {
    const binding = bind('/bin/sh', { mode: 'server', args: ['-c', 'read -r line; exit 3'] });
    const { hint, details } = await (await open(binding, { greeting: impatient })).fault();
    expect([details['stage'], hint]).toEqual([
      'hello',
      'It wrote nothing to stderr. It is restarted on the next call.',
    ]);
  });

  test('makes the check throw is refused', async () => {
    const check = () => {
      throw new Error('what is this?');
    };
    const opened = await open(bindGreeted(), { greeting: { message, check } });
    expect(toFault(await opened.fault())).toMatchObject({
      code: 'INTERNAL',
      message: 'what is this?',
      details: { stage: 'hello' },
    });
  });

  test('is refused again and again opens the circuit: each is one death [PC-3-09@server]', async () => {
    const opened = await open(bindGreeted('{"ok":false}', { restart: calm }), { greeting });
    const codes: string[] = [];
    for (let call = 0; call < 4; call++) codes.push((await opened.fault()).code);
    expect(codes).toEqual([...Array(3).fill('REPLY_MALFORMED'), 'SERVER_CIRCUIT_OPEN']);
    expect(allOf(opened.events, 'circuit.opened').map(({ deaths }) => deaths)).toEqual([3]);
  });

  test('is good is not a good reply: a server that dies of every request opens the circuit', async () => {
    const opened = await open(bindGreeted(accepted, { restart: calm }), { greeting });
    const codes: string[] = [];
    for (let call = 0; call < 4; call++) {
      codes.push((await opened.fault({ die: 1 })).code);
      await opened.event('process.ended', Math.min(call, 2));
    }
    expect(codes).toEqual([...Array(3).fill('SERVER_EXIT'), 'SERVER_CIRCUIT_OPEN']);
  });

  test('takes longer than a call may is awaited, and the call has its own time after it [PC-3-03]', async () => {
    const opened = await open(bindGreeted([accepted, '0.9']), { greeting });
    const limit = { method: 'execute', timeoutMs: 500 };
    const answered = opened.transport.exchange({ ...limit, body: '{"args":{"n":1}}' });
    expect(textOf(await answered)).toBe('2');
    const late = opened.transport.exchange({ ...limit, body: '{"args":{"silent":1}}' });
    await expect(late).rejects.toMatchObject({
      code: 'PROCESS_TIMEOUT',
      message: '"demo" did not answer within 500 ms',
      details: {},
    });
  });

  test('one caller aborts still serves the others', async () => {
    const opened = await open(bindGreeted([accepted, '0.3']), { greeting });
    const caller = new AbortController();
    const givenUp = opened.fault({ n: 1 }, caller.signal);
    const waiting = opened.call({ n: 2 });
    await opened.event('stderr');
    caller.abort();
    expect((await givenUp).code).toBe('ABORTED');
    expect(await waiting).toBe('2');
  });

  test('is awaited ends with close(), and the server as if it were idle', async () => {
    const opened = await open(bindGreeted('silent', { graceMs: 10_000 }), { greeting });
    const waiting = opened.fault({ n: 1 });
    await opened.event('stderr');
    await opened.transport.close();
    expect((await waiting).code).toBe('RUNTIME_CLOSED');
    expect(allOf(opened.events, 'process.ended')).toMatchObject([{ exitCode: 0, signal: null }]);
  });
});

describe('a server with a greeting', () => {
  test('that cannot be started names its stage', async () => {
    const binding = bind('./no-such-program', { mode: 'server' });
    const [greeted, bare] = [await open(binding, { greeting }), await open(binding)];
    expect(toFault(await greeted.fault())).toMatchObject({
      code: 'PROCESS_START',
      details: { stage: 'start' },
    });
    expect(toFault(await bare.fault()).details).toBeUndefined();
  });

  test('that is not ready in time has not started, which is no timeout of the call', async () => {
    const restart = { firstDelayMs: 60_000, maxDelayMs: 60_000, circuitDeaths: 9, circuitPauseMs: 1 };
    const binding = bindGreeted('dies', { restart, timeoutMs: 200 });
    const opened = await open(binding, { greeting: impatient });
    for (const _ of [1, 2]) expect((await opened.fault()).code).toBe('SERVER_EXIT');
    expect(toFault(await opened.fault())).toMatchObject({
      code: 'PROCESS_START',
      message: '"demo" could not be started: it was not ready within 500 ms',
      details: { stage: 'start' },
    });
    expect(allOf(opened.events, 'process.started')).toHaveLength(2);
  });

  test('is greeted by warm(), before any call', async () => {
    const opened = await open(bindGreeted(), { greeting });
    opened.transport.warm();
    await opened.event('stderr');
    await sleep(50);
    expect(stderrOf(opened.events)).toBe(hello);
    expect(await opened.call({ n: 1 })).toBe('2');
  });

  test('greets each of its instances', async () => {
    const opened = await open(bindGreeted(accepted, { instances: 2 }), { greeting });
    expect(await Promise.all([opened.call({ n: 1 }), opened.call({ n: 2 })])).toEqual(['2', '2']);
  });
});
