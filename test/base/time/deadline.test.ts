import { spawnSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RuntimeError, toFault } from '../../../src/base/errors.ts';
import { STALL_MS, sleep, startDeadline, waitForSettled } from '../../../src/base/time/deadline.ts';
import { faultOf } from '../../process/harness.ts';

test('a deadline expires with PROCESS_TIMEOUT', async () => {
  expect(toFault(await faultOf(startDeadline({ name: 'slow', timeoutMs: 20 }).expired))).toEqual({
    code: 'PROCESS_TIMEOUT',
    message: '"slow" did not answer within 20 ms',
    hint: 'Raise timeout_ms, or find out what the process waits for.',
    details: { timeout_ms: 20 },
  });
});

test('a deadline expires with its own error, if it has one', async () => {
  const expiry = (ms: number) => new RuntimeError('PROCESS_START', `not within ${ms}`);
  const { expired } = startDeadline({ name: 'slow', timeoutMs: 20, createError: expiry });
  expect(await faultOf(expired)).toMatchObject({ code: 'PROCESS_START', message: 'not within 20' });
});

test('a deadline expires with the caller’s signal, and keeps its reason', async () => {
  const caller = new AbortController();
  const { expired } = startDeadline({ name: 'slow', timeoutMs: 60_000, signal: caller.signal });
  caller.abort('enough');
  expect(await faultOf(expired)).toMatchObject({ code: 'ABORTED', cause: 'enough' });
});

test('a deadline with a signal that was aborted before has expired', async () => {
  const { expired, clear } = startDeadline({ name: 'slow', timeoutMs: 60_000, signal: AbortSignal.abort() });
  expect((await faultOf(expired)).code).toBe('ABORTED');
  clear();
});

test('a cleared deadline never expires and holds on to nothing', async () => {
  const caller = new AbortController();
  const { expired, clear } = startDeadline({ name: 'slow', timeoutMs: 10, signal: caller.signal });
  clear();
  caller.abort();
  expect(await waitForSettled(expired, 50)).toBe(false);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
});

test('a busy process cannot postpone a deadline forever', async () => {
  let isOver = false;
  startDeadline({ name: 'slow', timeoutMs: 50 }).expired.catch(() => {
    isOver = true;
  });
  let stalls = 0;
  for (; !isOver && stalls < 6; stalls++) {
    const end = performance.now() + STALL_MS + 100;
    while (performance.now() < end);
    await nextTurn();
    await nextTurn();
  }
  expect(stalls).toBe(2);
});

test.each([2 ** 31, 2 ** 40])('%d ms, longer than any timer of Node, do not pass at once', async (ms) => {
  const { expired, clear } = startDeadline({ name: 'slow', timeoutMs: ms });
  const first = await Promise.race([
    expired.catch(() => 'expired'),
    sleep(ms).then(() => 'slept'),
    waitForSettled(new Promise(() => {}), ms).then(() => 'gave up'),
    sleep(50).then(() => 'the test went on'),
  ]);
  clear();
  expect(first).toBe('the test went on');
});

test('a sleep ends with its signal, and takes no time if it was aborted before', async () => {
  const alarm = new AbortController();
  const sleeping = sleep(60_000, alarm.signal);
  alarm.abort();
  await sleeping;
  await sleep(60_000, alarm.signal);
  expect(getEventListeners(alarm.signal, 'abort')).toEqual([]);
});

test('a sleep that is over holds on to nothing', async () => {
  const alarm = new AbortController();
  await sleep(5, alarm.signal);
  expect(getEventListeners(alarm.signal, 'abort')).toEqual([]);
});

test.each([
  { title: 'a promise that has settled', open: () => Promise.resolve(), settles: true },
  { title: 'one that was rejected', open: () => Promise.reject(new Error('no')), settles: true },
  { title: 'one that never does', open: () => new Promise<never>(() => {}), settles: false },
])('$title settles in no time: $settles', async ({ open, settles }) => {
  expect(await waitForSettled(open(), 0)).toBe(settles);
});

test('a program that waits for nothing but a deadline lives until it expires', () => {
  const module = new URL('../../../src/base/time/deadline.ts', import.meta.url).pathname;
  const program = `import { startDeadline } from ${JSON.stringify(module)};
    await startDeadline({ name: 'slow', timeoutMs: 100 }).expired.catch(({ code }) => console.log(code));`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
  expect([stdout.toString(), status]).toEqual(['PROCESS_TIMEOUT\n', 0]);
});
