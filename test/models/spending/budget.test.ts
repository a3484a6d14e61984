import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Budget, createBudget } from '../../../src/models/spending/budget.ts';

const exceeded = { code: 'BUDGET_EXCEEDED' };

/** Calls that end in an order of their own. Each waits for the budget first. */
async function spend(budget: Budget, calls: readonly { estimate: number; cost: number; turns: number }[]) {
  let made = 0;
  const call = async ({ estimate, cost, turns }: (typeof calls)[number]) => {
    const admission = await budget.admit(estimate, undefined);
    made += 1;
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    admission.settle(cost);
  };
  const settled = await Promise.allSettled(calls.map(call));
  return { made, refused: settled.filter(({ status }) => status === 'rejected').length };
}

test('many concurrent calls exceed a budget by at most the cost of the last one [DS-COST-01]', async () => {
  const amount = fc.integer({ min: 1, max: 100 });
  const call = fc.record({ estimate: amount, share: fc.integer({ min: 0, max: 100 }), turns: fc.nat(9) });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 500 }),
      fc.array(call, { maxLength: 40 }),
      async (limit, each) => {
        // No call costs more than its estimate.
        const calls = each.map(({ estimate, share, turns }) => ({
          ...{ estimate, turns },
          cost: Math.floor((estimate * share) / 100),
        }));
        const budget = createBudget(limit, 'the run');
        const { made, refused } = await spend(budget, calls);
        expect(made + refused).toBe(calls.length);
        expect(budget.isExceeded()).toBe(refused > 0);
        expect(refused === 0 || budget.spentUsd() >= limit).toBe(true);
        // A call whose estimate exceeds the budget begins alone, and may cost its estimate.
        expect(budget.spentUsd()).toBeLessThan(limit + Math.max(1, ...calls.map(({ cost }) => cost)));
      },
    ),
    { numRuns: 300 },
  );
});

test('of ten concurrent calls that each cost half the budget two are made [DS-COST-01]', async () => {
  const budget = createBudget(1, 'the run');
  const calls = Array.from({ length: 10 }, () => ({ estimate: 0.5, cost: 0.5, turns: 3 }));
  expect(await spend(budget, calls)).toEqual({ made: 2, refused: 8 });
  expect(budget.spentUsd()).toBe(1);
});

test('an overestimate is released for waiting calls', async () => {
  const budget = createBudget(1, 'the run');
  const calls = Array.from({ length: 10 }, () => ({ estimate: 0.9, cost: 0.1, turns: 3 }));
  expect(await spend(budget, calls)).toEqual({ made: 10, refused: 0 });
});

test('an unknown cost counts as estimated, and only once', async () => {
  const budget = createBudget(1, 'the run');
  const admission = await budget.admit(1, undefined);
  admission.settle(undefined);
  admission.settle(0);
  expect(budget.spentUsd()).toBe(1);
  await expect(budget.admit(0.1, undefined)).rejects.toMatchObject(exceeded);
});

test('a call that is aborted while it waits uses nothing', async () => {
  const budget = createBudget(1, 'the run');
  const first = await budget.admit(1, undefined);
  const stop = new AbortController();
  const waiting = budget.admit(1, stop.signal);
  stop.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
  first.settle(0.5);
  (await budget.admit(1, undefined)).settle(0.25);
  expect(budget.spentUsd()).toBe(0.75);
});
