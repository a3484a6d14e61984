import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { newStatsAccumulator } from '../../../src/suites/stats/stats-accumulator.ts';
import { decided, header, record, said } from './records.ts';

const total = 150_000;
const mebibyte = 1024 * 1024;

/** In megabytes after a full collection, memory outside the heap included. */
function usedMemory(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('this Node cannot collect on demand');
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / mebibyte;
}

/** A nearly unique number in 0..1. */
function scatter(index: number): number {
  return (index * 0.6180339887498949) % 1;
}

test('memory of statistics does not grow with the cases, however different their scores', () => {
  const reducer = newStatsAccumulator([header('a')], 1);
  const add = (index: number) => {
    const guard = decided({
      expected: index % 3 === 0,
      flagged: index % 2 === 0,
      confidence: scatter(index * 7),
      hooks: [{ name: 'pii', verdict: 'allow', duration_ms: scatter(index) * 1000 }],
    });
    const result = said('a', scatter(index), { duration_ms: scatter(index * 3) * 1e5, guard });
    reducer.add(record(String(index), [[result]], { tags: [`t${index % 5}`] }));
  };
  let index = 0;
  for (; index < total * 0.7; index++) add(index);
  const early = usedMemory();
  for (; index < total; index++) add(index);
  const late = usedMemory();
  expect(reducer.stats()['a']).toMatchObject({ count: total, median: expect.closeTo(0.5, 3) });
  expect(late - early).toBeLessThan(8);
});
