import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Binding } from '../../src/process/binding.ts';
import { createPool } from '../../src/process/pool.ts';
import type { Handshake } from '../../src/process/transport.ts';
import {
  allOf,
  bind,
  bindPuppet,
  bindQuick,
  bindServer,
  dropped,
  faultOf,
  type Opened,
  open,
  stderrOf,
} from './harness.ts';

const greeting: Handshake = { message: { method: 'hook.hello', body: '{}' }, check: () => undefined };
const hello = '{"jsonrpc":"2.0","id":1,"method":"hook.hello","params":{}}\n';

function bindGreeted(overrides: Partial<Binding> = {}): Binding {
  return bind('wants-greeting', { mode: 'server', args: ['{"ok":true}'], ...overrides });
}

const note = (n: number) => ({ method: 'hook.event', body: `{"n":${n}}` });
const noted = (n: number) => `{"jsonrpc":"2.0","method":"hook.event","params":{"n":${n}}}\n`;
const asked = (id: number, n: number) =>
  `{"jsonrpc":"2.0","id":${id},"method":"execute","params":{"args":{"n":${n}}}}\n`;

async function tell({ transport }: Opened, message: { method: string; body: string }, signal?: AbortSignal) {
  await transport.notify?.(message, signal);
}

describe('a notification', () => {
  test('has no id, keeps its text, and starts the server, greeting first', async () => {
    const opened = await open(bindGreeted(), { greeting });
    await tell(opened, { method: 'hook.event', body: '{"n": 12345678901234567890, "s":"<\\u2028>"}' });
    await opened.transport.close();
    expect(stderrOf(opened.events)).toBe(
      `${hello}{"jsonrpc":"2.0","method":"hook.event","params":{"n": 12345678901234567890, "s":"<\\u2028>"}}\n`,
    );
  });

  test('keeps its place among the requests [PC-4-07@server]', async () => {
    const opened = await open(bindGreeted(), { greeting });
    const sent = [tell(opened, note(1)), opened.call({ n: 2 }), tell(opened, note(3))];
    await Promise.all(sent);
    await Promise.all([tell(opened, note(4)), tell(opened, note(5)), opened.call({ n: 6 })]);
    await opened.transport.close();
    expect(stderrOf(opened.events)).toBe(
      hello + noted(1) + asked(2, 2) + noted(3) + noted(4) + noted(5) + asked(3, 6),
    );
  });

  test('that is answered with a null id affects no request [PC-4-02@server]', async () => {
    const opened = await open(bindGreeted(), { greeting });
    const answered = opened.call({ n: 1 });
    await tell(opened, note(2));
    expect(await answered).toBe('2');
    const silent = new AbortController();
    const waiting = opened.fault({ silent: 1 }, silent.signal);
    await tell(opened, note(3));
    expect(await opened.call({ n: 4 })).toBe('6');
    silent.abort();
    expect((await waiting).code).toBe('ABORTED');
    expect(dropped(opened.events)).toEqual(
      [1, 2].map(() => 'noise: a reply without an id: {"jsonrpc":"2.0","id":null,"result":null}'),
    );
  });

  test('needs no slot of the pool', async () => {
    const pool = createPool(1);
    const opened = await open(bindGreeted(), { greeting, pool });
    const release = Promise.withResolvers<void>();
    const held = pool.add(() => release.promise);
    await tell(opened, note(1));
    release.resolve();
    await held;
    await opened.transport.close();
    expect(stderrOf(opened.events)).toBe(hello + noted(1));
  });

  test('always goes to the same one of several instances', async () => {
    const opened = await open(bindGreeted({ instances: 3 }), { greeting });
    for (const n of [1, 2, 3]) await tell(opened, note(n));
    await opened.transport.close();
    expect(stderrOf(opened.events)).toBe(hello + noted(1) + noted(2) + noted(3));
  });

  test('cannot be sent to a one-shot process', async () => {
    const { transport } = await open(bind('hang.sh'));
    expect(transport.notify).toBeUndefined();
  });
});

describe('a notification fails', () => {
  const big = { method: 'hook.event', body: JSON.stringify({ text: 'x'.repeat(100_000) }) };

  test('as PROCESS_TIMEOUT when nobody reads it, and an unsent one is withdrawn', async () => {
    const opened = await open(bindServer('never-reads', { maxOutputBytes: 150_000 }));
    const brief = { ...big, timeoutMs: 300 };
    const faults = await Promise.all([faultOf(tell(opened, brief)), faultOf(tell(opened, brief))]);
    expect(faults.map(({ code, message }) => [code, message])).toEqual(
      Array(2).fill(['PROCESS_TIMEOUT', '"demo" did not read a notification within 300 ms']),
    );
    // The second left no bytes behind; otherwise this one would be SERVER_BUSY.
    expect((await faultOf(tell(opened, brief))).code).toBe('PROCESS_TIMEOUT');
  });

  test('as SERVER_BUSY when too much is unread', async () => {
    const opened = await open(bindServer('never-reads', { maxOutputBytes: 150_000 }));
    const caller = new AbortController();
    const waiting = [1, 2].map(() => faultOf(tell(opened, big, caller.signal)));
    await opened.event('process.started');
    expect((await faultOf(tell(opened, big))).code).toBe('SERVER_BUSY');
    caller.abort();
    expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual(['ABORTED', 'ABORTED']);
  });

  test('as SERVER_EXIT when the server dies before it was read', async () => {
    const opened = await open(bindPuppet());
    const dying = opened.fault({ ms: 300, exit: 3 });
    const unread = [1, 2].map(() => faultOf(tell(opened, big)));
    expect((await dying).code).toBe('SERVER_EXIT');
    expect((await Promise.all(unread)).map(({ code }) => code)).toEqual(['SERVER_EXIT', 'SERVER_EXIT']);
  });

  test('with the error of the greeting and its stage', async () => {
    const opened = await open(bind('wants-greeting', { mode: 'server', args: ['dies'] }), { greeting });
    expect(await faultOf(tell(opened, note(1)))).toMatchObject({
      code: 'SERVER_EXIT',
      details: { exit_code: 3, stage: 'hello' },
    });
  });

  test('as ABORTED if the caller aborted before, and nothing is started', async () => {
    const opened = await open(bindQuick());
    expect((await faultOf(tell(opened, note(1), AbortSignal.abort()))).code).toBe('ABORTED');
    await opened.transport.close();
    expect(opened.events).toEqual([]);
  });

  test('as RUNTIME_CLOSED after close()', async () => {
    const opened = await open(bindQuick());
    await opened.transport.close();
    expect((await faultOf(tell(opened, note(1)))).code).toBe('RUNTIME_CLOSED');
    expect(opened.events).toEqual([]);
  });

  test('as SERVER_CIRCUIT_OPEN, and the trial afterwards neither closes nor opens it', async () => {
    const restart = { firstDelayMs: 10, maxDelayMs: 20, circuitDeaths: 2, circuitPauseMs: 300 };
    const opened = await open(bindQuick({ restart }));
    for (const _ of [1, 2]) await opened.fault({ die: 7 });
    expect((await faultOf(tell(opened, note(1)))).code).toBe('SERVER_CIRCUIT_OPEN');
    await sleep(restart.circuitPauseMs + 50);
    for (const n of [2, 3]) await tell(opened, note(n));
    expect(allOf(opened.events, 'circuit.opened')).toHaveLength(1);
    expect((await opened.fault({ die: 7 })).code).toBe('SERVER_EXIT');
    expect((await faultOf(tell(opened, note(4)))).code).toBe('SERVER_CIRCUIT_OPEN');
  });
});
