import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { type Member, openBackgroundHooks } from '../../../src/calls/hooks/group.ts';
import { answers } from '../../../src/contract/hook.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import type { ForeignDialect } from '../../../src/dialects/foreign-dialect.ts';
import { type Does, hookCall, openPlayedGroup, point } from './played-group.ts';

const allow = answers.allow();
const watching = { ...point, isFilter: false };
const question = (n = 0) => ({ point: 'P', payload: { n }, hookContext: hookCall().hookContext });

function openQueues(
  does: Readonly<Record<string, Does>>,
  more: Partial<ForeignDialect> = {},
  over: Partial<Member> = {},
) {
  const bench = openPlayedGroup({ P: watching, F: point }, more);
  const stop = new AbortController();
  const members = Object.entries(does).map(([name, each]) => bench.member(name, each, over));
  const hooks = openBackgroundHooks(bench.dialect, members, { ...bench.context, stop: stop.signal });
  const [first] = members;
  if (first === undefined) throw new Error('there is none');
  return { ...bench, hooks, members, first, stop };
}

/** A hook that answers when the test releases it or its question is cancelled. */
function slow() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const does = async (signal: AbortSignal | undefined) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    signal?.addEventListener('abort', () => end());
    await Promise.race([promise, ended]);
    return signal?.aborted ? new RuntimeError('ABORTED', 'ended') : allow;
  };
  return { does, let: resolve };
}

test('a background hook runs in its own process, one event after another, and reports once', async () => {
  const { hooks, first, said, decisions, member } = openQueues(
    { a: answers.deny('no') },
    {},
    { backgroundTransport: undefined },
  );
  const own = member('own', allow);
  const apart = openQueues({ a: answers.deny('no') }, {}, { backgroundTransport: own.transport });
  await apart.hooks.enqueue(apart.first, hookCall(), question());
  // The observer's own process gets the question.
  expect([apart.said, said]).toEqual([[], ['own asked {"n":0}']]);
  const heard: string[] = [];
  await hooks.enqueue(first, hookCall({ onHear: (name) => void heard.push(name) }), question(1));
  expect(heard).toEqual(['a']);
  expect(decisions()).toMatchObject([
    { hook: 'a', mode: 'observe', verdict: 'deny', error: { code: 'INTERNAL' } },
  ]);
});

test('a hook of another runtime does not run', async () => {
  const { hooks, member, said } = openQueues({ a: allow });
  const heard: string[] = [];
  await hooks.enqueue(
    member('stranger', allow),
    hookCall({ onHear: (name) => void heard.push(name) }),
    question(),
  );
  expect([said, heard]).toEqual([[], []]);
});

test('late texts are kept for their session, wrapped as the dialect requires, and delivered once', async () => {
  const context = ['one', 'two'];
  const wrapping = openQueues({ a: answers.allow({ context }) }, { wrapLateContext: (text) => `<${text}>` });
  const { hooks, first } = wrapping;
  expect(hooks.takeLateContext('s1')).toEqual([]);
  await hooks.enqueue(first, hookCall(), question());
  await hooks.enqueue(first, hookCall(), question());
  await hooks.enqueue(first, hookCall({ hookContext: createHookContext('s2') }), question());
  expect(hooks.takeLateContext('s3')).toEqual([]);
  expect(hooks.takeLateContext('s1')).toEqual(['<one>', '<two>', '<one>', '<two>']);
  expect(hooks.takeLateContext('s1')).toEqual([]);
  expect(hooks.takeLateContext('s2')).toEqual(['<one>', '<two>']);
  const { wrapLateContext: _, ...plain } = wrapping.dialect;
  const bare = openBackgroundHooks(plain, wrapping.members, wrapping.context);
  await bare.enqueue(first, hookCall(), question());
  expect(bare.takeLateContext('s1')).toEqual(context);
  const silent = openQueues({ a: allow });
  await silent.hooks.enqueue(silent.first, hookCall(), question());
  expect(silent.hooks.takeLateContext('s1')).toEqual([]);
});

test('texts of sessions that never resume are limited to the latest of the most recent sessions', async () => {
  const { hooks, first } = openQueues(
    { a: answers.allow({ context: ['x', 'y'] }) },
    { wrapLateContext: (text) => text },
  );
  const hear = async (session: string) =>
    await hooks.enqueue(first, hookCall({ hookContext: createHookContext(session) }), question());
  await hear('first');
  await hear('second');
  await hear('first');
  for (let count = 0; count < 255; count += 1) await hear(`s${count}`);
  expect(hooks.takeLateContext('second')).toEqual([]);
  expect(hooks.takeLateContext('first')).toEqual(['x', 'y', 'x', 'y']);
  for (let count = 0; count < 100; count += 1) await hear('long');
  expect(hooks.takeLateContext('long')).toEqual(Array.from({ length: 32 }, () => ['x', 'y']).flat());
});

test('a server is notified if its answer is not read, all servers in the order of the events', async () => {
  const { hooks, members, said } = openQueues({ a: allow, b: allow });
  const notified = members.map((member): Member => {
    const notify = async ({ body }: { readonly body: string }) => {
      await nextTurn();
      said.push(`${member.entry.name} told ${body}`);
    };
    const transport = member.transport && { ...member.transport, notify };
    return { ...member, transport, backgroundTransport: transport };
  });
  const [a, b] = notified;
  if (a === undefined || b === undefined) return;
  const heard: string[] = [];
  const call = hookCall({ onHear: (name) => void heard.push(name) });
  await Promise.all([hooks.enqueue(a, call, question(1)), hooks.enqueue(b, call, question(2))]);
  expect([said.splice(0), heard]).toEqual([
    ['a told {"n":1}', 'b told {"n":2}'],
    ['a', 'b'],
  ]);
  // A point's question is asked even if nothing waits for the answer.
  const [first] = members;
  if (first === undefined) return;
  const asking = openBackgroundHooks(openPlayedGroup({ F: point }).dialect, [a], openPlayedGroup({}).context);
  await asking.enqueue(a, hookCall({ point: 'F' }), question());
  expect(said).toEqual(['a asked {"n":0}']);
});

test('a hook that is too far behind receives no more events, with a report', async () => {
  const a = slow();
  const { hooks, first, said, events } = openQueues({ a: a.does });
  const heard: string[] = [];
  const call = hookCall({ onHear: (name) => void heard.push(name) });
  const all = Array.from({ length: 1030 }, (_, n) => hooks.enqueue(first, call, question(n)));
  const drops = events.filter(({ type }) => type === 'dropped');
  expect(drops).toHaveLength(6);
  expect(drops[0]).toMatchObject({ name: 'a', detail: 'P: 1024 events are waiting already' });
  expect(heard).toHaveLength(1024);
  a.let();
  await Promise.all(all);
  expect(said).toHaveLength(1024);
  await hooks.close();
});

test('close waits for queued events', async () => {
  const { hooks, first, said, events } = openQueues({
    a: async () => {
      await nextTurn();
      return allow;
    },
  });
  for (const n of [0, 1, 2]) void hooks.enqueue(first, hookCall(), question(n));
  await hooks.close();
  expect(said).toHaveLength(3);
  expect(events.filter(({ type }) => type !== 'decision')).toEqual([]);
});

test('at the end waiting events are dropped, and not awaited', async () => {
  const a = slow();
  const { hooks, first, said, events, stop } = openQueues({ a: a.does });
  const all = [0, 1, 2].map((n) => hooks.enqueue(first, hookCall(), question(n)));
  while (said.length === 0) await nextTurn();
  stop.abort();
  await Promise.all(all);
  await hooks.close();
  expect(said).toHaveLength(1);
  expect(
    events.flatMap((event) => (event.type === 'dropped' ? [`${event.name} ${event.detail}`] : [])),
  ).toEqual(['a 2 events still waiting when the runtime closed']);
});

test('at the end a hook that ignores the end is not awaited', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const deaf = async () => {
    await promise;
    return allow;
  };
  const { hooks, first, stop, decisions } = openQueues({ a: deaf });
  const told = hooks.enqueue(first, hookCall(), question());
  stop.abort();
  await told;
  expect(decisions()).toEqual([]);
  resolve();
  await hooks.close();
});

test('close waits at most twice the time limit of the slowest hook in progress', async () => {
  const a = slow();
  const { hooks, first, said, decisions } = openQueues({ a: a.does, b: allow }, {}, { timeoutMs: 5 });
  const asked = hooks.enqueue(first, hookCall(), question());
  while (said.length === 0) await nextTurn();
  await hooks.close();
  await asked;
  expect(decisions()).toMatchObject([{ verdict: 'deny', error: { code: 'ABORTED' } }]);
});

test('an event that fails in an unknown way delays nothing', async () => {
  const { hooks, first, said, context, dialect, members } = openQueues({ a: allow });
  const emit = () => {
    throw new Error('the log is gone');
  };
  const broken = openBackgroundHooks(dialect, members, { ...context, emit });
  await broken.enqueue(first, hookCall(), question(0));
  await broken.enqueue(first, hookCall(), question(1));
  await broken.close();
  await hooks.close();
  expect(said).toHaveLength(2);
});

test('after a second the log names the hooks that a close waits for, and the longest wait', async () => {
  const a = slow();
  const { hooks, members, events } = openQueues({ a: a.does, b: allow, c: allow }, {}, { timeoutMs: 4_000 });
  const done = members.flatMap((member) => [0, 1].map((n) => hooks.enqueue(member, hookCall(), question(n))));
  const closing = hooks.close();
  const notes = () => events.filter(({ type }) => type === 'note');
  while (notes().length === 0) await sleep(20);
  a.let();
  await Promise.all([closing, ...done]);
  const message = 'the runtime is still waiting for a before it closes, for 8 s at most';
  expect(notes()).toEqual([{ type: 'note', name: 'played', level: 'warn', message }]);
});
