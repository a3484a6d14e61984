import { expect, test } from 'vitest';
import { calmActions, faultyActions } from './claim/case.ts';
import { findLeaks, shapedEndpoints } from './claim/markers/find-leaks.ts';
import { runCases } from './claim/run-cases.ts';
import { openWorld } from './claim/world.ts';

/** The number of calls of a real gateway, and of documents with a marker. `npm run claim` runs more of both. */
const count = Number(process.env['CLAIM_CALLS'] ?? 2_000);
const documents = Number(process.env['CLAIM_CASES'] ?? 50_000);
const seed = Number(process.env['CLAIM_SEED'] ?? 20_261_123);

test.each([
  { title: 'a filter that decides', actions: calmActions, share: 0.95, timeoutMs: 60_000 },
  { title: 'a filter that dies, hangs or babbles', actions: faultyActions, share: 0.05, timeoutMs: 150 },
])(
  `the claim holds in its share of ${count} calls, with $title (CLAIM_SEED=${seed})`,
  { timeout: 3_600_000 },
  async ({ actions, share, timeoutMs }) => {
    const world = await openWorld(timeoutMs);
    try {
      const startedAt = performance.now();
      const asked = Math.ceil(count * share);
      const { ran, broken } = await runCases(world, { seed, count: asked, actions, atOnce: 32 });
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      console.info(`${ran} calls of ${actions.join(', ')} in ${seconds} s, CLAIM_SEED=${seed}`);
      expect(broken).toEqual([]);
      expect(ran).toBe(asked);
    } finally {
      await world.close();
    }
  },
);

test(`a text anywhere in ${documents} documents is shown to filters or refused (CLAIM_SEED=${seed})`, {
  timeout: 7_200_000,
}, async () => {
  const startedAt = performance.now();
  const found = await findLeaks({ seed, count: documents, endpoints: shapedEndpoints });
  const perSecond = Math.round((documents / (performance.now() - startedAt)) * 1000);
  console.info(`${documents} documents, ${perSecond} a second, CLAIM_SEED=${seed}`);
  expect(found).toEqual({ ran: documents, leaked: 0, leaks: [] });
});
