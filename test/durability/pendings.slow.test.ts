import { expect, test } from 'vitest';
import { storm } from './pendings/storm.ts';

const CALLS = Number(process.env['PENDING_CALLS'] ?? 500);

test(`${CALLS} waiting calls, added and decided by 8 processes that are killed repeatedly: none lost, none decided twice`, async ({
  annotate,
}) => {
  const { faults, ...tally } = await storm({
    pendings: CALLS,
    processes: 8,
    killEveryMs: 1_000,
    minKills: 5,
  });
  await annotate(`tally: ${JSON.stringify(tally)}`);
  expect(faults).toEqual([]);
  expect(tally.kills).toBeGreaterThanOrEqual(5);
  expect(tally.counts.told).toBeGreaterThanOrEqual(CALLS);
  expect(tally.counts.conflicts).toBeGreaterThan(0);
});
