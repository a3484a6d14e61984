import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { toFault } from '../../src/base/errors.ts';
import type { RuntimeEvent } from '../../src/contract/event.ts';
import { expectOrphan } from '../leaks.ts';
import {
  allOf,
  bind,
  dropped,
  faultOf,
  fixture,
  isRunning,
  launchers,
  numberAfter,
  open as openWith,
  stderrOf,
  textOf,
  until,
} from './harness.ts';

const good = '{"allow": true, "result": 1, "score": 1}\n';

describe.each(launchers)('one-shot through the %s launcher', (launcher) => {
  const open = (binding: Parameters<typeof openWith>[0], onEvent?: (event: RuntimeEvent) => void) =>
    openWith(binding, { launcher, ...(onEvent && { onEvent }) });

  test('starts one process for each call, with one request on its stdin [PK-1-04@oneshot]', async () => {
    const { call, events } = await open(bind('print-stdin'));
    const replies = [await call({ call: 1 }), await call({ call: 2 })].map((text) => JSON.parse(text).result);
    expect(replies).toEqual(['{"args":{"call":1}}\n', '{"args":{"call":2}}\n']);
    const pids = allOf(events, 'process.started').map(({ pid }) => pid);
    expect(new Set(pids).size).toBe(2);
    expect(allOf(events, 'process.ended')).toEqual(
      pids.map((pid) => ({ type: 'process.ended', name: 'demo', pid, exitCode: 0, signal: null })),
    );
  });

  test('writes the body unchanged, one newline, and the end [PK-2-10@oneshot]', async () => {
    const { transport } = await open(bind('print-stdin'));
    const body = '{"args":{"text":"<b>&grün ☂ \\" / \\u2028","n":12345678901234567890}}';
    const reply = await transport.exchange({ method: 'execute', body });
    expect(JSON.parse(textOf(reply)).result).toBe(`${body}\n`);
  });

  test('ends the body with the terminator of the message, if any', async () => {
    const { transport } = await open(bind('print-stdin'));
    const seen: unknown[] = [];
    for (const [body, ending] of [
      ['{"n":1}', '\n'],
      ['{"n":1}', ''],
      ['', ''],
    ] as const) {
      seen.push(
        JSON.parse(textOf(await transport.exchange({ method: 'call', body, terminator: ending }))).result,
      );
    }
    expect(seen).toEqual(['{"n":1}\n', '{"n":1}', '']);
  });

  test('adds variables to one exchange, removes others, and leaves the next one alone', async () => {
    const env = { ...bind('print-env').env, KEPT: 'old', CHANGED: 'old', GONE: 'old' };
    const { transport } = await open(bind('print-env', { env }));
    const ask = async (changes?: Record<string, string | undefined>) => {
      const message = { method: 'call', body: '', ...(changes && { env: changes }) };
      return JSON.parse(textOf(await transport.exchange(message))).result;
    };
    const { GONE: _, ...rest } = env;
    const SIGNALBOX_OWNER = expect.stringMatching(/^\d+\.\d+\.\d+\.[0-9a-f]{8}\.kill$/);
    expect(await ask({ CHANGED: 'new', ADDED: '', GONE: undefined, NEVER: undefined })).toEqual({
      ...rest,
      CHANGED: 'new',
      ADDED: '',
      SIGNALBOX_OWNER,
    });
    expect(await ask()).toEqual({ ...env, SIGNALBOX_OWNER });
  });

  test('gives the whole of stdout, with stderr and the exit', async () => {
    const { transport } = await open(bind('/bin/sh', { args: ['-c', 'echo a; echo b >&2; echo c; exit 4'] }));
    const reply = await transport.exchange({ method: 'execute', body: '{}' });
    const stdout = Buffer.from('a\nc\n');
    expect(reply).toEqual({ via: 'process', exitCode: 4, signal: null, stdout, stderr: 'b\n' });
  });

  test.each([
    { title: 'never reads it', command: 'never-reads.sh', args: [] },
    { title: 'closes stdin', command: '/bin/sh', args: ['-c', 'exec 0<&-; sleep 0.1; echo unread'] },
    { title: 'reads three bytes of it', command: '/bin/sh', args: ['-c', 'head -c 3; echo unread'] },
  ])('accepts the answer of a child that, of 1 MiB, $title [PK-2-11@oneshot]', async ({ command, args }) => {
    const { call } = await open(bind(command, { args }));
    expect(await call({ text: 'x'.repeat(1024 * 1024) })).toContain('unread');
  });

  test.each([
    {
      title: '/dev/stdin at once [DS-PROC-02@oneshot]',
      command: 'opens-dev-stdin.sh',
      result: { args: { n: 1 } },
    },
    {
      title: '/dev/stdin late [DS-PROC-02@oneshot]',
      command: 'opens-dev-stdin-late.sh',
      result: { args: { n: 1 } },
    },
    {
      title: '/dev/stdout twice [DS-PROC-03@oneshot]',
      command: 'writes-dev-stdout.sh',
      result: 'two pieces',
    },
  ])('lets a script open $title', async ({ command, result }) => {
    const { call } = await open(bind(command));
    expect(JSON.parse(await call({ n: 1 }))).toEqual({ allow: true, score: 1, result });
  });

  test('lets a script open /dev/stderr [DS-PROC-04@oneshot]', async () => {
    const { transport } = await open(bind('writes-dev-stderr.sh'));
    const reply = await transport.exchange({ method: 'execute', body: '{}' });
    expect(reply).toMatchObject({ exitCode: 2, stderr: 'blocked by rule 7\n' });
  });

  test('ends the whole group at the deadline [PK-2-25@oneshot]', async () => {
    const { fault, events, event } = await open(bind('hang-with-child.sh', { timeoutMs: 400 }));
    const { message } = await fault();
    expect(await event('process.ended')).toMatchObject({ exitCode: null, signal: 'SIGTERM' });
    await until(() => !isRunning(numberAfter('child', message)), 'end of the child’s child');
    expect(stderrOf(events)).toMatch(/^child \d+\n$/);
  });

  test('answers at the deadline, and kills what ignores SIGTERM after the grace [PK-2-24@oneshot PK-2-26@oneshot]', async () => {
    const { fault, events, event } = await open(
      bind('hang-ignoring-term.sh', { timeoutMs: 400, graceMs: 400 }),
    );
    const { code, message } = await fault();
    const [parent, child] = [numberAfter('parent', message), numberAfter('child', message)];
    expect({ code, running: [isRunning(parent), isRunning(child)] }).toEqual({
      code: 'PROCESS_TIMEOUT',
      running: [true, true],
    });
    expect(allOf(events, 'process.ended')).toEqual([]);
    expect(await event('process.ended')).toMatchObject({ pid: parent, exitCode: null, signal: 'SIGKILL' });
    await until(() => !isRunning(child), 'end of the child’s child');
  });

  test('kills what is left of the group when only the leader obeys SIGTERM', async () => {
    const script = 'sh -c "trap : TERM; while :; do sleep 1; done" & echo child $! >&2; wait';
    const { fault } = await open(bind('/bin/sh', { args: ['-c', script], timeoutMs: 400 }));
    const child = numberAfter('child', (await fault()).message);
    await until(() => !isRunning(child), 'end of the child’s child');
    expect(isRunning(child)).toBe(false);
  });

  test('stops a flood of 64 MiB with OUTPUT_LIMIT and ends the process [PK-2-27@oneshot PK-2-29@oneshot]', async () => {
    const { fault, event } = await open(bind('flood.sh'));
    expect(toFault(await fault())).toEqual({
      code: 'OUTPUT_LIMIT',
      message: '"demo" wrote more than 1048576 bytes to stdout',
      hint: 'Raise max_output_bytes, or write less to stdout.',
    });
    expect(await event('process.ended')).toMatchObject({ exitCode: null, signal: 'SIGTERM' });
  });

  test('takes the reply at the exit although a grandchild holds stdout [PK-2-31@oneshot PK-2-32@oneshot]', async () => {
    const { call, events } = await open(bind('grandchild-holds-stdout.sh', { leftovers: 'keep' }));
    expect(await call()).toBe(good);
    const grandchild = numberAfter('child', stderrOf(events));
    expect(isRunning(grandchild)).toBe(true);
    process.kill(grandchild, 'SIGKILL');
  });

  test.each(['grandchild-holds-stdout.sh', 'grandchild-quiet.sh'])(
    'kills what is left of the group after the reply: %s [PK-2-33@oneshot]',
    async (command) => {
      const { call, transport, events } = await open(bind(command));
      expect(await call()).toBe(good);
      await transport.close();
      const grandchild = numberAfter('child', stderrOf(events));
      await until(() => !isRunning(grandchild), 'end of the grandchild');
      expect(isRunning(grandchild)).toBe(false);
    },
  );

  test('keeps the rest of the group alive if the binding says so [PK-2-34@oneshot]', async () => {
    const { call, transport, events } = await open(bind('grandchild-quiet.sh', { leftovers: 'keep' }));
    expect(await call()).toBe(good);
    await transport.close();
    const grandchild = numberAfter('child', stderrOf(events));
    await sleep(100);
    expect(isRunning(grandchild)).toBe(true);
    process.kill(grandchild, 'SIGKILL');
  });

  test('never kills a grandchild that has its own session [DS-PROC-05@oneshot]', async () => {
    const { call, transport, events } = await open(bind('grandchild-own-session.sh'));
    expect(await call()).toBe(good);
    await transport.close();
    const grandchild = numberAfter('child', stderrOf(events));
    expectOrphan(grandchild);
    await sleep(100);
    expect(isRunning(grandchild)).toBe(true);
    process.kill(grandchild, 'SIGKILL');
  });

  test('aborts at once when the caller does, and ends the process [DS-PROC-10@oneshot]', async () => {
    const { fault, event } = await open(bind('hang.sh'));
    const caller = new AbortController();
    const given = fault({}, caller.signal);
    await event('process.started');
    caller.abort(new Error('the user left'));
    const { code, message, cause } = await given;
    expect({ code, message, cause }).toEqual({
      code: 'ABORTED',
      message: 'the call of "demo" was aborted',
      cause: new Error('the user left'),
    });
    expect(await event('process.ended')).toMatchObject({ signal: 'SIGTERM' });
  });

  test('close() aborts the calls in progress and ends their processes', async () => {
    const { fault, transport, event, events } = await open(bind('hang-with-child.sh'));
    const given = Promise.all([fault(), fault()]);
    await event('stderr', 1);
    await transport.close();
    expect((await given).map(({ code, cause }) => ({ code, cause }))).toEqual(
      Array(2).fill({ code: 'ABORTED', cause: expect.objectContaining({ code: 'RUNTIME_CLOSED' }) }),
    );
    expect(allOf(events, 'process.ended')).toMatchObject([{ signal: 'SIGTERM' }, { signal: 'SIGTERM' }]);
    const children = allOf(events, 'stderr').map(({ line }) => numberAfter('child', line));
    await until(() => !children.some(isRunning), 'end of the children');
  });

  test('concurrent calls do not mix their replies', async () => {
    const { call } = await open(bind('echo-args'));
    const asked = Array.from({ length: 40 }, (_, index) => ({ index, filler: 'x'.repeat(index * 500) }));
    const replies = await Promise.all(asked.map((args) => call(args)));
    expect(replies.map((text) => JSON.parse(text).result)).toEqual(asked);
  });

  test('a reply is complete although this process is too busy to read it in time', async () => {
    const busy = (event: RuntimeEvent) => {
      // Several exits are detected at once, so the last one is reported before its output is read.
      if (event.type === 'stderr') blockFor(250);
      if (event.type === 'process.ended') blockFor(20);
    };
    const script = 'sleep 0.$1; echo "$1" >&2; sleep 0.1; printf "{\\"result\\": %s}" "$1"';
    const start = async (delay: string) => {
      const binding = bind('/bin/sh', { args: ['-c', script, 'sh', delay], drainMs: 1 });
      return await (await open(binding, busy)).call();
    };
    const delays = ['10', '20', '30', '40', '50', '60'];
    const replies = await Promise.all(delays.map(start));
    expect(replies).toEqual(delays.map((delay) => `{"result": ${delay}}`));
  });
});

function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('one-shot', () => {
  test('reports the signal that ended the process', async () => {
    const { transport } = await openWith(bind('killed-after-reply.sh'));
    const reply = await transport.exchange({ method: 'execute', body: '{}' });
    expect(reply).toMatchObject({ via: 'process', exitCode: null, signal: 'SIGKILL' });
  });

  test('answers PROCESS_TIMEOUT after timeoutMs, with the stderr until then [PK-2-21@oneshot PK-2-14@oneshot PK-2-15@oneshot]', async () => {
    const script = 'echo waiting >&2; echo for the lock >&2; exec sleep 60';
    const { fault } = await openWith(bind('/bin/sh', { args: ['-c', script], timeoutMs: 400 }));
    expect(toFault(await fault())).toEqual({
      code: 'PROCESS_TIMEOUT',
      message: '"demo" did not answer within 400 ms: for the lock',
      hint: 'Raise timeout_ms, or find out what the process waits for.',
      details: { timeout_ms: 400, stderr: 'waiting\nfor the lock\n' },
    });
  });

  test.each([
    { title: 'shorter', timeoutMs: 60_000, own: 300 },
    { title: 'longer', timeoutMs: 100, own: 300 },
  ])('a message’s own limit applies, though $title than the binding’s', async ({ timeoutMs, own }) => {
    const { transport } = await openWith(bind('hang.sh', { timeoutMs }));
    const fault = await faultOf(transport.exchange({ method: 'call', body: '', timeoutMs: own }));
    expect(fault).toMatchObject({
      code: 'PROCESS_TIMEOUT',
      message: `"demo" did not answer within ${own} ms`,
    });
  });

  test('a variable with a NUL character starts nothing', async () => {
    const { transport, events } = await openWith(bind('print-env'));
    const message = { method: 'call', body: '', env: { BAD: 'a\0b' } };
    expect((await faultOf(transport.exchange(message))).code).toBe('PROCESS_START');
    expect(events).toEqual([]);
  });

  test('lets a child that obeys SIGTERM clean up, and does not kill it [PK-2-26@oneshot]', async () => {
    const script = 'trap "sleep 0.2; echo cleaned up >&2; exit 9" TERM; while :; do sleep 0.05; done';
    const { fault, event, events } = await openWith(
      bind('/bin/sh', { args: ['-c', script], timeoutMs: 400, graceMs: 10_000 }),
    );
    expect((await fault()).code).toBe('PROCESS_TIMEOUT');
    expect(await event('process.ended')).toMatchObject({ exitCode: 9, signal: null });
    await until(() => stderrOf(events).includes('cleaned up\n'), 'last words');
  });

  test('close() waits for the end of processes that a timed-out call left', async () => {
    const { fault, events, transport } = await openWith(bind('hang-ignoring-term.sh', { timeoutMs: 400 }));
    const { message } = await fault();
    await transport.close();
    expect(isRunning(numberAfter('parent', message))).toBe(false);
    expect(allOf(events, 'process.ended')).toMatchObject([{ signal: 'SIGKILL' }]);
  });

  test('stops a flood that never ends, from a child that ignores SIGTERM', async () => {
    const script = 'trap "" TERM; echo mopping >&2; while :; do head -c 65536 /dev/zero; done';
    const { fault, event } = await openWith(bind('/bin/sh', { args: ['-c', script], graceMs: 200 }));
    expect(await fault()).toMatchObject({
      code: 'OUTPUT_LIMIT',
      message: '"demo" wrote more than 1048576 bytes to stdout: mopping',
    });
    expect(await event('process.ended')).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
  });

  test.each([
    { bytes: 1000, title: 'exactly the limit is read [PK-2-28@oneshot]' },
    { bytes: 0, title: 'nothing is read as nothing' },
  ])('of $bytes bytes, $title', async ({ bytes }) => {
    const { call } = await openWith(
      bind('/bin/sh', { args: ['-c', `head -c ${bytes} /dev/zero | tr '\\0' x`], maxOutputBytes: 1000 }),
    );
    expect(await call()).toBe('x'.repeat(bytes));
  });

  test('one byte over the limit, written right before the exit, is OUTPUT_LIMIT [PK-2-27@oneshot]', async () => {
    const script = `printf '%01001d' 0`;
    const { fault } = await openWith(bind('/bin/sh', { args: ['-c', script], maxOutputBytes: 1000 }));
    expect((await fault()).code).toBe('OUTPUT_LIMIT');
  });

  test('output of a grandchild beyond the limit after the exit is OUTPUT_LIMIT too [PK-2-27@oneshot]', async () => {
    const script = `(sleep 0.1; printf '%01000d' 0) & printf x`;
    const { fault } = await openWith(
      bind('/bin/sh', { args: ['-c', script], maxOutputBytes: 1000, drainMs: 10_000 }),
    );
    expect((await fault()).code).toBe('OUTPUT_LIMIT');
  });

  test.each(['flood-stderr.sh', 'flood-stderr-one-line.sh', 'flood-stderr-short-lines.sh'])(
    'is not delayed by 64 MiB on stderr: %s [PK-2-12@oneshot]',
    async (command) => {
      const { call, transport, events } = await openWith(bind(command));
      expect(JSON.parse(await call()).result).toBe('after the flood');
      await transport.close();
      const lines = allOf(events, 'stderr').map(({ line }) => line);
      expect(lines.length).toBeLessThanOrEqual(1_000);
      expect(lines.join('').length).toBeLessThanOrEqual(2 * 65 * 1024);
      expect(allOf(events, 'dropped')).toEqual([
        {
          type: 'dropped',
          name: 'demo',
          what: 'stderr',
          detail: expect.stringMatching(/^\d+ lines \(6\d{7} bytes\)/),
        },
      ]);
    },
  );

  test('reports stderr line by line under the entry’s name [PK-2-13@oneshot]', async () => {
    const script = `printf 'one\\r\\n\\ntwo' >&2; sleep 0.1; printf ' and a half\\nno newline' >&2; echo '{}'`;
    const { call, transport, events } = await openWith(bind('/bin/sh', { args: ['-c', script] }));
    await call();
    await transport.close();
    const [pid] = allOf(events, 'process.started').map((event) => event.pid);
    expect(allOf(events, 'stderr')).toEqual(
      ['one', '', 'two and a half', 'no newline'].map((line) => ({
        type: 'stderr',
        name: 'demo',
        pid,
        line,
      })),
    );
  });

  test('keeps the last 64 KiB of stderr [PK-2-14@oneshot]', async () => {
    const { transport } = await openWith(bind('crash-loudly.sh'));
    const reply = await transport.exchange({ method: 'execute', body: '{}' });
    const tail = `${'x'.repeat(64 * 1024 - 605)}\n${'0'.repeat(600)}\n  \n`;
    expect(reply).toMatchObject({ exitCode: 5, stderr: tail });
  });

  test('reads what the grandchild writes within the short grace', async () => {
    const script = `(sleep 0.2; printf ', "late": 1}') & printf '{"result": 1'`;
    const { call } = await openWith(bind('/bin/sh', { args: ['-c', script], drainMs: 10_000 }));
    expect(await call()).toBe('{"result": 1, "late": 1}');
  });

  test('starts nothing for a caller that has already aborted', async () => {
    const { fault, events } = await openWith(bind('hang.sh'));
    expect((await fault({}, AbortSignal.abort())).code).toBe('ABORTED');
    expect(events).toEqual([]);
  });

  test('a call after close() is RUNTIME_CLOSED and starts nothing', async () => {
    const { fault, transport, events } = await openWith(bind('hang.sh'));
    await transport.close();
    await transport.close();
    expect(toFault(await fault())).toEqual({
      code: 'RUNTIME_CLOSED',
      message: '"demo" cannot be called: the runtime is closed',
      hint: 'Open a new runtime.',
    });
    expect(events).toEqual([]);
  });

  test('warm() starts nothing', async () => {
    const { transport, events } = await openWith(bind('hang.sh', { warm: true }));
    transport.warm();
    await sleep(50);
    expect(events).toEqual([]);
  });
});

test('a line of a one-shot process never counts as noise', async () => {
  const { call, events } = await openWith(bind('banner.sh'));
  await call();
  expect(dropped(events)).toEqual([]);
});

test('this process may end while its children live, and ends them', async () => {
  const { call, transport } = await openWith(
    bind(process.execPath, { args: [fixture('../../process/quits.ts')] }),
  );
  const { pid } = JSON.parse(await call());
  await until(() => !isRunning(pid), 'end of the child of the process that ended');
  await transport.close();
  expect(isRunning(pid)).toBe(false);
});
