import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { DecisionFilter, DecisionStore, NewDecision } from '../../src/store/decision-store.ts';
import { openSqliteDecisions } from '../../src/store/open-decisions.ts';
import { openPostgresDecisions } from '../../src/store/postgres-decisions.ts';
import { memoryFile } from '../../src/store/sqlite/connection.ts';
import { newDecision, newModelCall } from './decision-examples.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './postgres/server.ts';

const ofAge = (now: number) => ({ now, keep: 0 });

type OpenTwo = () => Promise<readonly [DecisionStore, DecisionStore]>;

describe('decisions in SQLite', () =>
  storeTests(async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'decisions-')), 'decisions.db');
    return [await openSqliteDecisions(file), await openSqliteDecisions(file)];
  }));

describe('decisions in memory', () =>
  storeTests(async () => {
    const store = await openSqliteDecisions(memoryFile);
    return [store, store];
  }));

describe.runIf(hasPostgres)(`decisions in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  storeTests(async () => {
    const address = addressOf(await server.newUrl('socket', 'caller'));
    return [await openPostgresDecisions(address), await openPostgresDecisions(address)];
  });
});

function storeTests(openTwo: OpenTwo): void {
  const open = async () => {
    const both = await openTwo();
    onTestFinished(async () => {
      for (const store of both) await store.close();
    });
    return both;
  };
  const addMany = async (store: DecisionStore, count: number, each: (n: number) => NewDecision) => {
    for (let from = 0; from < count; from += 5_000)
      await store.add(Array.from({ length: Math.min(5_000, count - from) }, (_, at) => each(from + at)));
  };
  const walk = async (store: DecisionStore, filter: DecisionFilter, limit: number) => {
    const found: string[] = [];
    for (let after: number | undefined; ; ) {
      const page = await store.page({ ...filter, after, limit });
      found.push(...page.map((row) => ('dropped' in row ? `gap ${row.dropped}` : row.event)));
      after = page.at(-1)?.place;
      if (page.length < limit) return found;
    }
  };

  test('an empty store has no pages, counts or calls', async () => {
    const [store] = await open();
    expect(await store.page({ limit: 10 })).toEqual([]);
    expect(await store.page({ hook: 'guard', run: 'r', since: 5, limit: 10 })).toEqual([]);
    expect(await store.count({ hook: 'guard', run: 'r' })).toEqual([]);
    expect(await store.countDropped('decisions')).toBe(0);
    expect(await store.pageCalls({ run: 'r', step: 's', limit: 10 })).toEqual([]);
    expect([await store.hasOlder(ofAge(9_000)), await store.prune(ofAge(9_000), [])]).toEqual([false, false]);
  });

  test('a decision is read as it was written, also a hostile one', async () => {
    const [store, other] = await open();
    const hostile = newDecision({
      hook: "a'; DROP TABLE decisions; --",
      reason: 'NUL \0, lone \ud800, json:"x", \u001b[31m',
      run: 'r1',
      step: 'answer',
      error: 'TIMEOUT',
      operationId: null,
    });
    await store.add([hostile]);
    expect(await other.page({ limit: 10 })).toEqual([{ ...hostile, place: 1 }]);
    expect(await other.page({ run: 'r1', hook: hostile.hook, limit: 10 })).toHaveLength(1);
  });

  test('pages are newest first in the order of writing, whatever the clocks said, with gaps in between', async () => {
    const [store, other] = await open();
    await store.add([newDecision({ event: 'e1', at: 9_000 }), newDecision({ event: 'e2', at: 10 })]);
    await other.add([
      { what: 'decisions', dropped: 7, at: 20 },
      newDecision({ event: 'e3', verdict: 'deny', run: 'r1', at: 5_000 }),
    ]);
    await store.add([newDecision({ event: 'e4', hook: 'other', mode: 'shadow', operation: 'gateway' })]);
    for (const limit of [1, 2, 3, 100]) {
      expect(await walk(store, {}, limit)).toEqual(['e4', 'e3', 'gap 7', 'e2', 'e1']);
      expect(await walk(store, { hook: 'guard' }, limit)).toEqual(['e3', 'gap 7', 'e2', 'e1']);
      expect(await walk(store, { hook: 'guard', verdict: 'allow' }, limit)).toEqual(['gap 7', 'e2', 'e1']);
      expect(await walk(store, { run: 'r1' }, limit)).toEqual(['e3', 'gap 7']);
      expect(await walk(store, { mode: 'shadow', operation: 'gateway' }, limit)).toEqual(['e4', 'gap 7']);
      expect(await walk(store, { since: 21 }, limit)).toEqual(['e4', 'e3', 'e1']);
      expect(await walk(store, { hook: 'unknown' }, limit)).toEqual(['gap 7']);
      expect(await walk(store, { event: 'e2' }, limit)).toEqual(['gap 7', 'e2']);
      expect(await walk(store, { event: 'e3', run: 'r1', since: 21, until: 9_000 }, limit)).toEqual(['e3']);
      expect(await walk(store, { event: 'e3', hook: 'other', since: 21 }, limit)).toEqual([]);
      expect(await walk(store, { until: 9_000, since: 21 }, limit)).toEqual(['e4', 'e3']);
    }
    expect(await store.count({})).toEqual([
      { hook: 'guard', mode: 'filter', verdict: 'allow', count: 2 },
      { hook: 'guard', mode: 'filter', verdict: 'deny', count: 1 },
      { hook: 'other', mode: 'shadow', verdict: 'allow', count: 1 },
    ]);
    expect(await store.count({ run: 'r1', since: 21 })).toEqual([
      { hook: 'guard', mode: 'filter', verdict: 'deny', count: 1 },
    ]);
    expect(await store.count({ event: 'e3' })).toMatchObject([{ verdict: 'deny', count: 1 }]);
    const dropped = [store.countDropped('decisions'), store.countDropped('decisions', { since: 21 })];
    expect(await Promise.all([...dropped, store.countDropped('model_calls')])).toEqual([7, 0, 0]);
  });

  test('of 100,000 decisions, every page shows what its filter selects', async () => {
    const [store] = await open();
    const each = (n: number) =>
      newDecision({
        ...{ event: `e${n}`, at: n, run: n % 2 === 0 ? 'r1' : null, hook: `h${n % 7}` },
        ...(n === 3 && { verdict: 'deny', mode: 'shadow' }),
      });
    await addMany(store, 100_000, each);
    const times: [string, number][] = [];
    const timed = async (filter: DecisionFilter, after?: number) => {
      const from = performance.now();
      const page = await store.page({ ...filter, after, limit: 100 });
      times.push([JSON.stringify({ ...filter, after }), Math.round(performance.now() - from)]);
      return page.map((row) => ('event' in row ? row.event : ''));
    };
    expect((await timed({}))[0]).toBe('e99999');
    expect((await timed({}, 50_000))[0]).toBe('e49998');
    expect(await timed({ verdict: 'deny' })).toEqual(['e3']);
    expect(await timed({ mode: 'shadow', hook: 'h3' })).toEqual(['e3']);
    expect(await timed({ hook: 'h3', verdict: 'allow' })).toHaveLength(100);
    expect((await timed({ run: 'r1', hook: 'h2' }, 50_000))[0]).toBe('e49996');
    expect(await timed({ run: 'r1', verdict: 'deny' })).toEqual([]);
    expect(await timed({ since: 99_998 })).toEqual(['e99999', 'e99998']);
    expect(await timed({ since: 200_000 })).toEqual([]);
    const from = performance.now();
    const counts = await store.count({});
    times.push(['counts', Math.round(performance.now() - from)]);
    const hoursFrom = performance.now();
    const hours = await store.count({ since: 0, everyMs: 600 });
    times.push([`counts of ${hours.length} buckets`, Math.round(performance.now() - hoursFrom)]);
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(100_000);
    if (process.env['SHOW_TIMES'] !== undefined) console.log(times);
  });

  test('counts of hours are those of the decisions that began in them', async () => {
    const [store, other] = await open();
    const HOUR = 3_600_000;
    const begin = Date.UTC(2026, 10, 20);
    const made = Array.from({ length: 3_000 }, (_, n) =>
      newDecision({
        // Clocks jump, and some decisions are exactly at the begin of an hour.
        at: begin + (n % 10 === 0 ? HOUR * (n % 70) : (n * 7_919_317) % (72 * HOUR)),
        hook: `h${n % 3}`,
        ...(n % 4 === 0 && { verdict: 'deny' }),
        run: n % 5 === 0 ? 'r1' : null,
      }),
    );
    await store.add(made.slice(0, 1_500));
    await other.add(made.slice(1_500));
    const filters: (DecisionFilter & { everyMs: number })[] = [
      { since: begin, everyMs: HOUR },
      { since: begin, everyMs: 24 * HOUR },
      { since: begin + HOUR / 2, until: begin + 5 * HOUR, everyMs: HOUR },
      { hook: 'h1', verdict: 'deny', everyMs: HOUR },
      { run: 'r1', until: begin + 24 * HOUR, everyMs: HOUR },
    ];
    for (const { everyMs, ...filter } of filters) {
      const { since = 0, until = Number.POSITIVE_INFINITY, hook, verdict, run } = filter;
      const wanted = new Map<string, number>();
      for (const each of made) {
        const isWanted = [
          each.at >= since && each.at < until,
          ...[hook === undefined || each.hook === hook, verdict === undefined || each.verdict === verdict],
          run === undefined || each.run === run,
        ];
        if (!isWanted.every(Boolean)) continue;
        const key = [each.at - (each.at % everyMs), each.hook, each.mode, each.verdict].join(' ');
        wanted.set(key, (wanted.get(key) ?? 0) + 1);
      }
      const found = await other.count({ ...filter, everyMs });
      const keys = found.map((each) => [each.at, each.hook, each.mode, each.verdict].join(' '));
      expect(new Map(found.map(({ count }, at) => [keys[at], count]))).toEqual(wanted);
      expect(keys).toEqual(keys.toSorted());
    }
  });

  test('a message is stored once, and a call that is added again is stored once', async () => {
    const [store, other] = await open();
    const first = newModelCall('c1', { messages: ['"a"', '"b"', '"b"'], answers: 1 });
    const second = newModelCall('c2', { messages: ['"a"', '"c"'], operationId: null, step: null });
    await store.addCalls([first, first]);
    await other.addCalls([second, first]);
    const [one, two, ...rest] = await store.pageCalls({ run: 'r1', limit: 10 });
    expect([one?.id, two?.id, rest]).toEqual(['c1', 'c2', []]);
    const texts = await store.readMessages([...(one?.messages ?? []), ...(two?.messages ?? [])]);
    expect(texts.size).toBe(3);
    expect(one?.messages.map((id) => texts.get(id))).toEqual(first.messages);
    expect(two?.messages.map((id) => texts.get(id))).toEqual(second.messages);
    expect(two?.messages[0]).toBe(one?.messages[0]);
  });

  test('calls are found by their operation, run and step, or by a step inside it', async () => {
    const [store] = await open();
    await store.addCalls([
      newModelCall('c1'),
      newModelCall('c2', { step: 'answer2' }),
      newModelCall('c3', { step: null }),
      newModelCall('c4', { run: 'r2' }),
    ]);
    const ids = async (filter: object) =>
      (await store.pageCalls({ ...filter, limit: 10 })).map(({ id }) => id);
    expect(await ids({ run: 'r1' })).toEqual(['c1', 'c2', 'c3']);
    expect(await ids({ run: 'r1', step: 'answer' })).toEqual(['c1', 'c3']);
    expect(await ids({ run: 'r1', step: 'answer/attempt-1/call-1' })).toEqual(['c1', 'c3']);
    expect(await ids({ operationId: 'op-c4' })).toEqual(['c4']);
    expect(await ids({ run: 'r1', after: 1 })).toEqual(['c2', 'c3']);
  });

  test('pruning removes what is old in batches, but keeps runs and shared messages', async () => {
    const [store] = await open();
    await addMany(store, 1_200, (n) => newDecision({ event: `e${n}`, at: n, run: n < 2 ? 'open' : null }));
    const calls = Array.from({ length: 60 }, (_, n) =>
      newModelCall(`c${n}`, { messages: ['"system"', `"${n}"`], at: n, run: n === 0 ? 'open' : 'done' }),
    );
    await store.addCalls([...calls, newModelCall('new', { messages: ['"system"', '"7"'], at: 5_000 })]);
    await store.add([newDecision({ event: 'new', at: 5_000 }), { what: 'model_calls', dropped: 2, at: 10 }]);
    let batches = 1;
    while (await store.prune(ofAge(2_000), ['open'])) batches += 1;
    expect(batches).toBe(3);
    expect(await walk(store, {}, 10)).toEqual(['new', 'e1', 'e0']);
    expect((await store.pageCalls({ run: 'open', limit: 10 })).map(({ id }) => id)).toEqual(['c0']);
    expect((await store.pageCalls({ run: 'done', limit: 10 })).map(({ id }) => id)).toEqual([]);
    const texts = await store.readMessages(Array.from({ length: 200 }, (_, id) => id));
    expect([...texts.values()].toSorted()).toEqual(['"0"', '"7"', '"system"']);
    expect([await store.prune(ofAge(9_000), []), await walk(store, {}, 10)]).toEqual([false, []]);
    expect(await store.readMessages([...texts.keys()])).toEqual(new Map());
  });

  test('two processes add at once, and every row is there', async () => {
    const both = await open();
    const writes = both.flatMap((store, one) =>
      Array.from({ length: 20 }, async (_, n) => {
        await store.add([newDecision({ hook: `h${n}`, event: `${one}-${n}` })]);
        await store.addCalls([newModelCall(`${one}-${n}`, { messages: ['"same"', `"${n}"`] })]);
      }),
    );
    await Promise.all(writes);
    expect(new Set(await walk(both[0], {}, 7)).size).toBe(40);
    const calls = await both[0].pageCalls({ run: 'r1', limit: 100 });
    expect(calls).toHaveLength(40);
    expect(new Set(calls.flatMap(({ messages }) => messages)).size).toBe(21);
  });
}
