import { expect, test } from 'vitest';
import { listCells, sliceOf } from './cells.ts';
import { allFaults } from './faults/index.ts';
import { runMatrix } from './run-matrix.ts';
import { tallyOf } from './tally.ts';
import { listTargets } from './targets.ts';

test('each fault, and each target, comes to what the rule says, and leaves nothing behind', async () => {
  const slice = sliceOf(listCells(allFaults));
  expect(new Set(slice.map(({ fault }) => fault.id)).size).toBe(allFaults.length);
  expect(new Set(slice.map(({ target }) => target.id)).size).toBe(listTargets().length);
  expect(tallyOf(await runMatrix(slice)).problems).toEqual([]);
}, 300_000);
