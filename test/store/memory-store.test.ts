import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { storeContract } from './contract.ts';
import { newRun } from './examples.ts';

storeContract('memory', () => openStore({ type: 'memory' }));

test('a memory store is private to its runtime', async () => {
  const [one, other] = [await openStore({ type: 'memory' }), await openStore({ type: 'memory' })];
  await one.createRun(newRun('r1'));
  expect(await other.listRuns()).toEqual([]);
});
