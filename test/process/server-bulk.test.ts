import { getEventListeners } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { DeadlineList } from '../../src/base/time/deadline-list.ts';
import { allOf, bind, bindPuppet, bindQuick, bindServer, dropped, faultOf, open } from './harness.ts';

const many = (count: number) => Array.from({ length: count }, (_, n) => n);

function countCodes(faults: readonly { readonly code: string }[]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(Object.groupBy(faults, ({ code }) => code)).map(([code, all]) => [code, all?.length ?? 0]),
  );
}

describe('thousands of concurrent requests', () => {
  test('each get their own reply', async () => {
    const { call, events } = await open(bindQuick());
    const replies = await Promise.all(many(3_000).map((n) => call({ n })));
    expect(replies).toEqual(many(3_000).map((n) => `{"n":${n}}`));
    expect(dropped(events)).toEqual([]);
    expect(allOf(events, 'process.started')).toHaveLength(1);
  });

  test('reach the server in the order of the calls, those before its start first', async () => {
    const { call } = await open(bindQuick());
    const calls: Promise<string>[] = [];
    let isStarted = false;
    for (let n = 0; n < 400; n++) {
      const reply = call({ pid: 0 });
      void reply.then(() => {
        isStarted = true;
      });
      calls.push(reply);
      // Covers the time before, during and after each step of the start.
      if (n % 3 === 0) await undefined;
      if (n % 7 === 0 || (n === 300 && !isStarted)) await new Promise((resolve) => setImmediate(resolve));
    }
    const counts = (await Promise.all(calls)).map((text) => JSON.parse(text).count);
    expect(counts).toEqual(many(400).map((n) => n + 1));
  });

  test('are all aborted with one signal, and leave nothing behind [PK-5-38@server]', async () => {
    const { call, fault, events } = await open(bindQuick());
    await call({ n: 0 });
    const caller = new AbortController();
    const givenUp = many(5_000).map(() => fault({ silent: 1 }, caller.signal));
    const other = call({ n: 1 });
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1);
    await new Promise((resolve) => setImmediate(resolve));
    caller.abort('enough');
    const faults = await Promise.all(givenUp);
    expect(countCodes(faults)).toEqual({ ABORTED: 5_000 });
    expect(new Set(faults.map(({ cause }) => cause))).toEqual(new Set(['enough']));
    expect(await other).toBe('{"n":1}');
    expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
    expect(await call({ n: 2 })).toBe('{"n":2}');
    expect(dropped(events)).toEqual([]);
  });

  test('leave no timer and no listener behind once they are answered', async () => {
    const { call } = await open(bindQuick());
    await call({ n: 0 });
    const cleared = vi.spyOn(DeadlineList.prototype, 'clear');
    onTestFinished(() => cleared.mockRestore());
    const caller = new AbortController();
    for (let round = 0; round < 2; round++) {
      await Promise.all(many(100).map((n) => call({ n }, caller.signal)));
      expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
    }
    expect(cleared).toHaveBeenCalledTimes(200);
  });

  test('are not sent if they are aborted in the same turn', async () => {
    const { call, fault } = await open(bindQuick());
    await call({ n: 0 });
    const caller = new AbortController();
    const givenUp = many(100).map(() => fault({ n: 1 }, caller.signal));
    caller.abort();
    expect(countCodes(await Promise.all(givenUp))).toEqual({ ABORTED: 100 });
    expect(JSON.parse(await call({ pid: 0 })).count).toBe(2);
  });

  test('all time out, and affect no later call', async () => {
    const { call, fault } = await open(bindQuick({ timeoutMs: 1_500 }));
    await call({ n: 0 });
    const faults = await Promise.all(many(2_000).map(() => fault({ silent: 1 })));
    expect(countCodes(faults)).toEqual({ PROCESS_TIMEOUT: 2_000 });
    expect(await call({ n: 1 })).toBe('{"n":1}');
  });

  test('all fail with the server that dies, and the next server answers later ones', async () => {
    const { call, fault, events } = await open(bindQuick());
    await call({ n: 0 });
    const lost = many(1_000).map(() => fault({ silent: 1 }));
    const fatal = fault({ die: 7 });
    const behind = many(1_000).map(() => fault({ n: 1 }));
    expect(countCodes(await Promise.all([...lost, fatal, ...behind]))).toEqual({ SERVER_EXIT: 2_001 });
    expect(await call({ n: 2 })).toBe('{"n":2}');
    expect(allOf(events, 'process.restarted')).toHaveLength(1);
  });

  test('end with the runtime', async () => {
    const { transport, call } = await open(bindQuick());
    await call({ n: 0 });
    const waiting = many(1_000).map(() =>
      faultOf(transport.exchange({ method: 'execute', body: '{"args":{"silent":1}}' })),
    );
    await transport.close();
    expect(countCodes(await Promise.all(waiting))).toEqual({ RUNTIME_CLOSED: 1_000 });
  });

  test('are spread over all instances', async () => {
    const { call, events } = await open(bindServer('slow', { instances: 4 }));
    await Promise.all(many(64).map(() => call()));
    expect(allOf(events, 'process.started')).toHaveLength(4);
  });

  test('are shared equally by instances that compute at the same time', async () => {
    const { call } = await open(bind('computes', { mode: 'server', instances: 2 }));
    const compute = async (ms: number) => JSON.parse(await call({ ms }));
    const pids = (await Promise.all([compute(1), compute(1)])).map(({ pid }) => pid);
    const work = await Promise.all(many(20).map(() => compute(5)));
    const spans = pids.map((pid) => {
      const own = work.filter((each) => each.pid === pid);
      return { count: own.length, from: own[0]?.from, to: own.at(-1)?.to };
    });
    expect(spans.map(({ count }) => count)).toEqual([10, 10]);
    expect(Math.max(...spans.map(({ from }) => from))).toBeLessThan(Math.min(...spans.map(({ to }) => to)));
  });

  test('are found by their ids, however many later ones were answered before', async () => {
    const { call } = await open(bindPuppet());
    const reply = (id: number | '%ID') => `{"jsonrpc":"2.0","id":${id},"result":{"is":${id}}}\n`;
    const early = many(3).map(() => call({}));
    const later = many(1_000).map(() => call({ write: reply('%ID') }));
    const last = call({ write: reply(3) + reply(1) + reply(2) + reply('%ID') });
    const results = await Promise.all([...early, ...later, last]);
    expect(results).toEqual(many(1_004).map((n) => `{"is":${n + 1}}`));
  });
});

describe('a time limit of a message', () => {
  test.each(many(3).map((n) => 200 + 100 * n))('of %d ms applies beside others', async (timeoutMs) => {
    const { transport, call } = await open(bindQuick());
    await call({ n: 0 });
    const long = new AbortController();
    const body = '{"args":{"silent":1}}';
    const waiting = faultOf(transport.exchange({ method: 'execute', body }, long.signal));
    const brief = await faultOf(transport.exchange({ method: 'execute', body, timeoutMs }));
    expect(brief).toMatchObject({ code: 'PROCESS_TIMEOUT', details: { timeout_ms: timeoutMs } });
    long.abort();
    expect((await waiting).code).toBe('ABORTED');
  });
});
