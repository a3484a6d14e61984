import { Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Outbox, type QueuedLine } from '../../../src/process/server/session.ts';

/** A stream whose reader takes one line each time it is told to. */
function openReader() {
  const taken: string[] = [];
  const waiting: ((error?: Error) => void)[] = [];
  const stream = new Writable({
    // As a pipe does: what is written as text comes as text.
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      taken.push(chunk);
      waiting.push(done);
    },
  });
  const take = async (error?: Error) => {
    waiting.shift()?.(error);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stream, taken, take };
}

const line = (text: string) => `${text}\n`;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('writes at once what is sent alone, and what gathers behind it in one write, in order', async () => {
  const { stream, taken, take } = openReader();
  const outbox = new Outbox(stream);
  outbox.send(line('one'));
  await new Promise((resolve) => process.nextTick(resolve));
  expect(taken).toEqual(['one\n']);
  for (const text of ['two', 'three']) outbox.send(line(text));
  await turn();
  outbox.send(line('four'));
  await turn();
  expect(taken).toEqual(['one\n']);
  await take();
  expect(taken).toEqual(['one\n', 'two\nthree\nfour\n']);
  await take();
  outbox.send(line('five'));
  await turn();
  expect(taken.at(-1)).toBe('five\n');
});

test('writes what is sent in one turn of the event loop, by promises as well, in one write', async () => {
  const { stream, taken } = openReader();
  const outbox = new Outbox(stream);
  const senders = Array.from({ length: 100 }, async (_, n) => {
    for (let wait = 0; wait < n % 7; wait++) await undefined;
    outbox.send(line(`${n}`));
  });
  await Promise.all(senders);
  await turn();
  expect(taken).toHaveLength(1);
  expect(new Set(taken[0]?.split('\n')).size).toBe(101);
});

test('begins at most as much as a pipe holds, or one line', async () => {
  const { stream, taken, take } = openReader();
  const outbox = new Outbox(stream);
  const sizes = [30_000, 30_000, 30_000, 200_000, 10, 10];
  for (const size of sizes) outbox.send(line('x'.repeat(size)));
  for (let writes = 0; writes < 4; writes++) await turn().then(() => take());
  expect(taken.map((text) => text.length)).toEqual([60_002, 30_001, 200_001, 22]);
});

test('counts the bytes that have not left', async () => {
  const { stream, take } = openReader();
  const outbox = new Outbox(stream);
  const counts = [outbox.pendingBytes];
  outbox.send(line('12345'));
  await turn();
  outbox.send(line('123'));
  counts.push(outbox.pendingBytes);
  await take();
  counts.push(outbox.pendingBytes);
  await take();
  counts.push(outbox.pendingBytes);
  expect(counts).toEqual([0, 10, 4, 0]);
});

test('knows to the byte whether there is room, whatever was sent and taken back [PK-5-40@server]', async () => {
  const text = fc.oneof(fc.constantFrom('x', 'é', '€', '😀', '\ud800'), fc.string({ unit: 'binary' }));
  const step = fc.record({ text, withdraw: fc.option(fc.nat()), isCounted: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const { stream, take } = openReader();
      const outbox = new Outbox(stream);
      outbox.send(line('begun'));
      await turn();
      const waiting: QueuedLine[] = [];
      for (const { text: next, withdraw, isCounted } of steps) {
        waiting.push(outbox.send(line(next)));
        const [gone] = withdraw === null ? [] : waiting.splice(withdraw % waiting.length, 1);
        if (gone !== undefined) outbox.withdraw(gone);
        const bytes = waiting.reduce((sum, queued) => sum + Buffer.byteLength(queued.text), 6);
        expect([outbox.hasRoom(bytes), outbox.hasRoom(bytes - 1)]).toEqual([true, false]);
        if (isCounted) expect(outbox.pendingBytes).toBe(bytes);
      }
      await take();
      await take();
      expect(outbox.pendingBytes).toBe(0);
    }),
    { numRuns: 300 },
  );
});

test('takes back a line that was not begun, once [PK-5-38@server]', async () => {
  const { stream, taken, take } = openReader();
  const outbox = new Outbox(stream);
  outbox.send(line('one'));
  await turn();
  const two = outbox.send(line('two'));
  outbox.send(line('three'));
  outbox.withdraw(two);
  outbox.withdraw(two);
  expect(outbox.pendingBytes).toBe(10);
  await take();
  await take();
  expect(taken).toEqual(['one\n', 'three\n']);
  expect(outbox.pendingBytes).toBe(0);
});

test('takes back 100,000 lines in any order, and writes what is left', async () => {
  const { stream, taken, take } = openReader();
  const outbox = new Outbox(stream);
  outbox.send(line('one'));
  await turn();
  const lines = Array.from({ length: 100_000 }, (_, n) => outbox.send(line(`${n}`)));
  const order = lines.map((queued, n) => ({ queued, place: (n * 7_919) % lines.length }));
  const [left] = order.splice(6, 1);
  for (const { queued } of order.toSorted((a, b) => a.place - b.place)) outbox.withdraw(queued);
  expect([left?.queued.text, outbox.pendingBytes]).toEqual(['6\n', 6]);
  await take();
  expect(taken).toEqual(['one\n', '6\n']);
});

test('tells when a line has left, and nothing of one that never does', async () => {
  const { stream, take } = openReader();
  stream.on('error', () => {});
  const outbox = new Outbox(stream);
  const told: string[] = [];
  outbox.send(line('one'), () => told.push('one'));
  await turn();
  const two = outbox.send(line('two'), () => told.push('two'));
  outbox.send(line('three'), () => told.push('three'));
  outbox.withdraw(two);
  expect(told).toEqual([]);
  await take();
  expect(told).toEqual(['one']);
  await take(new Error('nobody reads any more'));
  expect(told).toEqual(['one']);
});

test('finishes a line that was begun [PK-5-38@server]', async () => {
  const { stream, taken, take } = openReader();
  const outbox = new Outbox(stream);
  const one = outbox.send(line('one'));
  await turn();
  outbox.withdraw(one);
  expect([taken, outbox.pendingBytes]).toEqual([['one\n'], 4]);
  const two = outbox.send(line('two'));
  // It still counts, and nothing that came later counts less for it.
  expect([outbox.hasRoom(7), outbox.hasRoom(8)]).toEqual([false, true]);
  outbox.withdraw(two);
  await take();
  expect(outbox.pendingBytes).toBe(0);
  outbox.send(line('two'));
  await turn();
  expect(taken).toEqual(['one\n', 'two\n']);
});

test('writes nothing more once the stream has ended', async () => {
  const { stream, taken, take } = openReader();
  stream.on('error', () => {});
  const outbox = new Outbox(stream);
  outbox.send(line('one'));
  await turn();
  outbox.send(line('two'));
  stream.destroy();
  await take();
  outbox.send(line('three'));
  await turn();
  expect(taken).toEqual(['one\n']);
});
