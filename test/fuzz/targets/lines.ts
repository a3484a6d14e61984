import { scanLines } from '../../../src/process/cassette/lines.ts';
import { createLineSplitter } from '../../../src/process/stream-reader.ts';
import { bytesOf, holds, isSame, type Target } from '../target.ts';

const LONGEST = 40;

/** Lines in chunks whose length is the first byte. */
export const lines: Target = {
  seeds: ['\u0003a\nbc\r\n\nd', '\u0001\r\r\n\n', `\u0007${'x'.repeat(60)}\nshort\n${'y'.repeat(41)}`],
  tokens: ['\n', '\r', '\r\n', '\n\n', 'x'.repeat(LONGEST), 'x'.repeat(LONGEST + 1), ' ', '\0'],
  maxLength: 400,
  run: async (input) => {
    const bytes = bytesOf(input.slice(1));
    const size = (input.charCodeAt(0) & 31) + 1;
    const found: string[] = [];
    const splitter = createLineSplitter(
      { maxBytes: LONGEST, prefixBytes: 8 },
      {
        onLine: (all, start, end) => found.push(all.toString('latin1', start, end)),
        onLongLine: (prefix) => {
          holds(prefix.length === 8, 'the beginning of a long line');
          found.push(`long ${Buffer.from(prefix).toString('latin1')}`);
        },
      },
    );
    for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size));
    splitter.end();
    isSame(found, wanted(bytes.toString('latin1')), 'lines');
    // Each of these runs allocates a buffer of 1 MiB.
    if (input.length % 8 > 0) return;
    const scanned: string[] = [];
    await scanLines(
      async (into, position) => bytes.copy(into, 0, position, position + size),
      (line, { offset }) => {
        scanned.push(line.toString('latin1'));
        holds(
          bytes.toString('latin1', offset, offset + line.length) === scanned.at(-1),
          'the place of a line',
        );
      },
    );
    const whole = bytes.toString('latin1').split('\n');
    isSame(
      scanned,
      whole.filter((line) => /[^\t\r ]/.test(line)),
      'lines of a cassette',
    );
  },
};

function wanted(text: string): string[] {
  const whole = text.split('\n');
  if (whole.at(-1) === '') whole.pop();
  return whole.map((line) => (line.length > LONGEST ? `long ${line.slice(0, 8)}` : line.replace(/\r$/, '')));
}
