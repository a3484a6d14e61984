import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { openProvider } from '../../src/models/open/open-provider.ts';
import { createStreamLimits } from '../../src/models/rate/rate-queue.ts';
import { chunks } from '../gateway/fallback/open.ts';
import { openTestGateway } from '../gateway/open-gateway.ts';
import { startUpstream } from '../gateway/upstream-server.ts';
import { collect } from './bench.ts';

/** What a server does with each stream, in turn; the last entry repeats. */
type Act = (response: ServerResponse) => void | Promise<void>;

const begin = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
const first = chunks({ role: 'assistant', content: 'Hi' });
const answer: Act = (response) => {
  begin(response);
  response.end(chunks({ role: 'assistant', content: 'Hi' }, 'stop'));
};
const cutBefore: Act = async (response) => {
  begin(response);
  await sleep(20);
  response.destroy();
};
const cutAfter: Act = async (response) => {
  begin(response);
  response.write(first);
  await sleep(50);
  response.destroy();
};
const stall: Act = (response) => {
  begin(response);
  response.write(first);
};

/** A runtime and its gateway with such a server. `keys` are keys of its provider. */
async function open(keys: string, ...acts: readonly Act[]) {
  let isOpen = 0;
  const counted = { seen: 0, most: 0 };
  const upstream = await startUpstream(async (_, response) => {
    isOpen += 1;
    counted.most = Math.max(counted.most, isOpen);
    response.once('close', () => {
      isOpen -= 1;
    });
    const act = acts[Math.min(counted.seen, acts.length - 1)] ?? answer;
    counted.seen += 1;
    await act(response);
  });
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const opened = await openTestGateway(
    `state_store: {type: memory}\nproviders: [{id: main, type: openai-compatible, model: m, base_url: "${upstream.url}/v1", credential: {api_key: k}, ${keys}}]`,
  );
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const messages = [{ role: 'user', content: 'hi' }];
  const [provider] = loadConfig(join(opened.folder, 'runtime.yaml'), '').config?.providers ?? [];
  if (provider === undefined) throw new Error('no provider');
  const streams = createStreamLimits(provider.streams ?? {});
  return {
    counted,
    post: () => opened.post('/v1/chat/completions', { model: 'm', stream: true, messages }),
    ask: async () => {
      const model = await openProvider(provider, { env: {}, folder: opened.folder, streams }).model();
      const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }];
      try {
        const { stream } = await model.doStream({ prompt });
        return (await collect(stream)).at(-1);
      } catch (error) {
        return { type: 'thrown', error };
      }
    },
  };
}

const failed = (type: string, code = 'PROVIDER_FAILED') => ({
  type,
  error: expect.objectContaining({ code }),
});

test('a stalled stream ends after stream_idle_timeout, which excludes the time before its first part', async () => {
  const slow: Act = async (response) => {
    begin(response);
    await sleep(900);
    response.write(first);
  };
  const { ask, counted } = await open('stream_idle_timeout: 300ms', slow);
  const from = performance.now();
  expect(await ask()).toMatchObject({
    type: 'error',
    error: { code: 'PROVIDER_TIMEOUT', message: 'provider "main" did not answer within 300 ms' },
  });
  expect(performance.now() - from).toBeGreaterThan(1100);
  expect(counted.seen).toBe(1);
});

test('at the gateway a stalled stream ends after stream_idle_timeout', async () => {
  const { post } = await open('stream_idle_timeout: 1s', stall);
  const from = performance.now();
  await expect((await post()).text()).rejects.toThrow();
  expect(performance.now() - from).toBeLessThan(10_000);
});

test.each([
  ['by default a stream that breaks off before its first part is retried twice', '', cutBefore, 3, 'thrown'],
  ['enabled: twice in all', 'stream_retry: {enabled: true, initial_delay: 10ms}', cutBefore, 2, 'thrown'],
  [
    'as often as it says',
    'stream_retry: {enabled: true, max_attempts: 4, initial_delay: 10ms, max_delay: 20ms}',
    cutBefore,
    4,
    'thrown',
  ],
  ['one attempt is no retry', 'stream_retry: {enabled: true, max_attempts: 1}', cutBefore, 1, 'thrown'],
  ['not enabled: never', 'stream_retry: {max_attempts: 5}', cutBefore, 1, 'thrown'],
  [
    'never behind its first part',
    'stream_retry: {enabled: true, max_attempts: 5, initial_delay: 10ms}',
    cutAfter,
    1,
    'error',
  ],
] as const)('%s', async (_, keys, act, attempts, type) => {
  const { ask, counted } = await open(keys === '' ? 'additional_config: {retry_base_ms: 1}' : keys, act);
  expect(await ask()).toMatchObject(failed(type));
  expect(counted.seen).toBe(attempts);
});

test('a retried stream answers, and retries beyond the budget are not made', async () => {
  const keys =
    'stream_retry: {enabled: true, max_attempts: 5, initial_delay: 1ms, budget: {rate_per_sec: 0.001, burst: 2}}';
  const { ask, counted } = await open(keys, cutBefore, answer, cutBefore);
  expect(await ask()).toMatchObject({ type: 'finish' });
  expect(counted.seen).toBe(2);
  expect(await ask()).toMatchObject(failed('thrown'));
  expect(counted.seen).toBe(4);
});

test.each(['a runtime', 'a gateway'])('at most stream_max_concurrent streams of %s are open', async (who) => {
  const slow: Act = async (response) => {
    begin(response);
    response.write(first);
    await sleep(30);
    response.end(chunks('stop'));
  };
  const { ask, post, counted } = await open('stream_max_concurrent: 2', slow);
  const call = async () =>
    who === 'a runtime'
      ? Object(await ask()).type === 'finish'
      : (await (await post()).text()).includes('[DONE]');
  const all = await Promise.all(Array.from({ length: 8 }, call));
  expect([all.every(Boolean), counted]).toEqual([true, { seen: 8, most: 2 }]);
});

test('places are released by streams that fail, stall or are left, and a wait for one ends with request_timeout', async () => {
  const keys = 'stream_max_concurrent: 1, request_timeout: 2s, stream_idle_timeout: 200ms, stream_retry: {}';
  const { ask, post, counted } = await open(keys, cutBefore, stall, cutAfter, stall, answer, answer, stall);
  expect(await ask()).toMatchObject(failed('thrown'));
  expect(await ask()).toMatchObject(failed('error', 'PROVIDER_TIMEOUT'));
  await (await post()).text().catch(() => {});
  await (await post()).body?.cancel();
  expect(await ask()).toMatchObject({ type: 'finish' });
  expect(await (await post()).text()).toContain('[DONE]');
  expect(counted.seen).toBe(6);
});

test('the gateway answers 429 without a place in time', async () => {
  const { post, counted } = await open('stream_max_concurrent: 1, request_timeout: 300ms', stall);
  const held = await post();
  expect((await post()).status).toBe(429);
  await held.body?.cancel();
  expect(counted.seen).toBe(1);
});

test('only one stream takes a place, whichever wait, arrive or abort', async () => {
  const limits = createStreamLimits({ maxConcurrent: 1 });
  const never = new AbortController().signal;
  const leave = await limits.take(never);
  const gone = new AbortController();
  const given = limits.take(gone.signal);
  const next = limits.take(never);
  gone.abort(new Error('gone'));
  await expect(given).rejects.toThrow('gone');
  leave();
  leave();
  const late = limits.take(never);
  const leaveNext = await next;
  const state = await Promise.race([late.then(() => 'taken'), sleep(20, 'waits')]);
  expect(state).toBe('waits');
  leaveNext();
  (await late)();
});
