import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { createLocalSupply, createRateQueue } from '../../../src/models/rate/rate-queue.ts';

const never = new AbortController().signal;

test('calls start at once up to ten seconds of their limit, and then at its rate [DS-RATE-01]', async () => {
  const queue = createRateQueue('p', createLocalSupply({ requestsPerMinute: 600 }));
  const beganAt = performance.now();
  for (let count = 0; count < 100; count++) await queue.take(1, never);
  for (let count = 0; count < 5; count++) await queue.take(1, never);
  // Five more at ten a second. The bucket fills while the first hundred run.
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(490);
});

test('a call that is aborted while it waits uses nothing, and names the limit [DS-RATE-02]', async () => {
  const queue = createRateQueue('p', createLocalSupply({ tokensPerMinute: 600 }));
  await queue.take(100, never);
  const deadline = new AbortController();
  const waited = queue.take(50, deadline.signal);
  const behind = queue.take(1, never);
  setTimeout(() => deadline.abort(new RuntimeError('PROVIDER_TIMEOUT', 'late')), 50);
  await expect(waited).rejects.toMatchObject({
    code: 'PROVIDER_TIMEOUT',
    details: { limit: 'rate_limit.tokens_per_minute' },
  });
  // Five seconds earlier than if the other had taken its fifty.
  const beganAt = performance.now();
  await behind;
  expect(performance.now() - beganAt).toBeLessThan(4_000);
  const gone = new AbortController();
  gone.abort(new Error('gone'));
  await expect(queue.take(1, gone.signal)).rejects.toThrow('gone');
});

test('unused tokens are returned, and those beyond the estimate are charged [DS-RATE-03]', async () => {
  const queue = createRateQueue('p', createLocalSupply({ tokensPerMinute: 6_000 }));
  for (let count = 0; count < 20; count++) {
    const turn = await queue.take(1_000, never);
    turn.settle(0);
    turn.settle(1_000);
  }
  const turn = await queue.take(1, never);
  turn.settle(1_100);
  const beganAt = performance.now();
  await queue.take(1, never);
  expect(performance.now() - beganAt).toBeGreaterThan(500);
});

test('an API that asks to wait delays all calls [DS-RATE-04]', async () => {
  const queue = createRateQueue('p', createLocalSupply({ requestsPerMinute: 6_000 }));
  const turn = await queue.take(1, never);
  turn.hold(400);
  const beganAt = performance.now();
  await Promise.all([queue.take(1, never), queue.take(1, never)]);
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(390);
});
