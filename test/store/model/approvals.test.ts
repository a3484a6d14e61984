import { expect, test } from 'vitest';
import { newFile, openAt } from '../processes.ts';
import { tryApprovals } from './approval-orders.ts';

test('under any concurrent adds, decisions, reads, ends and reopens, a call has one decision, and all learn which', async () => {
  const file = newFile();
  const runs = Number(process.env['MODEL_RUNS'] ?? 100);
  await expect(tryApprovals(() => openAt(file), runs)).resolves.toBeUndefined();
});
