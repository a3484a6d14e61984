import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { openRows } from '../../../src/suites/dataset/rows.ts';
import { writeFiles } from '../support.ts';
import { never, usedMemory } from './support.ts';

const total = 80_000;
const filler = 'x'.repeat(80);

/** Many rows at once, so that writing takes no longer than reading. */
function* generate(start: string, row: (index: number) => string, end: string): Generator<string> {
  yield start;
  const block = 1000;
  for (let from = 0; from < total; from += block) {
    yield Array.from({ length: block }, (_, offset) => row(from + offset)).join('');
  }
  yield end;
}

const files = [
  { name: 'rows.csv', text: () => generate('id,text\n', (index) => `${index},${filler}\n`, '') },
  {
    name: 'rows.json',
    text: () =>
      generate('[', (index) => `${index === 0 ? '' : ','}{"id":${index},"text":"${filler}"}\n`, ']'),
  },
];

test.each(files)('memory does not grow with the rows of $name', async ({ name, text }) => {
  const path = join(writeFiles({}), name);
  await pipeline(Readable.from(text()), createWriteStream(path));
  let early = 0;
  let late = 0;
  let usable = 0;
  for await (const { number, content } of openRows({ kind: 'file', path }, never).rows) {
    if (content.usable) usable += 1;
    if (number === total / 10) early = usedMemory();
    if (number === total - 10) late = usedMemory();
  }
  expect(usable).toBe(total);
  // The rows are about 7 MiB, and several times that when parsed.
  expect(late - early).toBeLessThan(3);
});
