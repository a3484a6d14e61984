import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createOutbox } from '../../../src/transport/server/outbox.ts';

/** A stream whose reader takes one line each time it is told to. */
function openReader() {
  const taken: string[] = [];
  const waiting: ((error?: Error) => void)[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      taken.push(chunk.toString());
      waiting.push(done);
    },
  });
  const take = async (error?: Error) => {
    waiting.shift()?.(error);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stream, taken, take };
}

const line = (text: string) => Buffer.from(`${text}\n`);

test('writes one line at a time, in order', async () => {
  const { stream, taken, take } = openReader();
  const outbox = createOutbox(stream);
  for (const text of ['one', 'two', 'three']) outbox.send(line(text));
  expect(taken).toEqual(['one\n']);
  await take();
  expect(taken).toEqual(['one\n', 'two\n']);
  await take();
  await take();
  expect(taken).toEqual(['one\n', 'two\n', 'three\n']);
  outbox.send(line('four'));
  expect(taken.at(-1)).toBe('four\n');
});

test('counts the bytes that have not left', async () => {
  const { stream, take } = openReader();
  const outbox = createOutbox(stream);
  const counts = [outbox.pendingBytes];
  outbox.send(line('12345'));
  outbox.send(line('123'));
  counts.push(outbox.pendingBytes);
  await take();
  counts.push(outbox.pendingBytes);
  await take();
  counts.push(outbox.pendingBytes);
  expect(counts).toEqual([0, 10, 4, 0]);
});

test('takes back a line that was not begun, once [PK-5-38@server]', async () => {
  const { stream, taken, take } = openReader();
  const outbox = createOutbox(stream);
  outbox.send(line('one'));
  const withdraw = outbox.send(line('two'));
  outbox.send(line('three'));
  withdraw();
  withdraw();
  expect(outbox.pendingBytes).toBe(10);
  await take();
  await take();
  expect(taken).toEqual(['one\n', 'three\n']);
  expect(outbox.pendingBytes).toBe(0);
});

test('tells when a line has left, and nothing of one that never does', async () => {
  const { stream, take } = openReader();
  stream.on('error', () => {});
  const outbox = createOutbox(stream);
  const told: string[] = [];
  outbox.send(line('one'), () => told.push('one'));
  const withdraw = outbox.send(line('two'), () => told.push('two'));
  outbox.send(line('three'), () => told.push('three'));
  withdraw();
  expect(told).toEqual([]);
  await take();
  expect(told).toEqual(['one']);
  await take(new Error('nobody reads any more'));
  expect(told).toEqual(['one']);
});

test('finishes a line that was begun [PK-5-38@server]', async () => {
  const { stream, taken, take } = openReader();
  const outbox = createOutbox(stream);
  const withdraw = outbox.send(line('one'));
  withdraw();
  expect([taken, outbox.pendingBytes]).toEqual([['one\n'], 4]);
  await take();
  expect(outbox.pendingBytes).toBe(0);
  outbox.send(line('two'));
  expect(taken).toEqual(['one\n', 'two\n']);
});

test('writes nothing more once the stream has ended', async () => {
  const { stream, taken, take } = openReader();
  stream.on('error', () => {});
  const outbox = createOutbox(stream);
  outbox.send(line('one'));
  outbox.send(line('two'));
  stream.destroy();
  await take();
  outbox.send(line('three'));
  expect(taken).toEqual(['one\n']);
});
