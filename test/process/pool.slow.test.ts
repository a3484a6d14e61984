import { getEventListeners } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import { createPool, withPool } from '../../src/process/pool.ts';
import type { Reply, Transport } from '../../src/process/transport.ts';
import { onTransports } from '../cite.ts';
import { allOf, bind, bindQuick, faultOf, open, readOverlap, until } from './harness.ts';

const message = { method: 'execute', body: '{}' };
const reply: Reply = { via: 'process', exitCode: 0, signal: null, stdout: new Uint8Array(), stderr: '' };

/** A transport whose exchanges the test ends. It counts the running ones. */
function openManual() {
  const running: ((error?: Error) => void)[] = [];
  const transport: Transport = {
    exchange: () =>
      new Promise((resolve, reject) => {
        running.push((error) => (error === undefined ? resolve(reply) : reject(error)));
      }),
    warm: () => {},
    close: async () => {},
  };
  const end = async (error?: Error) => {
    running.shift()?.(error);
    await nextTurn();
  };
  return { transport, running, end };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('no more exchanges run concurrently than the pool has slots', async () => {
  const { transport, running, end } = openManual();
  const behind = withPool(transport, bind('hang.sh'), createPool(2));
  const all = Promise.all([1, 2, 3, 4, 5].map(() => behind.exchange(message)));
  const counts: number[] = [];
  for (let round = 0; round < 5; round++) {
    await nextTurn();
    counts.push(running.length);
    await end();
  }
  expect(counts).toEqual([2, 2, 2, 2, 1]);
  expect(await all).toEqual(Array(5).fill(reply));
});

test('a free slot is taken in the same turn, and released when the exchange ends', async () => {
  const { transport, running, end } = openManual();
  const pool = createPool(2);
  const behind = withPool(transport, bind('hang.sh'), pool);
  const first = [behind.exchange(message), behind.exchange(message)];
  expect(running).toHaveLength(2);
  expect(pool.take()).toBe(false);
  await end();
  expect(pool.take()).toBe(true);
  expect(pool.take()).toBe(false);
  pool.giveBack();
  await end();
  await Promise.all(first);
});

test('no exchange takes a slot ahead of waiting ones', async () => {
  const pool = createPool(2);
  const order: number[] = [];
  const doors = [0, 1, 2, 3, 4, 5].map(() => Promise.withResolvers<Reply>());
  const transport: Transport = {
    exchange: ({ body }) => {
      order.push(Number(body));
      return doors[Number(body)]?.promise ?? Promise.resolve(reply);
    },
    warm: () => {},
    close: async () => {},
  };
  const behind = withPool(transport, bind('hang.sh'), pool);
  const exchange = (n: number) => behind.exchange({ method: 'execute', body: `${n}` });
  const all = [0, 1, 2, 3].map(exchange);
  expect(order).toEqual([0, 1]);
  doors[0]?.resolve(reply);
  // Two calls already wait when the slot is released.
  void doors[0]?.promise.then(() => all.push(exchange(4)));
  await nextTurn();
  expect(order).toEqual([0, 1, 2]);
  doors[1]?.resolve(reply);
  await nextTurn();
  all.push(exchange(5));
  expect(order).toEqual([0, 1, 2, 3]);
  for (const door of doors) door.resolve(reply);
  await Promise.all(all);
  expect(order).toEqual([0, 1, 2, 3, 4, 5]);
});

test('100,000 exchanges, some aborted while they wait, never exceed the slots, and lose none', async () => {
  const [slots, own] = [7, 3];
  const pool = createPool(slots);
  const counts = { running: 0, narrow: 0, mostRunning: 0, mostNarrow: 0 };
  const work = (isNarrow: boolean): Transport => ({
    exchange: async ({ body }) => {
      counts.running += 1;
      counts.narrow += isNarrow ? 1 : 0;
      counts.mostRunning = Math.max(counts.mostRunning, counts.running);
      counts.mostNarrow = Math.max(counts.mostNarrow, counts.narrow);
      // Some end at once, some after promises, some in a later turn.
      const n = Number(body);
      if (n % 3 === 1) for (let wait = 0; wait < n % 11; wait++) await undefined;
      if (n % 31 === 2) await nextTurn();
      counts.running -= 1;
      counts.narrow -= isNarrow ? 1 : 0;
      if (n % 13 === 0) throw new RuntimeError('PROCESS_EXIT', 'it failed');
      return reply;
    },
    warm: () => {},
    close: async () => {},
  });
  const [wide, narrow] = [false, true].map((isNarrow) =>
    withPool(work(isNarrow), bind('hang.sh', isNarrow ? { concurrency: own } : {}), pool),
  );
  const outcomes = new Map<string, number>();
  const asked: Promise<void>[] = [];
  for (let n = 0; n < 100_000; n++) {
    const caller = n % 5 === 0 ? new AbortController() : undefined;
    const exchange = (n % 2 === 0 ? wide : narrow)?.exchange(
      { method: 'execute', body: `${n}` },
      caller?.signal,
    );
    const told = (what: string) => void outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
    asked.push(
      exchange?.then(
        () => told('replied'),
        (error) => told(error.code),
      ) ?? Promise.reject(),
    );
    if (n % 10 === 0) caller?.abort();
    // Drains the queue now and then.
    if (n % 977 === 0) await Promise.all(asked.splice(0));
    else if (n % 17 === 0) await undefined;
  }
  await Promise.all(asked);
  const sum = [...outcomes.values()].reduce((one, other) => one + other, 0);
  expect([sum, counts.running, counts.mostRunning, counts.mostNarrow]).toEqual([100_000, 0, slots, own]);
  expect(new Set(outcomes.keys())).toEqual(new Set(['replied', 'PROCESS_EXIT', 'ABORTED']));
  for (let taken = 0; taken < slots; taken++) expect(pool.take()).toBe(true);
  expect(pool.take()).toBe(false);
});

test('an entry’s own limit applies inside a larger pool, and leaves the others their slots', async () => {
  const pool = createPool(3);
  const [narrow, wide] = [openManual(), openManual()];
  const one = withPool(narrow.transport, bind('hang.sh', { concurrency: 1 }), pool);
  const many = withPool(wide.transport, bind('hang.sh'), pool);
  const asked = [
    ...[1, 2, 3].map(() => one.exchange(message)),
    ...[1, 2, 3].map(() => many.exchange(message)),
  ];
  await nextTurn();
  expect([narrow.running.length, wide.running.length]).toEqual([1, 2]);
  for (let round = 0; round < 3; round++) {
    await narrow.end();
    await wide.end();
  }
  expect(await Promise.all(asked)).toEqual(Array(6).fill(reply));
});

test('an entry that finds the pool full holds none of its own slots', async () => {
  const pool = createPool(2);
  const [narrow, wide] = [openManual(), openManual()];
  const one = withPool(narrow.transport, bind('hang.sh', { concurrency: 1 }), pool);
  const many = withPool(wide.transport, bind('hang.sh'), pool);
  const asked = [many.exchange(message), many.exchange(message), one.exchange(message)];
  await wide.end();
  expect(narrow.running).toHaveLength(1);
  await wide.end();
  await narrow.end();
  expect(await Promise.all(asked)).toEqual(Array(3).fill(reply));
  const again = one.exchange(message);
  expect(narrow.running).toHaveLength(1);
  await narrow.end();
  expect(await again).toBe(reply);
});

test('a failed exchange releases its slots', async () => {
  const { transport, end } = openManual();
  const behind = withPool(transport, bind('hang.sh', { concurrency: 1 }), createPool(1));
  const first = behind.exchange(message);
  const second = behind.exchange(message);
  const failure = faultOf(first);
  await nextTurn();
  await end(new RuntimeError('PROCESS_EXIT', 'it failed'));
  expect((await failure).message).toBe('it failed');
  await end();
  expect(await second).toBe(reply);
});

const waits = [
  { title: 'for a slot of the pool', concurrency: Number.POSITIVE_INFINITY, slots: 1 },
  { title: 'for a slot of its entry', concurrency: 1, slots: 2 },
  { title: 'for both', concurrency: 1, slots: 1 },
];

test.each(waits)(
  'a caller that aborts while it waits $title leaves the queue',
  async ({ concurrency, slots }) => {
    const { transport, running, end } = openManual();
    const behind = withPool(transport, bind('hang.sh', { concurrency }), createPool(slots));
    const first = behind.exchange(message);
    const caller = new AbortController();
    const second = faultOf(behind.exchange(message, caller.signal));
    const third = behind.exchange(message);
    await nextTurn();
    caller.abort('enough');
    expect(await second).toMatchObject({ code: 'ABORTED', cause: 'enough' });
    await end();
    await end();
    expect(await Promise.all([first, third])).toEqual([reply, reply]);
    expect(running).toEqual([]);
    expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  },
);

test('a caller that aborted before gets no slot', async () => {
  const { transport, running } = openManual();
  const behind = withPool(transport, bind('hang.sh'), createPool(1));
  expect((await faultOf(behind.exchange(message, AbortSignal.abort()))).code).toBe('ABORTED');
  expect(running).toEqual([]);
});

const bounds = onTransports([
  { title: 'the pool bounds the exchanges of all entries', cites: 'DS-PROC-06@both', slots: 2, own: 9 },
  { title: 'an entry’s concurrency bounds its own exchanges', cites: 'DS-PROC-08@both', slots: 9, own: 2 },
]);

test.each(bounds)('$title', async ({ on, title, slots, own }) => {
  const pool = createPool(slots);
  const file = join(tmpdir(), title.replace(/\W/g, '-'));
  const binding = bind('overlap', { mode: on, concurrency: own });
  const names = own === 2 ? ['a'] : ['a', 'b'];
  const entries = await Promise.all(names.map((name) => open({ ...binding, name }, { pool })));
  const calls = entries.flatMap(({ call }) => [1, 2, 3].map(() => call({ file, ms: 150 })));
  await Promise.all(calls);
  expect(readOverlap(file)).toEqual({ calls: calls.length, most: 2 });
});

test('a one-shot caller that aborts while queued starts no process', async () => {
  const pool = createPool(1);
  const { call, fault, events } = await open(bind('slow-allow'), { pool });
  const caller = new AbortController();
  const first = call({ ms: 200 });
  const second = fault({ ms: 200 }, caller.signal);
  await until(() => allOf(events, 'process.started').length === 1, 'start of the first');
  caller.abort();
  expect((await second).code).toBe('ABORTED');
  await first;
  expect(allOf(events, 'process.started')).toHaveLength(1);
});

test('a timed-out exchange releases its slot while its process still dies', async () => {
  const pool = createPool(1);
  const hanging = await open(bind('hang-ignoring-term.sh', { timeoutMs: 300, graceMs: 1_000 }), { pool });
  const quick = await open(bind('never-reads.sh'), { pool });
  const timedOut = hanging.fault();
  expect(JSON.parse(await quick.call()).result).toBe('unread');
  expect((await timedOut).code).toBe('PROCESS_TIMEOUT');
  expect(allOf(hanging.events, 'process.ended')).toEqual([]);
});

test('a chain of nested exchanges completes with one slot [DS-PROC-09@oneshot]', async () => {
  const pool = createPool(1);
  const { call } = await open(bind('print-stdin'), { pool });
  let text = 'start';
  for (let link = 0; link < 3; link++) text = JSON.parse(await call({ text })).result;
  expect(JSON.parse(JSON.parse(JSON.parse(text).args.text).args.text)).toEqual({ args: { text: 'start' } });
});

const slots = onTransports([{ title: 'the timeout starts with the slot', cites: 'PK-2-23@both' }]);

test.each(slots)('$title', async ({ on }) => {
  const pool = createPool(1);
  const binding = { oneshot: bind('never-reads.sh'), server: bindQuick() }[on];
  const { call, events } = await open({ ...binding, timeoutMs: 700 }, { pool });
  const release = Promise.withResolvers<void>();
  const held = pool.add(() => release.promise);
  const answered = call();
  await sleep(900);
  expect(events).toEqual([]);
  release.resolve();
  await held;
  expect(JSON.parse(await answered)).toEqual(
    { oneshot: { allow: true, result: 'unread', score: 1 }, server: {} }[on],
  );
});
