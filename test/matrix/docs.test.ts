import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { allFaults } from './faults/index.ts';
import { listTargets } from './targets.ts';

const page = readFileSync(new URL('../../docs/operate/faults.md', import.meta.url), 'utf8');

test('docs/operate/faults.md has the number of faults in each area that it names', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, area, count]) => [
    area,
    Number(count),
  ]);
  expect(rows.length).toBeGreaterThanOrEqual(7);
  const counted = rows.map(([area]) => [area, allFaults.filter((fault) => fault.area === area).length]);
  expect(rows).toEqual(counted);
});

test('faults and targets have distinct names', () => {
  const targets = listTargets();
  expect(new Set(allFaults.map(({ id }) => id)).size).toBe(allFaults.length);
  expect(new Set(targets.map(({ id }) => id)).size).toBe(targets.length);
});
