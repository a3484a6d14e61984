import { expect, test } from 'vitest';
import { storm } from './pendings/storm.ts';

test('500 calls that wait, taken and decided by 8 processes that are killed again and again: none lost, none decided twice', {
  timeout: 400_000,
}, async ({ annotate }) => {
  const { faults, ...tally } = await storm({ pendings: 500, processes: 8, killEveryMs: 1_000, minKills: 5 });
  await annotate(`tally: ${JSON.stringify(tally)}`);
  expect(faults).toEqual([]);
  expect(tally.kills).toBeGreaterThanOrEqual(5);
  expect(tally.counts.told).toBeGreaterThanOrEqual(500);
  expect(tally.counts.conflicts).toBeGreaterThan(0);
});
