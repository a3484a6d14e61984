import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { nextCallId, nextEventId, nextExchangeId } from '../../src/contract/tool.ts';

const uuid = /[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

test('ids are UUIDs after the name of their kind, and no two are equal', () => {
  const ids = Array.from({ length: 100_000 }, () => [nextCallId(), nextEventId(), nextExchangeId()]).flat();
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => uuid.test(id)).length).toBe(ids.length);
  expect(ids.slice(0, 3).map((id) => id.replace(uuid, ''))).toEqual(['call_', 'event_', '']);
});

test('another process gives other ids, and so does a worker thread', async () => {
  const module = JSON.stringify(new URL('../../src/contract/tool.ts', import.meta.url).href);
  const script = `
    const { Worker, isMainThread } = await import('node:worker_threads');
    const { nextCallId } = await import(${module});
    console.log(nextCallId());
    if (isMainThread) new Worker(new URL('data:text/javascript,' + encodeURIComponent(
      "const { nextCallId } = await import(" + ${JSON.stringify(module)} + "); console.log(nextCallId());")));`;
  const run = async () =>
    (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])).stdout
      .trim()
      .split('\n');
  const ids = (await Promise.all([run(), run()])).flat();
  expect(ids).toHaveLength(4);
  expect(new Set(ids.map((id) => id.slice(0, -12))).size).toBe(4);
});
