import { expect, test } from 'vitest';
import { listCells, marksOf, sliceOf } from './cells.ts';
import { allFaults } from './faults/index.ts';
import { runMatrix } from './run-matrix.ts';
import { tallyOf } from './tally.ts';
import { listTargets } from './targets.ts';

test('each fault, and each kind of target, gives what the rule says, and leaves nothing behind', async () => {
  const slice = sliceOf(listCells(allFaults));
  expect(new Set(slice.map(({ fault }) => fault.id)).size).toBe(allFaults.length);
  const marks = new Set(slice.flatMap(({ target }) => marksOf(target)));
  expect([...marks].sort()).toEqual([...new Set(listTargets().flatMap(marksOf))].sort());
  expect(tallyOf(await runMatrix(slice, { width: 8 })).problems).toEqual([]);
}, 300_000);
