import { expect, test } from 'vitest';
import { calmActions, faultyActions } from './claim/case.ts';
import { runCases } from './claim/run-cases.ts';
import { openWorld } from './claim/world.ts';

/** How many cases, and which; `npm run claim` runs 100,000. */
const count = Number(process.env['CLAIM_CASES'] ?? 2_000);
const seed = Number(process.env['CLAIM_SEED'] ?? 20_261_123);

test.each([
  { title: 'a filter that decides', actions: calmActions, share: 0.95, timeoutMs: 60_000 },
  { title: 'a filter that dies, hangs or babbles', actions: faultyActions, share: 0.05, timeoutMs: 150 },
])(
  `the claim holds in its share of ${count} cases, with $title (CLAIM_SEED=${seed})`,
  { timeout: 3_600_000 },
  async ({ actions, share, timeoutMs }) => {
    const world = await openWorld(timeoutMs);
    try {
      const startedAt = performance.now();
      const asked = Math.ceil(count * share);
      const { ran, broken } = await runCases(world, { seed, count: asked, actions, atOnce: 32 });
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      console.info(`${ran} cases of ${actions.join(', ')} in ${seconds} s, CLAIM_SEED=${seed}`);
      expect(broken).toEqual([]);
      expect(ran).toBe(asked);
    } finally {
      await world.close();
    }
  },
);
