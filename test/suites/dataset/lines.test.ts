import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitLines } from '../../../src/suites/dataset/lines.ts';

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function split(chunks: readonly Buffer[], maxBytes = 1000): Promise<(string | undefined)[]> {
  const lines = await Array.fromAsync(splitLines(each(chunks), maxBytes));
  expect(lines.map(({ number }) => number)).toEqual(lines.map((_line, index) => index + 1));
  return lines.map(({ bytes }) => bytes?.toString());
}

const framings = [
  { title: 'nothing', text: '', lines: [] },
  { title: 'a last line without a line feed', text: 'a\nb', lines: ['a', 'b'] },
  { title: 'a last line with a line feed', text: 'a\nb\n', lines: ['a', 'b'] },
  { title: 'empty lines', text: '\n\na\n\n', lines: ['', '', 'a', ''] },
  { title: 'carriage returns, which stay', text: 'a\r\nb\r\n', lines: ['a\r', 'b\r'] },
];

test.each(framings)('cuts $title', async ({ text, lines }) => {
  expect(await split([Buffer.from(text)])).toEqual(lines);
});

test('a line of exactly the limit is read, and one byte more is skipped up to its line feed', async () => {
  const text = 'abcd\nabcde\nab\nabcdef';
  const expected = ['abcd', undefined, 'ab', undefined];
  expect(await split([Buffer.from(text)], 4)).toEqual(expected);
  expect(await split(text.split('').map(Buffer.from), 4)).toEqual(expected);
});

test('property: chunk borders change nothing, even inside a character', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'é', '漢', '😀') });
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(40)), async (content, cuts) => {
      const bytes = Buffer.from(content);
      const ends = [...cuts.filter((cut) => cut < bytes.length), bytes.length].toSorted((a, b) => a - b);
      const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      const expected = content.split('\n');
      if (expected.at(-1) === '') expected.pop();
      expect(await split(chunks)).toEqual(expected);
    }),
  );
});
