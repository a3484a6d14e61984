import { WriteStream } from 'node:tty';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openStdoutSink } from '../../src/cli/terminal.ts';
import { toLine } from '../../src/suites/report/csv-line.ts';

function streamOf(isTTY: boolean, columns: number): NodeJS.WriteStream {
  const stream: NodeJS.WriteStream = Object.create(WriteStream.prototype);
  return Object.assign(stream, { isTTY, columns });
}

test.each([
  { title: 'a terminal has its width', isTTY: true, columns: 120, expected: 120 },
  { title: 'the narrowest has 20 columns', isTTY: true, columns: 20, expected: 20 },
  { title: 'one of less does not know its width', isTTY: true, columns: 19, expected: undefined },
  { title: 'nor does one of none', isTTY: true, columns: 0, expected: undefined },
  { title: 'a file has no width', isTTY: false, columns: 80, expected: undefined },
])('$title', ({ isTTY, columns, expected }) => {
  expect(openStdoutSink(false, streamOf(isTTY, columns)).columns).toBe(expected);
});

const hostile = fc
  .array(
    fc.constantFrom(
      '\u001b]0;x\u0007',
      '\u001b[2J',
      '\u009b2J',
      '\b',
      '\r',
      '\r\n',
      '\u202e',
      '\u0000',
      '"',
      ',',
      'é',
      'a',
    ),
  )
  .map((parts) => parts.join(''));
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal obeys.
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/;

test('no terminal, however narrow, executes control characters in CSV; a file or a pipe gets them unchanged', async () => {
  const written = async (line: string, isTTY: boolean, columns: number, hasColour: boolean) => {
    const parts: string[] = [];
    const stream = Object.assign(streamOf(isTTY, columns), { write: (part: string) => parts.push(part) > 0 });
    await openStdoutSink(hasColour, stream).write(line);
    return parts.join('');
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(hostile, { minLength: 1 }),
      fc.constantFrom(0, 1, 19, 20, 200),
      fc.boolean(),
      async (cells, columns, hasColour) => {
        const line = toLine(cells);
        expect(await written(line, true, columns, hasColour)).not.toMatch(obeyed);
        expect(await written(line, false, columns, false)).toBe(line);
      },
    ),
  );
});
