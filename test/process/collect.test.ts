import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { collect } from '../../src/process/in-flight-bytes.ts';
import { streamOutput } from '../../src/process/launch/system/outputs.ts';
import { whenClosed } from '../../src/process/stream-reader.ts';

describe('collecting', () => {
  async function collected(chunks: readonly string[], maxBytes: number): Promise<string | undefined> {
    const stdout = collect(streamOutput(Readable.from(chunks.map((chunk) => Buffer.from(chunk)))), {
      maxBytes,
    });
    await stdout.done;
    const bytes = stdout.bytes();
    return bytes && Buffer.from(bytes).toString();
  }

  test.each([
    { title: 'nothing', chunks: [], bytes: '' },
    { title: 'one chunk', chunks: ['abc'], bytes: 'abc' },
    { title: 'several chunks', chunks: ['ab', 'cd', 'e'], bytes: 'abcde' },
    { title: 'exactly the limit', chunks: ['12345', '67890'], bytes: '1234567890' },
    { title: 'one byte too much', chunks: ['12345', '678901'], bytes: undefined },
    { title: 'too much, and then more', chunks: ['12345678901', '2', '3'], bytes: undefined },
  ])('gives $title', async ({ chunks, bytes }) => {
    expect(await collected(chunks, 10)).toBe(bytes);
  });

  test('reports an overflow before the stream ends, and reads on', async () => {
    const stream = new PassThrough();
    const stdout = collect(streamOutput(stream), { maxBytes: 10 });
    stream.write('12345678901');
    await stdout.overflowed;
    stream.end('more');
    await stdout.done;
    expect(stream.readableEnded).toBe(true);
  });

  test('ends with a destroyed stream, with what was read until then', async () => {
    const stream = new PassThrough();
    const stdout = collect(streamOutput(stream), { maxBytes: 10 });
    stream.write('abc');
    await new Promise((resolve) => setImmediate(resolve));
    stream.destroy(new Error('the pipe broke'));
    await stdout.done;
    expect(Buffer.from(stdout.bytes() ?? []).toString()).toBe('abc');
  });

  test('a stream that was closed before is closed', async () => {
    const stream = new PassThrough();
    stream.destroy();
    await new Promise((resolve) => stream.once('close', resolve));
    await expect(whenClosed(stream)).resolves.toBeUndefined();
  });
});
