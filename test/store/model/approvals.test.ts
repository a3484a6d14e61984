import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newRun } from '../examples.ts';
import { newFile, openAt } from '../processes.ts';
import { approvalCommands, type Desk } from './approval-commands.ts';
import { ApprovalModel } from './approval-model.ts';

test('however several connections add, decide, look, end and reopen at once, a call has one decision, and all are told which', async () => {
  const file = newFile();
  const stores = [await openAt(file), await openAt(file), await openAt(file)];
  const [first] = stores;
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
          stores[seat] = await openAt(file);
        },
      };
      await stores[0]?.createRun(newRun(desk.run));
      await fc.asyncModelRun(() => ({ model: new ApprovalModel(), real: desk }), commands);
      conflicts += desk.conflicts;
    }),
    { numRuns: Number(process.env['MODEL_RUNS'] ?? 100) },
  );
  expect(first).toBeDefined();
  expect(conflicts).toBeGreaterThan(50);
});
