import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { openBench } from '../../calls/capability/bench.ts';
import { writeJudgingHook } from '../memo/scripts.ts';
import { answerWith, asking, openJudgeBench, toolCall } from './judge-bench.ts';

const asks = `#!/bin/sh
cat > /dev/null
echo '{"allow": false, "ask": true, "reason": "money"}'
`;
const paying = answerWith([toolCall('c1', 'pay', { amount: 500 })], 'Words of the model.');
const year = 365 * 24 * 3_600_000;

afterEach(() => void vi.restoreAllMocks());

async function hold(holdMs: number, shiftMs: number) {
  const { runs, env } = writeJudgingHook(asks);
  const links = [openBench().links.filter({ name: 'money', phases: ['before_execution'], runs, env })];
  const { call, store } = await openJudgeBench({ links, holdMs });
  const held = call(asking, paying);
  while ((await store.listPendings({ open: true }, Date.now())).length === 0) await sleep(10);
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + shiftMs);
  return { held, store };
}

test('the wait for a person ends on time although the clock is set back by a year', async () => {
  const { held } = await hold(300, -year);
  expect((await held).refusal?.code).toBe('pending_approval');
});

test('the wait for a person continues although the clock is set ahead by a year', async () => {
  const { held, store } = await hold(60_000, year);
  for (const { id } of await store.listPendings({ open: true }, Date.now()))
    await store.decide(id, { kind: 'approved', args: null, by: 'mara', reason: '' }, Date.now());
  expect(await held).toEqual({ wasKept: false, body: paying });
});
