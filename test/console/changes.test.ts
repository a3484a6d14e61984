import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { fixture } from '../workspace.ts';
import { keysOf, serve } from './serving.ts';

const spec = `tools: {refund: {approval: required, exec: {command: ${fixture('echo-args')}}}}\n`;

async function streamOf({ origin, token }: { origin: string; token: string | null }, key = token) {
  const left = new AbortController();
  const response = await fetch(`${origin}/api/v1/changes?kinds=pendings,runs`, {
    headers: { authorization: `Bearer ${key}` },
    signal: left.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  return { response, left, next: async () => await reader?.read() };
}

test('a stream says what changes, first everything', async () => {
  const served = await serve(spec);
  const { response, next, left } = await streamOf(served);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  expect(await next()).toEqual({ done: false, value: '{"kinds":["pendings","runs"]}\n' });
  await served.runtime.tools.call('refund', {});
  let read = '';
  while (!read.includes('pendings')) read += (await next())?.value ?? '';
  for (const line of read.trim().split('\n'))
    expect(JSON.parse(line)).toEqual({
      kinds: expect.toBeOneOf([['runs'], ['pendings'], ['pendings', 'runs']]),
    });
  left.abort();
});

test('a stream ends when the server does', async () => {
  const served = await serve(spec);
  const { next } = await streamOf(served);
  await next();
  await served.served.close();
  expect(await next()).toEqual({ done: true, value: undefined });
});

test('a stream ends with the next change once its key is revoked', async () => {
  const served = await serve(spec);
  const keys = await keysOf(served.folder);
  const { key } = await keys.create({ name: 'vera', role: 'viewer' });
  const { next } = await streamOf(served, key);
  expect(await next()).toMatchObject({ done: false });
  await keys.revoke('vera');
  await served.runtime.tools.call('refund', {});
  expect(await next()).toEqual({ done: true, value: undefined });
});

test('a client that leaves ends its watch', async () => {
  const served = await serve(spec);
  const signals: AbortSignal[] = [];
  const { watch } = served.runtime;
  Object.assign(served.runtime, {
    watch: (...[kinds, options]: Parameters<typeof watch>) => {
      if (options?.signal) signals.push(options.signal);
      return watch(kinds, options);
    },
  });
  const { next, left } = await streamOf(served);
  await next();
  left.abort();
  while (signals[0]?.aborted !== true) await sleep(10);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test('a client that does not read costs no memory', async () => {
  const served = await serve(spec);
  let made = 0;
  const endless = {
    next: async () => {
      made += 1;
      return { done: false, value: { kinds: ['pendings'] } };
    },
    return: async () => ({ done: true, value: undefined }),
  };
  Object.assign(served.runtime, { watch: () => ({ [Symbol.asyncIterator]: () => endless }) });
  const socket = connect(Number(new URL(served.origin).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.pause();
  const lines = [
    'GET /api/v1/changes?kinds=pendings HTTP/1.1',
    `host: ${served.host}`,
    `authorization: Bearer ${served.token}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  // What the system keeps for the connection is full at some time.
  for (let before = -1; made === 0 || made !== before; await sleep(500)) before = made;
  expect(made).toBeGreaterThan(0);
});
