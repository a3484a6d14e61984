import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createLineSplitter, readInTurns } from '../../src/process/stream-reader.ts';

const limits = { maxBytes: 12, prefixBytes: 5 };

/** A reference implementation of the splitter over the whole text. */
function reference(bytes: Buffer): string[] {
  const parts = bytes.toString('latin1').split('\n');
  // The text after the last newline is a line only if it is not empty.
  if (parts.at(-1) === '') parts.pop();
  return parts.map((part) =>
    part.length > limits.maxBytes ? `long: ${part.slice(0, 5)}` : `line: ${part.replace(/\r$/, '')}`,
  );
}

function split(chunks: readonly Buffer[]): string[] {
  const told: string[] = [];
  const say = (kind: string) => (bytes: Uint8Array) => {
    told.push(`${kind}: ${Buffer.from(bytes).toString('latin1')}`);
  };
  const onLine = (bytes: Buffer, start: number, end: number) => say('line')(bytes.subarray(start, end));
  const lines = createLineSplitter(limits, { onLine, onLongLine: say('long') });
  for (const chunk of chunks) lines.push(chunk);
  lines.end();
  return told;
}

/** Mostly line ends and bytes at the limits, so that they meet. */
const stream = fc
  .array(fc.oneof(fc.constantFrom(0x0a, 0x0d, 0x78, 0x79), fc.integer({ min: 0, max: 255 })), {
    maxLength: 80,
    size: 'max',
  })
  .map((bytes) => Buffer.from(bytes));

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

describe('lines', () => {
  test('are the same however the stream is split', () => {
    const cuts = fc.array(fc.nat(), { maxLength: 20, size: 'max' });
    fc.assert(
      fc.property(stream, cuts, (bytes, positions) => {
        expect(split(cutAt(bytes, positions))).toEqual(reference(bytes));
      }),
      { numRuns: 2_000 },
    );
  });

  test('are the same byte by byte', () => {
    fc.assert(
      fc.property(stream, (bytes) => {
        expect(split([...bytes].map((byte) => Buffer.of(byte)))).toEqual(reference(bytes));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    { title: 'an empty stream', text: '', told: [] },
    { title: 'a blank line', text: '\n', told: ['line: '] },
    { title: 'a last line without newline', text: 'a\nb', told: ['line: a', 'line: b'] },
    { title: 'CRLF', text: 'a\r\nb\r\n', told: ['line: a', 'line: b'] },
    { title: 'a carriage return inside a line', text: 'a\rb\n', told: ['line: a\rb'] },
    { title: 'a line of exactly the limit', text: '123456789012\n', told: ['line: 123456789012'] },
    { title: 'a line of one byte more', text: '1234567890123\nb\n', told: ['long: 12345', 'line: b'] },
    { title: 'a long last line without newline', text: 'a\n1234567890123', told: ['line: a', 'long: 12345'] },
  ])('of $title', ({ text, told }) => {
    expect(split([Buffer.from(text)])).toEqual(told);
  });

  test('of exactly the limit may arrive in pieces', () => {
    const pieces = ['123456', '789012', '\n1', '234567890123', '\n'].map((piece) => Buffer.from(piece));
    expect(split(pieces)).toEqual(['line: 123456789012', 'long: 12345']);
  });

  test('in one chunk are not copied, and one in many chunks is copied once', () => {
    const concat = vi.spyOn(Buffer, 'concat');
    const passed: { readonly bytes: Buffer; readonly length: number }[] = [];
    const lines = createLineSplitter(
      { maxBytes: 60_000_000, prefixBytes: 5 },
      {
        onLine: (bytes, start, end) => passed.push({ bytes, length: end - start }),
        onLongLine: () => expect.unreachable(),
      },
    );
    const chunk = Buffer.from('one\ntwo\n');
    lines.push(chunk);
    const piece = Buffer.alloc(60_000, 'x');
    for (let count = 0; count < 1_000; count++) lines.push(piece);
    lines.push(Buffer.from('\nthree\n'));
    expect(passed.map(({ length }) => length)).toEqual([3, 3, 60_000_000, 5]);
    expect(passed.map(({ bytes }) => bytes === chunk)).toEqual([true, true, false, false]);
    expect(concat).toHaveBeenCalledTimes(1);
    concat.mockRestore();
  });

  test('of an endless line are kept only up to the limit', () => {
    let held = 0;
    const lines = createLineSplitter(
      { maxBytes: 1000, prefixBytes: 10 },
      {
        onLine: () => expect.unreachable(),
        onLongLine: (prefix) => {
          held += prefix.length;
        },
      },
    );
    const chunk = Buffer.alloc(600, 'x');
    for (let count = 0; count < 10_000; count++) lines.push(chunk);
    lines.end();
    expect(held).toBe(10);
  });
});

test('a slow stream does not delay a time limit, and loses nothing', async () => {
  const stream = new PassThrough();
  const chunks = ['a', 'b', 'c', 'd', 'e'];
  for (const chunk of chunks) stream.write(chunk);
  const told: string[] = [];
  setTimeout(() => told.push('time limit'), 1);
  readInTurns(stream, (chunk) => {
    told.push(chunk.toString());
    const start = performance.now();
    while (performance.now() - start < 10);
  });
  await vi.waitFor(() => expect(told).toContain('e'));
  await sleep(1);
  expect(told.indexOf('time limit')).toBeLessThan(told.indexOf('d'));
  expect(told.filter((each) => each !== 'time limit')).toEqual(chunks);
});
