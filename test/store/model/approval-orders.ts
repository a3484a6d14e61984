import fc from 'fast-check';
import { expect } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { newRun } from '../examples.ts';
import { approvalCommands, type Desk } from './approval-commands.ts';
import { ApprovalModel } from './approval-model.ts';

/** Several connections add, decide, read, end and reopen at once, in `numRuns` generated orders. */
export async function tryApprovals(openAnother: () => Promise<Store>, numRuns: number): Promise<void> {
  const stores = [await openAnother(), await openAnother(), await openAnother()];
  let runs = 0;
  let conflicts = 0;
  await fc.assert(
    fc.asyncProperty(approvalCommands, async (commands) => {
      runs += 1;
      const desk: Desk = {
        run: `r${runs}`,
        stores,
        conflicts: 0,
        reopen: async (seat) => {
          await stores[seat]?.close();
          stores[seat] = await openAnother();
        },
      };
      await stores[0]?.createRun(newRun(desk.run));
      await fc.asyncModelRun(() => ({ model: new ApprovalModel(), real: desk }), commands);
      conflicts += desk.conflicts;
    }),
    { numRuns },
  );
  expect(conflicts).toBeGreaterThan(numRuns / 2);
}
