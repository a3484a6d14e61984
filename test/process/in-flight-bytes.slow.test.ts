import { expect, test } from 'vitest';
import { InFlightBytes } from '../../src/process/in-flight-bytes.ts';
import { createPool } from '../../src/process/pool.ts';
import { bind, open } from './harness.ts';

const MIB = 2 ** 20;
const cap = 128 * MIB;

/** Starts that many calls at once. Returns the byte counts and how many calls had each. */
async function askAll(calls: number, line: string, body: string, inFlight: InFlightBytes) {
  const binding = bind('/bin/sh', { args: ['-c', line], maxOutputBytes: 20 * MIB, timeoutMs: 60_000 });
  const { transport } = await open(binding, { inFlight, pool: createPool(40) });
  const ask = async () => {
    const reply = await transport.exchange({ method: 'execute', body });
    if (reply.via !== 'process') return '';
    return reply.stdout.length < 100 ? Buffer.from(reply.stdout).toString().trim() : `${reply.stdout.length}`;
  };
  return Object.groupBy(await Promise.all(Array.from({ length: calls }, ask)), (told) => told);
}

test('60 requests of 20 MB stay within the limit, and none is lost [DS-LIM-12@oneshot]', async () => {
  const inFlight = new InFlightBytes(cap);
  const told = await askAll(60, 'wc -c', 'x'.repeat(20 * MIB), inFlight);
  expect(Object.keys(told)).toEqual([`${20 * MIB + 1}`]);
  expect(Object.values(told).flat()).toHaveLength(60);
  expect(inFlight.most).toBeLessThanOrEqual(cap);
  expect(inFlight.most).toBeGreaterThanOrEqual(120 * MIB);
});

test('outputs of 20 MB stay within it, however many start at once [DS-LIM-13@oneshot]', async () => {
  const inFlight = new InFlightBytes(cap);
  const told = await askAll(24, `head -c ${20 * MIB} /dev/zero`, '{}', inFlight);
  expect(Object.keys(told)).toEqual([`${20 * MIB}`]);
  expect(Object.values(told).flat()).toHaveLength(24);
  // Includes the bytes in transit when the other calls stopped.
  expect(inFlight.most).toBeLessThan(cap + 24 * 64 * 1024);
  expect(inFlight.most).toBeGreaterThan(cap / 2);
});
