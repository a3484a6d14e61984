import { expect, test } from 'vitest';
import { newFile, openAt } from '../processes.ts';
import { tryApprovals } from './approval-orders.ts';

test('however several connections add, decide, look, end and reopen at once, a call has one decision, and all are told which', async () => {
  const file = newFile();
  const runs = Number(process.env['MODEL_RUNS'] ?? 100);
  await expect(tryApprovals(() => openAt(file), runs)).resolves.toBeUndefined();
});
