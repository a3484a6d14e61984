import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import {
  type LimitedQueue,
  limitQueues,
  openObserver,
  openShadow,
} from '../../../src/calls/hooks/observer-queue.ts';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import type { Reply } from '../../../src/contract/exchange.ts';
import { type Answer, answers, type NativeEvent } from '../../../src/contract/hook.ts';
import { openBench } from '../capability/bench.ts';

/** A queue of that size. An event is done when it is cleared or released. */
function openQueue(size: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const state = { size, cleared: 0 };
  const queue: LimitedQueue = {
    get size() {
      return state.size;
    },
    clear: () => {
      state.size = 0;
      state.cleared += 1;
    },
    onIdle: () => promise,
  };
  return { queue, state, let: resolve };
}

function openLimit(queues: Parameters<typeof limitQueues>[0], stop?: AbortSignal) {
  const events: RuntimeEvent[] = [];
  const limit = limitQueues(queues, (event) => void events.push(event), stop);
  return { limit, drops: () => events.flatMap((event) => (event.type === 'dropped' ? [event] : [])) };
}

test('a queue holds 1024 events, reports each drop at the start of a flood, and its end when it is half empty', () => {
  const { limit, drops } = openLimit([]);
  const at = (waiting: number) => limit.isFull('a', waiting, 'scored');
  expect([at(0), at(511), at(512), at(1023)]).toEqual([false, false, false, false]);
  expect(drops()).toEqual([]);
  expect([at(1024), at(5000)]).toEqual([true, true]);
  expect(drops()).toEqual(
    Array(2).fill({
      type: 'dropped',
      name: 'a',
      what: 'observer event',
      detail: 'scored: 1024 events are waiting already',
    }),
  );
  for (let count = 0; count < 20; count += 1) at(1024);
  expect(at(512)).toBe(false);
  const before = drops().length;
  expect(at(511)).toBe(false);
  expect(
    drops()
      .slice(before)
      .map(({ detail }) => detail),
  ).toEqual(['22 events in all, while 1024 events were waiting already']);
});

test('queued events are awaited, and nothing is dropped', async () => {
  const [a, b] = [openQueue(0), openQueue(0)];
  const { limit, drops } = openLimit([
    ['a', a.queue],
    ['b', b.queue],
  ]);
  limit.isFull('a', 1024, 'scored');
  let isClosed = false;
  const closing = limit.close(60_000).then(() => {
    isClosed = true;
  });
  a.let();
  await nextTurn();
  expect(isClosed).toBe(false);
  b.let();
  await closing;
  expect([limit.signal.aborted, a.state.cleared, b.state.cleared]).toEqual([false, 0, 0]);
  expect(drops()).toHaveLength(1);
});

test('events still queued at the limit are dropped and reported, and the one in progress ends a little later', async () => {
  const [a, b] = [openQueue(3), openQueue(0)];
  const { limit, drops } = openLimit([
    ['a', a.queue],
    ['b', b.queue],
  ]);
  limit.signal.addEventListener('abort', () => {
    a.let();
    b.let();
  });
  const began = performance.now();
  const closing = limit.close(1);
  await closing;
  expect(performance.now() - began).toBeGreaterThan(200);
  // Cleared at the limit, and again when the current event ends.
  expect([limit.signal.aborted, a.state.cleared, b.state.cleared]).toEqual([true, 2, 2]);
  expect(drops()).toEqual([
    {
      type: 'dropped',
      name: 'a',
      what: 'observer event',
      detail: '3 events still waiting when the runtime closed',
    },
  ]);
});

test('stopping the runtime drops queued events, until it has closed', async () => {
  const stop = new AbortController();
  const a = openQueue(2);
  const { limit, drops } = openLimit([['a', a.queue]], stop.signal);
  stop.abort();
  expect([limit.signal.aborted, a.state.cleared, drops().length]).toEqual([true, 1, 1]);
  const late = new AbortController();
  const b = openQueue(2);
  const closed = openLimit([['b', b.queue]], late.signal);
  b.let();
  await closed.limit.close(60_000);
  late.abort();
  expect([closed.limit.signal.aborted, b.state.cleared, closed.drops()]).toEqual([false, 0, []]);
});

const session = (turn_index: number): NativeEvent =>
  readEvent({ hook: 'session', phase: 'session_update', event: { turn_index } });

type Exchange = (turn: number, signal: AbortSignal | undefined) => Promise<Reply>;

/** A port without a process. `heard` holds the turns that it received. */
function openPort(exchange: Exchange, timeoutMs = 60_000) {
  const bench = openBench();
  const port = bench.filter({ runs: ['answers'], name: 'audit', timeoutMs });
  const heard: number[] = [];
  const encode = (event: NativeEvent) => ({
    method: 'hook',
    body: JSON.stringify('event' in event && 'turn_index' in event.event ? event.event.turn_index : null),
  });
  const decode = () => ({ output: answers.deny('no') satisfies Answer, notes: [] });
  const transport = {
    ...port.transport,
    exchange: async ({ body }: { readonly body: string }, signal?: AbortSignal) => {
      heard.push(Number(body));
      return await exchange(Number(body), signal);
    },
  };
  const ends = () => bench.events.flatMap((event) => (event.type === 'call.finished' ? [event] : []));
  return { port: { ...port, transport, codec: { encode, decode } }, heard, ends, events: bench.events };
}

const told: Reply = { via: 'rpc', result: new Json('{}') };

test('an observer receives events in order, one at a time, in a later turn of the event loop', async () => {
  let underway = 0;
  const { port, heard, ends } = openPort(async () => {
    underway += 1;
    expect(underway).toBe(1);
    await nextTurn();
    underway -= 1;
    return told;
  });
  const observer = openObserver(port);
  for (const turn of [0, 1, 2]) observer.enqueue(session(turn), `c${turn}`);
  expect(heard).toEqual([]);
  await observer.close();
  expect(heard).toEqual([0, 1, 2]);
  expect(ends()).toMatchObject(
    ['c0', 'c1', 'c2'].map((call) => ({ capability: 'hook', name: 'audit', call, status: 'told' })),
  );
  observer.enqueue(session(3), 'c3');
  await observer.close();
  expect(heard).toHaveLength(4);
});

test.each<[string, Reply | Error, object]>([
  [
    'exits with 0',
    { via: 'process', exitCode: 0, signal: null, stdout: Buffer.from(''), stderr: '' },
    { status: 'told' },
  ],
  [
    'exits with 3',
    { via: 'process', exitCode: 3, signal: null, stdout: Buffer.from(''), stderr: '' },
    { status: 'untold', error: { code: 'PROCESS_EXIT' } },
  ],
  [
    'is ended by a signal',
    { via: 'process', exitCode: null, signal: 'SIGKILL', stdout: Buffer.from(''), stderr: '' },
    { status: 'untold', error: { code: 'PROCESS_SIGNAL' } },
  ],
  ['answers', told, { status: 'told' }],
  [
    'is gone',
    new RuntimeError('SERVER_EXIT', 'gone'),
    { status: 'untold', error: { code: 'SERVER_EXIT', message: 'gone' } },
  ],
  ['breaks', new Error('broken'), { status: 'untold', error: { code: 'INTERNAL' } }],
])('an observer that %s', async (_, does, end) => {
  const { port, ends } = openPort(async () => {
    if (does instanceof Error) throw does;
    return does;
  });
  const observer = openObserver(port);
  observer.enqueue(session(0), 'c');
  await observer.close();
  expect(ends()).toMatchObject([end]);
  if (!('error' in end)) expect(ends()[0]).not.toHaveProperty('error');
});

test('a shadow runs like a filter, in order, and its verdict is only reported; a failure delays nothing', async () => {
  const { port, heard, events } = openPort(async (turn) => {
    if (turn === 0) throw new Error('broken');
    return told;
  });
  const shadow = openShadow({ ...port, mode: 'shadow' });
  for (const turn of [0, 1]) shadow.enqueue(session(turn), `c${turn}`);
  await shadow.close();
  expect(heard).toEqual([0, 1]);
  expect(
    events.flatMap((event) => (event.type === 'decision' ? [[event.call, event.mode, event.verdict]] : [])),
  ).toEqual([
    ['c0', 'shadow', 'deny'],
    ['c1', 'shadow', 'deny'],
  ]);
});

test('an idle and a busy observer each take one event more than the queue holds', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { port, heard, events } = openPort(async () => {
    await promise;
    return told;
  });
  const observer = openObserver(port);
  const drops = () => events.filter(({ type }) => type === 'dropped').length;
  for (let turn = 0; turn < 1025; turn += 1) observer.enqueue(session(turn), 'c');
  expect(drops()).toBe(0);
  observer.enqueue(session(1025), 'c');
  expect(drops()).toBe(1);
  await nextTurn();
  await nextTurn();
  expect(heard).toEqual([0]);
  // One is in progress and 1024 wait.
  observer.enqueue(session(1026), 'c');
  expect(drops()).toBe(2);
  resolve();
  await observer.close();
  expect(heard).toEqual(Array.from({ length: 1025 }, (_, turn) => turn));
});

test('at the end waiting events are dropped, and the one in progress is ended, even a first one', async () => {
  for (const isUnderway of [true, false]) {
    const stop = new AbortController();
    const { port, heard, events, ends } = openPort(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          const end = () => reject(new RuntimeError('ABORTED', 'ended'));
          if (signal?.aborted) end();
          signal?.addEventListener('abort', end);
        }),
    );
    const observer = openObserver(port, stop.signal);
    for (const turn of [0, 1, 2]) observer.enqueue(session(turn), 'c');
    if (isUnderway) while (heard.length === 0) await nextTurn();
    stop.abort();
    await observer.close();
    expect(heard).toEqual([0]);
    expect(ends()).toMatchObject([{ status: 'untold', error: { code: 'ABORTED' } }]);
    expect(events.flatMap((event) => (event.type === 'dropped' ? [event.detail] : []))).toEqual([
      '2 events still waiting when the runtime closed',
    ]);
  }
});

test('an observer that ran before is idle again: its next event is delivered at the end as well', async () => {
  const stop = new AbortController();
  const { port, heard } = openPort(async () => told);
  const observer = openObserver(port, stop.signal);
  observer.enqueue(session(0), 'c');
  while (heard.length === 0) await nextTurn();
  await nextTurn();
  for (const turn of [1, 2]) observer.enqueue(session(turn), 'c');
  stop.abort();
  await observer.close();
  expect(heard).toEqual([0, 1]);
});
