import { createHook } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { open } from './open.ts';

const server = (args: string) => `command: $bin/server, args: [${args}], runtime: server`;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** The only filter of its tool, without a listener: no promise stands between its answer and the tool. */
async function openFiltered() {
  const { runtime } = await open(
    `
concurrency: 1
tools: {pid: {exec: {${server('pid')}}}}
hooks: {guard: {${server('allow')}, hook: tool, phases: [before_execution]}}
`,
    { onEvent: undefined },
  );
  const first = await runtime.tools.call('pid');
  return { call: runtime.tools.call, first: Object(first).result };
}

test.each([
  ['without methods', { aborted: false }],
  [
    'that cannot be heard',
    {
      aborted: false,
      addEventListener: () => {
        throw new Error('no listeners');
      },
    },
  ],
  [
    'that cannot be forgotten',
    {
      aborted: false,
      addEventListener: () => {},
      removeEventListener: () => {
        throw new Error('no listeners');
      },
    },
  ],
])(
  'a call whose filter failed over a signal %s never runs its tool, and frees its slot',
  async (_, signal) => {
    const { call, first } = await openFiltered();
    for (const round of [1, 2]) {
      const denied = await call('pid', {}, { signal: signal as never });
      expect(denied).toMatchObject({ status: 'denied', hook: 'guard', error: { code: 'INTERNAL' } });
      // The filter's answer comes later, if the question was sent.
      await sleep(50);
      expect(await call('pid')).toEqual({ status: 'ok', result: { ...first, count: 1 + round } });
    }
  },
);

test('the async resources of a call end, so that the tracers of a host forget them', async () => {
  const { call } = await openFiltered();
  const alive = new Map<number, string>();
  const tracer = createHook({ init: (id, type) => alive.set(id, type), destroy: (id) => alive.delete(id) });
  tracer.enable();
  onTestFinished(() => void tracer.disable());
  for (let calls = 0; calls < 50; calls += 1) await call('pid');
  const left = () => {
    collectGarbage();
    return [...alive.values()].filter((type) => type === 'HOOK').length;
  };
  await expect.poll(left).toBeLessThan(5);
});

test('the message of a question is released once the filter has it', async () => {
  const { runtime } = await open(
    `
concurrency: 20
tools: {echo: {exec: {${server('echo')}}}}
hooks: {guard: {${server('never-answers')}, timeout_ms: 600000, hook: tool, phases: [before_execution]}}
`,
    { onEvent: undefined },
  );
  await runtime.tools.call('echo', {}, { signal: AbortSignal.timeout(200) });
  const before = heapBytes();
  const controller = new AbortController();
  const calls = Array.from({ length: 20 }, (_, index) =>
    runtime.tools.call('echo', { text: `${index}`.padEnd(LONG) }, { signal: controller.signal }),
  );
  // Only the text of the arguments stays.
  await expect.poll(() => (heapBytes() - before) / (20 * LONG)).toBeLessThan(1.4);
  controller.abort();
  await Promise.all(calls);
});

const LONG = 1_000_000;
