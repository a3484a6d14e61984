import { getEventListeners } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../src/errors.ts';
import { createPool, withPool } from '../../src/transport/pool.ts';
import type { Reply, Transport } from '../../src/transport/transport.ts';
import { onTransports } from '../cite.ts';
import { allOf, bind, bindQuick, faultOf, open, readOverlap, until } from './harness.ts';

const message = { method: 'execute', body: '{}' };
const reply: Reply = { via: 'process', exitCode: 0, signal: null, stdout: new Uint8Array(), stderr: '' };

/** A transport whose exchanges end when they are told to; it knows how many run. */
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

test('no more exchanges run at once than the pool has slots', async () => {
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

test('an entry’s own limit holds inside a larger pool, and leaves the others their slots', async () => {
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

test('a failed exchange gives its slots back', async () => {
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
  'a caller that gives up while it waits $title leaves the queue',
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

test('a caller that gave up before gets no slot', async () => {
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

test('a one-shot caller that gives up while queued starts no process', async () => {
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

test('a timed-out exchange gives its slot back while its process still dies', async () => {
  const pool = createPool(1);
  const hanging = await open(bind('hang-ignoring-term.sh', { timeoutMs: 300, graceMs: 1_000 }), { pool });
  const quick = await open(bind('never-reads.sh'), { pool });
  const timedOut = hanging.fault();
  expect(JSON.parse(await quick.call()).result).toBe('unread');
  expect((await timedOut).code).toBe('PROCESS_TIMEOUT');
  expect(allOf(hanging.events, 'process.ended')).toEqual([]);
});

test('a chain of exchanges comes to an end with one slot [DS-PROC-09@oneshot]', async () => {
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
