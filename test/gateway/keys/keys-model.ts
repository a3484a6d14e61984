import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StateStoreConfig } from '../../../src/config/config.ts';
import { type OpenAdmission, openAdmission } from '../../../src/gateway/keys/admission.ts';
import { openKeyManager } from '../../../src/gateway/keys/manager.ts';
import type { Lease } from '../../../src/gateway/ports.ts';
import { RefusedCall } from '../../../src/gateway/wire/refusal.ts';
import { clockAt, testEnv } from './open.ts';

const limits = { concurrent: 3, requestsPerMinute: 6, tokensPerMinute: 100 };
const BUDGET = 20;

type Step =
  | { readonly kind: 'begin'; readonly tokens: number; readonly cost: number; readonly at: 0 | 1 }
  | { readonly kind: 'end'; readonly which: number; readonly share: number | 'unknown' | 'unsent' }
  | { readonly kind: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('begin' as const),
      tokens: fc.integer({ min: 0, max: 60 }),
      cost: fc.integer({ min: 0, max: 6 }),
      at: fc.constantFrom(0 as const, 1 as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      which: fc.nat(2),
      share: fc.oneof(fc.constantFrom(0, 0.5, 1), fc.constantFrom('unknown' as const, 'unsent' as const)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 40_000 }) }),
  },
);

interface OpenCall {
  readonly lease: Lease;
  readonly tokens: number;
  readonly cost: number;
  readonly begun: number;
}

function createModel() {
  const open: OpenCall[] = [];
  const requests: number[] = [];
  const tokens: { second: number; amount: number }[] = [];
  let spent = 0;
  const within = (second: number, now: number) => second > now - 61;
  return {
    open,
    spent: () => spent,
    expected: (now: number, wanted: { tokens: number; cost: number }): string => {
      if (open.length >= limits.concurrent) return 'concurrency_limit_exceeded';
      const asked = requests.filter((second) => within(second, now)).length;
      if (asked >= limits.requestsPerMinute) return 'rate_limit_exceeded';
      requests.push(now);
      const held = open.reduce((sum, { cost }) => sum + cost, 0);
      if (spent >= BUDGET || spent + held + wanted.cost > BUDGET) return 'insufficient_quota';
      const used = tokens
        .filter(({ second }) => within(second, now))
        .reduce((sum, { amount }) => sum + amount, 0);
      if (used + wanted.tokens > limits.tokensPerMinute) return 'rate_limit_exceeded';
      tokens.push({ second: now, amount: wanted.tokens });
      return 'begun';
    },
    ended: (call: OpenCall, share: number) => {
      spent += call.cost * share;
      tokens.push({ second: call.begun, amount: -Math.floor(call.tokens * (1 - share)) });
    },
  };
}

async function begin(
  admission: OpenAdmission,
  key: string,
  { tokens, cost }: { tokens: number; cost: number },
) {
  return await admission.enter(await admission.authenticate(key), 'small', () => ({
    ...{ inputTokens: tokens, outputTokens: 0, cost },
  }));
}

/** Compares the decisions over a store with the model. `newStore` returns a store without keys. */
export function keysModel(newStore: () => Promise<StateStoreConfig>, runs: number): void {
  test('two servers decide each call as a simple model does, whatever came before', async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const store = await newStore();
      const clock = clockAt('2026-11-22T12:00:00Z');
      const keys = await openKeyManager(store, { env: testEnv, now: clock.now });
      const { key } = await keys.create({ name: 'team', ...limits, budget: { total: BUDGET } });
      const options = { store, env: testEnv, hookSets: new Map(), isKeyRequired: true, now: clock.now };
      const servers = [await openAdmission(options), await openAdmission(options)] as const;
      const model = createModel();
      for (const each of steps) {
        const second = Math.floor(clock.now() / 1000);
        if (each.kind === 'wait') clock.move(each.ms);
        if (each.kind === 'begin') {
          const expected = model.expected(second, each);
          const outcome = await begin(servers[each.at], key, each).catch((error: unknown) => error);
          if (outcome instanceof RefusedCall) expect(outcome.refusal.code).toBe(expected);
          else if (outcome instanceof Error) throw outcome;
          else {
            expect('begun').toBe(expected);
            model.open.push({ ...each, lease: Object(outcome), begun: second });
          }
        }
        const call = each.kind === 'end' ? model.open.splice(each.which, 1)[0] : undefined;
        if (each.kind === 'end' && call !== undefined) {
          const share = each.share === 'unknown' ? 1 : each.share === 'unsent' ? 0 : each.share;
          model.ended(call, share);
          await call.lease.end(
            each.share === 'unsent'
              ? undefined
              : {
                  usage:
                    each.share === 'unknown'
                      ? undefined
                      : { input: Math.ceil(call.tokens * each.share), output: 0 },
                  cost: each.share === 'unknown' ? null : call.cost * each.share,
                },
          );
        }
      }
      const { usage, under_way } = await keys.show('team');
      expect(usage[2]?.cost).toBeCloseTo(model.spent(), 6);
      expect(under_way).toBe(model.open.length);
      for (const each of [...servers, keys]) await each.close();
    });
    await fc.assert(property, { numRuns: runs });
  });

  test('calls that come together never hold more than one after another could', async () => {
    const group = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(fc.array(group, { maxLength: 6 }), async (groups) => {
      const store = await newStore();
      const keys = await openKeyManager(store, { env: testEnv });
      const { key } = await keys.create({ name: 'team', concurrent: 4, budget: { total: BUDGET } });
      const options = { store, env: testEnv, hookSets: new Map(), isKeyRequired: true };
      const servers = [await openAdmission(options), await openAdmission(options)] as const;
      let open: { lease: Lease; cost: number }[] = [];
      let spent = 0;
      for (const costs of groups) {
        const begun = costs.map(async (cost, index) => {
          const lease = await begin(servers[index % 2 === 0 ? 0 : 1], key, { tokens: 1, cost });
          open.push({ lease, cost });
        });
        await Promise.allSettled(begun);
        expect(open.length).toBeLessThanOrEqual(4);
        expect(spent + open.reduce((sum, { cost }) => sum + cost, 0)).toBeLessThanOrEqual(BUDGET);
        const [first, ...others] = open;
        open = others;
        spent += first?.cost ?? 0;
        await first?.lease.end({ usage: { input: 1, output: 0 }, cost: first.cost });
      }
      expect((await keys.show('team')).usage[2]?.cost).toBeCloseTo(spent, 6);
      for (const each of [...servers, keys]) await each.close();
    });
    await fc.assert(property, { numRuns: runs });
  });
}
