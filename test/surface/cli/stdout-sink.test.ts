import { WriteStream } from 'node:tty';
import { expect, test } from 'vitest';
import { openStdoutSink } from '../../../src/surface/cli/stdout-sink.ts';

/** A terminal, or a file, that reports such a width. */
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
