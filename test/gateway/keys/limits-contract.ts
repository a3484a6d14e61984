import { expect, test } from 'vitest';
import type { StateStoreConfig } from '../../../src/config/config.ts';
import type { Lease } from '../../../src/gateway/ports.ts';
import { admit, cents, clockAt, enter, manage, refusalOf } from './open.ts';

/** `newStore` returns a store without keys. */
export function limitsContract(newStore: () => Promise<StateStoreConfig>): void {
  test('the limit of concurrent calls holds over all processes', async () => {
    const store = await newStore();
    const { key } = await (await manage(store)).create({ name: 'team', concurrent: 3 });
    const all = await Promise.all([admit(store), admit(store)]);
    const entering = Array.from({ length: 20 }, (_, index) => enter(all[index % 2] ?? all[0], key));
    const entered = await Promise.allSettled(entering);
    const leases = entered.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(leases).toHaveLength(3);
    expect(await refusalOf(enter(all[0], key))).toMatchObject({
      ...{ status: 429, code: 'concurrency_limit_exceeded', retryAfter: 1, isRetryable: true },
    });
    await leases[0]?.end(undefined);
    await leases[0]?.end(undefined);
    await enter(all[1], key);
    expect((await refusalOf(enter(all[0], key))).code).toBe('concurrency_limit_exceeded');
  });

  test('the limit of requests holds in any 60 seconds, and retry-after is exact to the second', async () => {
    const store = await newStore();
    const clock = clockAt('2026-11-22T12:00:00.700Z');
    const { key } = await (await manage(store)).create({ name: 'team', requestsPerMinute: 5 });
    const admission = await admit(store, { now: clock.now });
    const passed: number[] = [];
    for (let step = 0; step < 3000; step += 1) {
      clock.move(173);
      try {
        await enter(admission, key);
        passed.push(clock.now());
      } catch {
        const { retryAfter = 0 } = await refusalOf(enter(admission, key));
        expect(retryAfter).toBeGreaterThan(0);
        clock.move(retryAfter * 1000);
        await enter(admission, key);
        passed.push(clock.now());
      }
    }
    for (const [index, at] of passed.entries()) {
      const sixth = passed[index + 5];
      if (sixth !== undefined) expect(sixth - at).toBeGreaterThanOrEqual(60_000);
    }
  });

  test('a refused request does not count', async () => {
    const store = await newStore();
    const clock = clockAt('2026-11-22T12:00:00Z');
    const { key } = await (await manage(store)).create({ name: 'team', requestsPerMinute: 1 });
    const admission = await admit(store, { now: clock.now });
    await enter(admission, key);
    for (let count = 0; count < 50; count += 1) {
      clock.move(1000);
      expect((await refusalOf(enter(admission, key))).retryAfter).toBe(61 - (count + 1));
    }
    clock.move(11_000);
    await enter(admission, key);
  });

  test('a clock that is set back grants no extra calls, and blocks none for longer than a minute', async () => {
    const store = await newStore();
    const clock = clockAt('2026-11-22T12:00:00Z');
    const { key } = await (await manage(store)).create({ name: 'team', requestsPerMinute: 2 });
    const admission = await admit(store, { now: clock.now });
    await enter(admission, key);
    await enter(admission, key);
    clock.move(-86_400_000);
    expect((await refusalOf(enter(admission, key))).code).toBe('rate_limit_exceeded');
    clock.move(59_000);
    expect((await refusalOf(enter(admission, key))).code).toBe('rate_limit_exceeded');
    clock.move(2_000);
    await enter(admission, key);
  });

  test('tokens are reserved by estimate and counted by usage', async () => {
    const store = await newStore();
    const clock = clockAt('2026-11-22T12:00:00Z');
    const { key } = await (await manage(store)).create({ name: 'team', tokensPerMinute: 100 });
    const admission = await admit(store, { now: clock.now });
    const begin = async (tokens: number): Promise<Lease> => {
      return await enter(admission, key, { estimate: { inputTokens: tokens, outputTokens: 0, cost: null } });
    };
    const first = await begin(60);
    expect(await refusalOf(begin(60))).toMatchObject({ status: 429, retryAfter: 61, isRetryable: true });
    await first.end({ usage: { input: 20, output: 10 }, cost: null });
    const second = await begin(60);
    await second.end(undefined);
    const third = await begin(70);
    clock.move(30_000);
    // Usage above the estimate counts from the moment when it is known.
    await third.end({ usage: { input: 70, output: 30 }, cost: null });
    clock.move(31_000);
    expect((await refusalOf(begin(71))).retryAfter).toBe(30);
    await begin(70);
    expect(await refusalOf(begin(101))).toMatchObject({ status: 429, isRetryable: false });
  });

  test.each(['day', 'month', 'total'] as const)('a budget of the %s is never exceeded', async (period) => {
    const store = await newStore();
    const clock = clockAt('2026-11-30T23:00:00Z');
    const keys = await manage(store, clock.now);
    const { key } = await keys.create({ name: 'team', budget: { [period]: 0.1 } });
    const all = await Promise.all([admit(store, { now: clock.now }), admit(store, { now: clock.now })]);
    const begin = async (index: number): Promise<Lease> => {
      return await enter(all[index % 2] ?? all[0], key, { estimate: cents(2) });
    };
    const begun = await Promise.allSettled(Array.from({ length: 12 }, (_, index) => begin(index)));
    const leases = begun.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(leases).toHaveLength(5);
    expect(await refusalOf(begin(0))).toMatchObject({
      code: 'insufficient_quota',
      isRetryable: true,
      retryAfter: 1,
    });
    for (const lease of leases) await lease.end({ usage: { input: 10, output: 10 }, cost: 0.019 });
    expect((await keys.show('team')).usage.map(({ cost }) => cost)).toEqual([0.095, 0.095, 0.095]);
    const spent = await refusalOf(begin(0));
    expect(spent).toMatchObject({ status: 429, code: 'insufficient_quota', isRetryable: false });
    expect(spent.retryAfter).toBe(period === 'total' ? undefined : 3600);
    clock.move(3_600_000);
    const next = await Promise.allSettled([begin(0)]);
    expect(next[0]?.status).toBe(period === 'total' ? 'rejected' : 'fulfilled');
  });

  test('unreported usage counts as reserved, and a call that was not sent costs nothing', async () => {
    const store = await newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', budget: { total: 1 } });
    const admission = await admit(store);
    const call = async () => {
      return await enter(admission, key, { estimate: cents(3) });
    };
    await (await call()).end({ usage: undefined, cost: null });
    await (await call()).end({ usage: { input: Number.NaN, output: -5 }, cost: -1 });
    await (await call()).end(undefined);
    const [, , total] = (await keys.show('team')).usage;
    expect(total).toEqual({
      ...{ period: 'total', calls: 2, input_tokens: 20, output_tokens: 20, cost: 0.06, estimated: 2 },
    });
  });

  test('a model without a price is refused under a budget in money, and passes without one', async () => {
    const store = await newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', budget: { month: 5 } });
    const { key: free } = await keys.create({ name: 'free', requestsPerMinute: 5 });
    const admission = await admit(store);
    const estimate = { inputTokens: 1, outputTokens: 1, cost: null };
    expect(await refusalOf(enter(admission, key, { estimate }))).toMatchObject({
      status: 403,
      code: 'model_without_price',
    });
    await enter(admission, free, { estimate });
  });

  test('usage of a key without limits is counted too', async () => {
    const store = await newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team' });
    const admission = await admit(store);
    const lease = await enter(admission, key, { estimate: cents(1) });
    const used = { usage: { input: 7, output: 3 }, cost: 0.002 };
    await Promise.all([lease.end(used), lease.end(used)]);
    await lease.end(undefined);
    expect((await keys.show('team')).usage[2]).toMatchObject({
      calls: 1,
      input_tokens: 7,
      output_tokens: 3,
      cost: 0.002,
    });
  });
}
