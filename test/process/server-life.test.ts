import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { toFault } from '../../src/base/errors.ts';
import type { Binding } from '../../src/process/binding.ts';
import {
  allOf,
  bind,
  bindPuppet,
  bindQuick,
  bindServer,
  dropped,
  isRunning,
  launchers,
  numberAfter,
  type Opened,
  open,
  stderrOf,
  until,
} from './harness.ts';

const good = '{"jsonrpc":"2.0","id":%ID,"result":"good"}\n';

const starts = ({ events }: Opened) => allOf(events, 'process.started').length;

/** Ends the server's process and waits until the transport notices. */
async function dieOnce(opened: Opened): Promise<void> {
  const deaths = allOf(opened.events, 'process.ended').length;
  expect((await opened.fault({ die: 7 })).code).toBe('SERVER_EXIT');
  await opened.event('process.ended', deaths);
}

describe.each(launchers)('a server through the %s launcher', (launcher) => {
  test('answers many calls with one process [PK-1-05@server PK-5-08@server PK-5-09@server]', async () => {
    const opened = await open(bindServer('line'), { launcher });
    expect(opened.events).toEqual([]);
    const lines: unknown[] = [];
    for (const n of [1, 2, 3]) lines.push(JSON.parse(JSON.parse(await opened.call({ n }))));
    expect(lines).toEqual(
      [1, 2, 3].map((n) => ({ jsonrpc: '2.0', id: n, method: 'execute', params: { args: { n } } })),
    );
    expect(starts(opened)).toBe(1);
  });

  test('receives nothing before the first request [PK-5-06@server]', async () => {
    const opened = await open(bindPuppet({ warm: true }), { launcher });
    opened.transport.warm();
    await opened.event('process.started');
    await sleep(100);
    expect(await opened.call({ write: '{"jsonrpc":"2.0","id":%ID,"result":%SEEN}\n' })).toMatch(
      /^\[\[1, \d+\]\]$/,
    );
  });

  test('may open its three streams by name [DS-PROC-02@server DS-PROC-03@server DS-PROC-04@server]', async () => {
    const { call, transport, events } = await open(bind('serves-by-name.sh', { mode: 'server' }), {
      launcher,
    });
    expect(await Promise.all([call({ n: 1 }), call({ n: 2 })])).toEqual(['"two pieces"', '"two pieces"']);
    await transport.close();
    expect(stderrOf(events)).toBe('heard 1\nheard 2\n');
    expect(allOf(events, 'process.ended')).toMatchObject([{ exitCode: 0, signal: null }]);
  });

  test('reads and answers 1 MiB [PK-5-04@server]', async () => {
    const { call } = await open(bindServer('echo', { maxOutputBytes: 2 * 1024 * 1024 }), { launcher });
    const text = 'x'.repeat(1024 * 1024);
    expect(await Promise.all([call({ text }), call({ n: 1 })])).toEqual([
      JSON.stringify({ text }),
      '{"n":1}',
    ]);
  });

  test('that exits when its stdin ends gets no signal [PK-5-51@server]', async () => {
    const script = 'trap "echo SIGTERM >&2" TERM; while read -r line; do :; done; sleep 0.1; echo bye >&2';
    const opened = await open(bind('/bin/sh', { mode: 'server', args: ['-c', script], graceMs: 5_000 }), {
      launcher,
    });
    opened.transport.warm();
    const { pid } = await opened.event('process.started');
    await opened.transport.close();
    expect(stderrOf(opened.events)).toBe('bye\n');
    expect(allOf(opened.events, 'process.ended')).toEqual([
      { type: 'process.ended', name: 'demo', pid, exitCode: 0, signal: null },
    ]);
  });

  test('that ignores the end of stdin gets SIGTERM, with its group [PK-5-52@server]', async () => {
    const script = 'sleep 60 & echo "child $!" >&2; wait';
    const opened = await open(bind('/bin/sh', { mode: 'server', args: ['-c', script] }), { launcher });
    opened.transport.warm();
    const child = numberAfter('child', (await opened.event('stderr')).line);
    await opened.transport.close();
    expect(allOf(opened.events, 'process.ended')).toMatchObject([{ exitCode: null, signal: 'SIGTERM' }]);
    await until(() => !isRunning(child), 'end of the child');
  });

  test('that ignores SIGTERM too gets SIGKILL, with its group [PK-5-52@server]', async () => {
    const opened = await open(bind('hang-ignoring-term.sh', { mode: 'server' }), { launcher });
    opened.transport.warm();
    const { line } = await opened.event('stderr');
    await opened.transport.close();
    expect(allOf(opened.events, 'process.ended')).toMatchObject([{ exitCode: null, signal: 'SIGKILL' }]);
    await until(() => !isRunning(numberAfter('child', line)), 'end of the child');
  });

  test('that exits with a code at the end of stdin is reported, and close() succeeds [PK-5-53@server]', async () => {
    const opened = await open(bindServer('exits-nonzero-at-eof'), { launcher });
    await opened.call({ n: 1 });
    await expect(opened.transport.close()).resolves.toBeUndefined();
    expect(allOf(opened.events, 'process.ended')).toMatchObject([{ exitCode: 4, signal: null }]);
  });

  test('that dies fails all requests in flight at once [PK-5-41@server PK-2-15@server PK-2-14@server]', async () => {
    const opened = await open(bindQuick(), { launcher });
    expect(toFault(await opened.fault({ die: 7 }))).toEqual({
      code: 'SERVER_EXIT',
      message: 'the server ended with exit code 7 while the request was in flight: out of memory',
      hint: 'The next call starts it again; the message has the last line of its stderr.',
      details: { exit_code: 7, signal: null, stderr: 'out of memory\n' },
    });
  });

  test('that closes stdout and lives is killed with its group [PK-5-42@server]', async () => {
    const script = 'sleep 60 >/dev/null 2>&1 & echo "child $!" >&2; read -r line; exec >&-; wait';
    const opened = await open(bind('/bin/bash', { mode: 'server', args: ['-c', script] }), { launcher });
    opened.transport.warm();
    const child = numberAfter('child', (await opened.event('stderr')).line);
    expect(isRunning(child)).toBe(true);
    const fault = await opened.fault({});
    expect(fault).toMatchObject({ code: 'SERVER_EXIT', details: { exit_code: null, signal: 'SIGKILL' } });
    await until(() => !isRunning(child), 'end of the child');
  });
});

describe('requests', () => {
  test('are in flight together, and every answer reaches its caller [PK-5-10@server]', async () => {
    const { call } = await open(bindServer('slow'));
    const delays = [300, 20, 200, 100, 250, 50];
    const replies = await Promise.all(delays.map((ms) => call({ ms })));
    expect(replies).toEqual(delays.map((ms) => `{"ms":${ms}}`));
  });

  test('that are answered in the opposite order reach their callers [PK-5-10@server]', async () => {
    const { call } = await open(bindServer('out-of-order'));
    expect(await Promise.all([call({ n: 1 }), call({ n: 2 })])).toEqual(['{"n":1}', '{"n":2}']);
  });

  test('a hundred concurrent ones are all answered [PK-5-09@server]', async () => {
    const { call } = await open(bindServer('line'));
    const lines = await Promise.all(Array.from({ length: 100 }, (_, n) => call({ n })));
    const ids = lines.map((text) => JSON.parse(JSON.parse(text)).id);
    expect(ids).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  });

  test('run one after another where concurrency is 1 [DS-PROC-08@server]', async () => {
    // This server answers nothing before its second request, which is sent when the first times out.
    const { call, fault } = await open(bindServer('out-of-order', { concurrency: 1, timeoutMs: 700 }));
    const [first, second] = [fault({ n: 1 }), call({ n: 2 })];
    expect((await first).code).toBe('PROCESS_TIMEOUT');
    expect(await second).toBe('{"n":2}');
  });

  test('start from id 1 in each process [PK-5-09@server]', async () => {
    const opened = await open(bindPuppet());
    const write = '{"jsonrpc":"2.0","id":%ID,"result":%ID}\n';
    const ids = [await opened.call({ write }), await opened.call({ write, exit: 0 })];
    await opened.event('process.ended');
    ids.push(await opened.call({ write }), await opened.call({ write }));
    expect(ids).toEqual(['1', '2', '1', '2']);
  });

  test('never reuse the id of an aborted one [PK-5-09@server]', async () => {
    const { call, fault } = await open(bindPuppet());
    const write = '{"jsonrpc":"2.0","id":%ID,"result":%ID}\n';
    const caller = new AbortController();
    const givenUp = fault({}, caller.signal);
    expect(await call({ write })).toBe('2');
    caller.abort();
    await givenUp;
    expect(await call({ write })).toBe('3');
  });
});

describe('a server that starts', () => {
  test('is started once by simultaneous first calls [PK-5-08@server]', async () => {
    const opened = await open(bindQuick());
    const replies = await Promise.all(Array.from({ length: 20 }, () => opened.call({ pid: true })));
    expect(new Set(replies.map((text) => JSON.parse(text).pid)).size).toBe(1);
    expect(starts(opened)).toBe(1);
  });

  test('is another process for each entry, with the same command too [PK-5-07@server]', async () => {
    const [one, two] = [await open(bindQuick()), await open(bindQuick({ name: 'other' }))];
    const pids = [await one.call({ pid: 1 }), await two.call({ pid: 1 })].map((text) => JSON.parse(text).pid);
    expect(new Set(pids).size).toBe(2);
  });

  test('has as many processes as instances, and an idle one is used', async () => {
    const opened = await open(bindServer('slow', { instances: 3 }));
    await Promise.all([1, 2, 3].map(() => opened.call({ ms: 200 })));
    expect(starts(opened)).toBe(3);
    await Promise.all([1, 2, 3, 4, 5, 6].map(() => opened.call({ ms: 10 })));
    expect(starts(opened)).toBe(3);
  });

  test('starts all its instances once, ahead of calls, if it is warmed', async () => {
    const opened = await open(bindQuick({ instances: 2 }));
    opened.transport.warm();
    opened.transport.warm();
    await opened.event('process.started', 1);
    const replies = await Promise.all([opened.call({ pid: 1 }), opened.call({ pid: 1 })]);
    expect(new Set(replies.map((text) => JSON.parse(text).pid)).size).toBe(2);
    expect(starts(opened)).toBe(2);
  });

  test('fails its first call only when it is made, if warming failed', async () => {
    const opened = await open(bind('no-such-program', { mode: 'server' }));
    opened.transport.warm();
    await sleep(50);
    expect((await opened.fault()).code).toBe('PROCESS_START');
  });

  test('makes its callers wait inside their own timeout [PK-2-21@server]', async () => {
    const opened = await open(bindQuick({ timeoutMs: 300 }));
    expect(toFault(await opened.fault({ silent: true }))).toEqual({
      code: 'PROCESS_TIMEOUT',
      message: '"demo" did not answer within 300 ms',
      hint: expect.stringMatching(/^It has written nothing to stdout since it started/),
      details: { timeout_ms: 300 },
    });
  });
});

describe('stderr', () => {
  test('is reported line by line under the entry’s name [PK-2-13@server]', async () => {
    const { call, events, event } = await open(bindServer('stderr'));
    await call();
    await call();
    await event('stderr', 1);
    const [pid] = allOf(events, 'process.started').map((started) => started.pid);
    expect(allOf(events, 'stderr')).toEqual(
      [1, 2].map((count) => ({ type: 'stderr', name: 'demo', pid, line: `request ${count}` })),
    );
  });

  test('does not delay a server that floods it [PK-2-12@server]', async () => {
    const script =
      'while read -r l; do head -c 8388608 /dev/zero >&2; echo \'{"jsonrpc":"2.0","id":1,"result":1}\'; done';
    const { call } = await open(bind('/bin/sh', { mode: 'server', args: ['-c', script] }));
    expect(await call()).toBe('1');
  });

  test('of a dead server is read to its end, even if its exit was seen before [PK-2-15@server]', async () => {
    const script = '(sleep 0.2; echo last words >&2) >/dev/null & read -r line; exit 3';
    const { fault } = await open(bind('/bin/sh', { mode: 'server', args: ['-c', script], drainMs: 10_000 }));
    expect((await fault()).message).toBe(
      'the server ended with exit code 3 while the request was in flight: last words',
    );
  });

  test('of a dead server: the last line in the message, 64 KiB in the details [PK-2-14@server PK-2-15@server PK-2-16@server]', async () => {
    const { fault } = await open(bind('crash-loudly.sh', { mode: 'server' }));
    expect(toFault(await fault())).toMatchObject({
      message: `the server ended with exit code 5 while the request was in flight: ${'0'.repeat(500)}`,
      details: { stderr: `${'x'.repeat(64 * 1024 - 605)}\n${'0'.repeat(600)}\n  \n` },
    });
  });
});

describe('a server that does not read', () => {
  const body = { text: 'x'.repeat(100_000) };

  test('does not delay the deadline [PK-5-39@server]', async () => {
    const { fault } = await open(bindServer('never-reads', { timeoutMs: 300 }));
    const faults = await Promise.all([fault(body), fault(body), fault(body)]);
    expect(faults.map(({ code }) => code)).toEqual(Array(3).fill('PROCESS_TIMEOUT'));
  });

  test('is SERVER_BUSY to new calls once too much is unsent [PK-5-40@server]', async () => {
    const { fault } = await open(bindServer('never-reads', { timeoutMs: 400, maxOutputBytes: 150_000 }));
    const faults = await Promise.all([fault(body), fault(body), fault(body), fault(body)]);
    const busy = {
      code: 'SERVER_BUSY',
      message: expect.stringMatching(/^"demo" has not read 2\d{5} bytes of earlier requests$/),
      hint: 'The server reads too slowly; lower the concurrency or repair the server.',
    };
    expect(faults.map(toFault)).toMatchObject([
      { code: 'PROCESS_TIMEOUT' },
      { code: 'PROCESS_TIMEOUT' },
      busy,
      busy,
    ]);
  });

  test('is no longer busy once those calls are aborted', async () => {
    const { fault } = await open(bindServer('never-reads', { maxOutputBytes: 150_000 }));
    const caller = new AbortController();
    const givenUp = [fault(body, caller.signal), fault(body, caller.signal)];
    await sleep(200);
    caller.abort();
    await Promise.all(givenUp);
    const last = new AbortController();
    const waiting = fault(body, last.signal);
    await sleep(100);
    last.abort();
    expect((await waiting).code).toBe('ABORTED');
  });

  test('receives the rest of a half-sent request, and nothing of an unsent one [PK-5-38@server]', async () => {
    const { call, fault } = await open(bindPuppet());
    await call({ write: good });
    const [half, none] = [new AbortController(), new AbortController()];
    const busy = call({ ms: 700, write: good });
    const givenUp = [fault(body, half.signal), fault({ tiny: true }, none.signal)];
    await sleep(50);
    half.abort();
    none.abort();
    expect((await Promise.all(givenUp)).map(({ code }) => code)).toEqual(['ABORTED', 'ABORTED']);
    expect(await busy).toBe('"good"');
    const seen = JSON.parse(await call({ write: '{"jsonrpc":"2.0","id":%ID,"result":%SEEN}\n' }));
    const sent = (id: number) =>
      `{"jsonrpc":"2.0","id":${id},"method":"execute","params":{"args":}}\n`.length;
    // The third is complete; the fourth was never sent; the fifth is this one.
    expect(seen.map(([id]: [number]) => id)).toEqual([1, 2, 3, 5]);
    expect(seen[2][1]).toBe(sent(3) + JSON.stringify(body).length);
  });
});

describe('a server that dies', () => {
  test('by a signal names it [PK-5-41@server]', async () => {
    const { fault } = await open(bindServer('killed-by-signal'));
    expect(toFault(await fault())).toEqual({
      code: 'SERVER_EXIT',
      message: 'the server was ended by SIGKILL while the request was in flight',
      hint: 'It wrote nothing to stderr. It is restarted on the next call.',
      details: { exit_code: null, signal: 'SIGKILL' },
    });
  });

  test('fails all requests in flight, and only those [PK-5-41@server PK-5-43@server PK-5-44@server]', async () => {
    const opened = await open(bindQuick());
    const before = await opened.call({ n: 0 });
    const inFlight = [opened.fault({ silent: 1 }), opened.fault({ silent: 2 }), opened.fault({ die: 7 })];
    expect((await Promise.all(inFlight)).map(({ code }) => code)).toEqual(Array(3).fill('SERVER_EXIT'));
    expect([before, await opened.call({ n: 1 })]).toEqual(['{"n":0}', '{"n":1}']);
    expect(starts(opened)).toBe(2);
  });

  test('receives nothing a second time [PK-5-43@server]', async () => {
    const opened = await open(bindPuppet());
    expect((await opened.fault({ exit: 3 })).code).toBe('SERVER_EXIT');
    expect(await opened.call({ write: '{"jsonrpc":"2.0","id":%ID,"result":%SEEN}\n' })).toMatch(
      /^\[\[1, \d+\]\]$/,
    );
  });

  test('while idle is restarted by the next call, and no call fails [PK-5-44@server]', async () => {
    const opened = await open(bindQuick());
    const first = JSON.parse(await opened.call({ pid: true }));
    process.kill(first.pid, 'SIGKILL');
    await opened.event('process.ended');
    const second = JSON.parse(await opened.call({ pid: true }));
    expect(second.count).toBe(1);
    expect(allOf(opened.events, 'process.restarted')).toEqual([
      { type: 'process.restarted', name: 'demo', pid: second.pid, deaths: 1 },
    ]);
  });

  test('after every reply serves every call, and never opens the circuit [PK-5-49@server]', async () => {
    const opened = await open(bindServer('dies-between'));
    for (let n = 1; n <= 5; n++) {
      expect(await opened.call({ n })).toBe(`{"n":${n}}`);
      await opened.event('process.ended', n - 1);
    }
    expect(starts(opened)).toBe(5);
    expect(allOf(opened.events, 'circuit.opened')).toEqual([]);
  });

  test('takes its group along', async () => {
    const opened = await open(bindServer('with-child'));
    const { pid, child } = JSON.parse(await opened.call());
    process.kill(pid, 'SIGKILL');
    await until(() => !isRunning(child), 'end of the child');
    expect(isRunning(pid)).toBe(false);
  });

  test('leaves its group alone if the binding says so', async () => {
    const opened = await open(bindServer('with-child', { leftovers: 'keep' }));
    const { pid, child } = JSON.parse(await opened.call());
    process.kill(pid, 'SIGKILL');
    await opened.event('process.ended');
    await opened.transport.close();
    await sleep(100);
    expect(isRunning(child)).toBe(true);
    process.kill(child, 'SIGKILL');
  });

  test('is replaced at once, although its child still holds its stdout', async () => {
    const script = 'sleep 60 & read -r line; exit 9';
    const opened = await open(bind('/bin/sh', { mode: 'server', args: ['-c', script], drainMs: 5_000 }));
    const first = opened.fault();
    await opened.event('process.ended');
    // The first still waits for the rest of the output; the second does not belong to the dead process.
    const second = opened.fault();
    await opened.event('process.started', 1);
    expect(allOf(opened.events, 'process.started')[1]?.pid).not.toBe(
      allOf(opened.events, 'process.started')[0]?.pid,
    );
    for (const { pid } of allOf(opened.events, 'process.started')) process.kill(-pid, 'SIGKILL');
    expect([await first, await second].map(({ code }) => code)).toEqual(['SERVER_EXIT', 'SERVER_EXIT']);
  });

  test('with closed stdout is reported as such [PK-5-42@server]', async () => {
    const { fault, call, events } = await open(bindServer('closes-stdout'));
    expect((await fault()).message).toBe(
      'the server closed its stdout and was killed while the request was in flight',
    );
    expect(allOf(events, 'process.ended')).toMatchObject([{ signal: 'SIGKILL' }]);
    await expect(call()).rejects.toMatchObject({ code: 'SERVER_EXIT' });
  });
});

describe('restarts', () => {
  const slowly = (firstDelayMs: number): Partial<Binding> => ({
    restart: { firstDelayMs, maxDelayMs: 60_000, circuitDeaths: 9, circuitPauseMs: 60_000 },
  });

  test('wait after the second death in a row, and callers wait with them [PK-5-45@server PK-5-46@server]', async () => {
    const opened = await open(bindQuick(slowly(400)));
    await dieOnce(opened);
    await dieOnce(opened);
    const diedAt = performance.now();
    expect(await opened.call({ n: 1 })).toBe('{"n":1}');
    // The pause started with the death, just before it was reported.
    expect(performance.now() - diedAt).toBeGreaterThan(300);
  });

  test('that exceed a caller’s time limit are PROCESS_TIMEOUT, and nothing is sent [PK-5-46@server]', async () => {
    const opened = await open(bindQuick({ ...slowly(30_000), timeoutMs: 500 }));
    await dieOnce(opened);
    await dieOnce(opened);
    expect((await opened.fault({ n: 1 })).code).toBe('PROCESS_TIMEOUT');
    expect(starts(opened)).toBe(2);
  });

  test('end with close(), which does not wait for them', async () => {
    const opened = await open(bindQuick(slowly(60_000)));
    await dieOnce(opened);
    await dieOnce(opened);
    const waiting = opened.fault({ n: 1 });
    await sleep(50);
    await opened.transport.close();
    expect((await waiting).code).toBe('RUNTIME_CLOSED');
    expect(starts(opened)).toBe(2);
  });

  test('report the number of deaths', async () => {
    const opened = await open(bindQuick(slowly(10)));
    for (let death = 1; death <= 3; death++) await dieOnce(opened);
    await opened.call({ n: 1 });
    expect(allOf(opened.events, 'process.restarted').map(({ deaths }) => deaths)).toEqual([1, 2, 3]);
  });
});

describe('the circuit', () => {
  const policy = { firstDelayMs: 10, maxDelayMs: 20, circuitDeaths: 3, circuitPauseMs: 600 };
  const longPause = { ...policy, circuitPauseMs: 60_000 };
  const blocker = (name: string) => {
    const file = join(tmpdir(), name);
    writeFileSync(file, '');
    return file;
  };

  test('opens with the last of too many deaths, and then refuses at once [PK-5-47@server]', async () => {
    const opened = await open(bindQuick({ restart: longPause }));
    for (let death = 1; death <= 3; death++)
      expect((await opened.fault({ die: 7 })).code).toBe('SERVER_EXIT');
    expect(toFault(await opened.fault())).toEqual({
      code: 'SERVER_CIRCUIT_OPEN',
      message: 'the server "demo" died 3 times in a row and is not restarted for now',
      hint: 'Repair the server; after the pause, one call tries it again.',
    });
    expect(starts(opened)).toBe(3);
    expect(allOf(opened.events, 'circuit.opened')).toEqual([
      { type: 'circuit.opened', name: 'demo', deaths: 3, pauseMs: 60_000 },
    ]);
  });

  test('counts deaths at the start alike, and failed starts too [PK-5-50@server]', async () => {
    const dying = await open(bindServer('dies-at-start', { restart: longPause }));
    const missing = await open(bind('./no-such-program', { mode: 'server', restart: longPause }));
    const codes: string[][] = [];
    for (let call = 0; call < 4; call++) {
      codes.push([(await dying.fault()).code, (await missing.fault()).code]);
    }
    expect(codes).toEqual([
      ...Array(3).fill(['SERVER_EXIT', 'PROCESS_START']),
      ['SERVER_CIRCUIT_OPEN', 'SERVER_CIRCUIT_OPEN'],
    ]);
  });

  test('lets one trial call through after the pause, whose good reply closes it [PK-5-48@server]', async () => {
    const file = blocker('until-repaired');
    const opened = await open(bindServer(['dies-while', file], { restart: policy }));
    for (let death = 1; death <= 3; death++) expect((await opened.fault()).code).toBe('SERVER_EXIT');
    rmSync(file);
    expect((await opened.fault()).code).toBe('SERVER_CIRCUIT_OPEN');
    await sleep(policy.circuitPauseMs + 20);
    const [trial, beside] = [opened.call({ n: 1 }), opened.fault({ n: 2 })];
    expect((await beside).code).toBe('SERVER_CIRCUIT_OPEN');
    expect(await trial).toBe('{"n":1}');
    expect(await Promise.all([opened.call({ n: 3 }), opened.call({ n: 4 })])).toEqual(['{"n":3}', '{"n":4}']);
    expect(starts(opened)).toBe(4);
  });

  test('opens again if that call’s server dies, for another pause [PK-5-48@server]', async () => {
    const opened = await open(bindQuick({ restart: policy }));
    for (let death = 1; death <= 3; death++) await opened.fault({ die: 7 });
    await sleep(policy.circuitPauseMs + 20);
    expect((await opened.fault({ die: 7 })).code).toBe('SERVER_EXIT');
    expect((await opened.fault()).code).toBe('SERVER_CIRCUIT_OPEN');
    expect(starts(opened)).toBe(4);
    expect(allOf(opened.events, 'circuit.opened').map(({ deaths }) => deaths)).toEqual([3, 4]);
  });

  test('stays open after a trial that times out, although nothing died', async () => {
    const file = blocker('until-silent');
    const args = ['-c', `read -r line; test -e ${file} && exit 1; sleep 60`];
    const opened = await open(bind('/bin/sh', { mode: 'server', args, restart: policy, timeoutMs: 500 }));
    for (let death = 1; death <= 3; death++) expect((await opened.fault()).code).toBe('SERVER_EXIT');
    rmSync(file);
    await sleep(policy.circuitPauseMs + 20);
    expect([(await opened.fault()).code, (await opened.fault()).code]).toEqual([
      'PROCESS_TIMEOUT',
      'SERVER_CIRCUIT_OPEN',
    ]);
  });

  test('is not opened by deaths with good replies between them [PK-5-49@server]', async () => {
    const opened = await open(bindQuick({ restart: longPause }));
    for (let round = 0; round < 3; round++) {
      await dieOnce(opened);
      await dieOnce(opened);
      expect(await opened.call({ round })).toBe(`{"round":${round}}`);
    }
    expect(allOf(opened.events, 'circuit.opened')).toEqual([]);
  });

  test('leaves the trial to the next call if the caller of one aborted', async () => {
    const file = blocker('until-patient');
    const args = ['-c', `read -r line; test -e ${file} && exit 1; sleep 60`];
    const opened = await open(bind('/bin/sh', { mode: 'server', args, restart: policy }));
    for (let death = 1; death <= 3; death++) expect((await opened.fault()).code).toBe('SERVER_EXIT');
    rmSync(file);
    await sleep(policy.circuitPauseMs + 20);
    for (let trial = 1; trial <= 3; trial++) {
      const caller = new AbortController();
      const givenUp = opened.fault({}, caller.signal);
      expect((await opened.fault()).code).toBe('SERVER_CIRCUIT_OPEN');
      caller.abort();
      expect((await givenUp).code).toBe('ABORTED');
    }
    expect(allOf(opened.events, 'circuit.opened')).toHaveLength(1);
  });

  test('is separate for each instance, and while one is closed no call is refused', async () => {
    const opened = await open(bindQuick({ instances: 2, restart: longPause }));
    const codes: string[] = [];
    for (let call = 0; call < 3; call++) codes.push((await opened.fault({ die: 7 })).code);
    expect(allOf(opened.events, 'circuit.opened')).toHaveLength(1);
    expect(await Promise.all([1, 2, 3].map((n) => opened.call({ n })))).toEqual(
      [1, 2, 3].map((n) => `{"n":${n}}`),
    );
    for (let call = 0; call < 4; call++) codes.push((await opened.fault({ die: 7 })).code);
    expect(codes).toEqual([...Array(6).fill('SERVER_EXIT'), 'SERVER_CIRCUIT_OPEN']);
  });
});

describe('closing', () => {
  test('a server that never started is not awaited', async () => {
    const { transport, events } = await open(bindQuick());
    await transport.close();
    expect(events).toEqual([]);
  });

  test('while it starts ends the started process', async () => {
    const opened = await open(bindQuick(), { launcher: 'portable' });
    const first = opened.fault({ silent: true });
    await opened.transport.close();
    expect(starts(opened)).toBe(1);
    expect(allOf(opened.events, 'process.ended')).toHaveLength(1);
    expect((await first).code).toBe('RUNTIME_CLOSED');
  });

  test('lets a server answer what it has read', async () => {
    const opened = await open(bindPuppet({ graceMs: 5_000 }));
    await opened.call({ write: good });
    const asked = opened.call({ ms: 200, write: good });
    await sleep(50);
    await opened.transport.close();
    expect(await asked).toBe('"good"');
  });

  test('lets a server answer requests that were sent in the same turn', async () => {
    const opened = await open(bindQuick({ graceMs: 5_000 }));
    await opened.call({ n: 0 });
    const asked = [1, 2, 3].map((n) => opened.call({ n }));
    await opened.transport.close();
    expect(await Promise.all(asked)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  });

  test('fails unanswered requests with RUNTIME_CLOSED, since the server did not fail', async () => {
    const opened = await open(bindQuick());
    const asked = opened.fault({ silent: true });
    await opened.event('process.started');
    await sleep(100);
    await opened.transport.close();
    expect((await asked).code).toBe('RUNTIME_CLOSED');
  });

  test('lets a server that closes its stdout first end in its own time', async () => {
    const script = 'while read -r line; do :; done; exec >&-; sleep 0.4; echo saved >&2';
    const opened = await open(bind('/bin/bash', { mode: 'server', args: ['-c', script], graceMs: 5_000 }));
    opened.transport.warm();
    await opened.event('process.started');
    await opened.transport.close();
    expect(stderrOf(opened.events)).toBe('saved\n');
    expect(allOf(opened.events, 'process.ended')).toMatchObject([{ exitCode: 0, signal: null }]);
  });

  test('twice, or concurrently, equals once', async () => {
    const opened = await open(bindServer('ignores-eof'));
    await opened.call();
    await Promise.all([opened.transport.close(), opened.transport.close()]);
    await opened.transport.close();
    expect(allOf(opened.events, 'process.ended')).toMatchObject([{ signal: 'SIGTERM' }]);
  });

  test('is final: later calls are RUNTIME_CLOSED and start nothing', async () => {
    const opened = await open(bindQuick({ instances: 2 }));
    await opened.call();
    await opened.transport.close();
    opened.transport.warm();
    expect((await opened.fault()).code).toBe('RUNTIME_CLOSED');
    expect(starts(opened)).toBe(1);
  });

  test('refuses later calls at once, although the server has not ended', async () => {
    const opened = await open(bindServer('ignores-eof', { graceMs: 1_000 }));
    await opened.call();
    const closed = opened.transport.close();
    expect((await opened.fault()).code).toBe('RUNTIME_CLOSED');
    expect(allOf(opened.events, 'process.ended')).toEqual([]);
    await closed;
  });

  test('ends every instance', async () => {
    const opened = await open(bindQuick({ instances: 3 }));
    opened.transport.warm();
    await opened.event('process.started', 2);
    await opened.transport.close();
    expect(allOf(opened.events, 'process.ended')).toHaveLength(3);
    expect(dropped(opened.events)).toEqual([]);
  });
});
