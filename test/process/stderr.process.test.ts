import { expect, onTestFinished, test, vi } from 'vitest';
import { RuntimeError, toFault } from '../../src/base/errors.ts';
import { lastLineOf } from '../../src/base/text/phrases.ts';
import type { Scrubber } from '../../src/contract/scrub.ts';
import { createStderrLines, createStderrReader, withStderr } from '../../src/process/stderr.ts';
import { createScrubber } from '../../src/runtime/log/scrub.ts';

test.each([
  { title: 'of nothing is nothing', text: '', line: '' },
  { title: 'of white space is nothing', text: ' \n\t\n', line: '' },
  { title: 'is the last one', text: 'one\ntwo\n', line: 'two' },
  { title: 'needs no newline', text: 'one\ntwo', line: 'two' },
  { title: 'is not blank', text: 'one\n  two \r\n\n \n', line: 'two' },
  { title: 'is cut at 500 characters', text: `one\n${'x'.repeat(501)}`, line: 'x'.repeat(500) },
  { title: 'is not cut at 500', text: 'x'.repeat(500), line: 'x'.repeat(500) },
  { title: 'is never cut inside a character', text: '🚂'.repeat(600), line: '🚂'.repeat(500) },
])('the last line $title', ({ text, line }) => {
  expect(lastLineOf(text)).toBe(line);
});

test('an error is shown with the last line, and keeps all of stderr', () => {
  const error = new RuntimeError('SERVER_EXIT', 'it ended', { hint: 'a hint', details: { exit_code: 3 } });
  expect(toFault(withStderr(error, 'one\ntwo\n'))).toEqual({
    code: 'SERVER_EXIT',
    message: 'it ended: two',
    hint: 'a hint',
    details: { exit_code: 3, stderr: 'one\ntwo\n' },
  });
});

test('an error is unchanged if stderr is empty', () => {
  const error = new RuntimeError('SERVER_EXIT', 'it ended');
  expect(withStderr(error, '')).toBe(error);
  expect(withStderr(error, ' \n').message).toBe('it ended');
});

async function watch(
  chunks: readonly (string | Buffer)[],
  windowMs = Number.POSITIVE_INFINITY,
  scrubber?: Scrubber,
) {
  const told: string[] = [];
  const { push, end, tail } = createStderrReader((line) => told.push(line), {
    windowMs,
    scrubber,
    onOmitted: ({ lines, bytes }) => told.push(`(${lines} lines, ${bytes} bytes)`),
  });
  for (const chunk of chunks) push(Buffer.from(chunk));
  end();
  return { told, tail: tail() };
}

test('lines are reported as they arrive, the last one at the end', async () => {
  expect(await watch(['on', 'e\ntwo\r', '\nthr', 'ee'])).toEqual({
    told: ['one', 'two', 'three'],
    tail: 'one\ntwo\r\nthree',
  });
});

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}\n`);
const named = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index}`);

test.each([
  { title: 'a thousand', count: 1_000, end: '', middle: [], last: 500 },
  { title: 'one more', count: 1_001, end: '', middle: ['(1 lines, 9 bytes)'], last: 501 },
  { title: 'many', count: 20_000, end: '', middle: ['(19000 lines, 199000 bytes)'], last: 19_500 },
  {
    title: 'many, and one without a newline',
    count: 20_000,
    end: 'end',
    middle: ['(19001 lines, 199011 bytes)'],
    last: 19_501,
  },
])('of $title lines the first and the last 500 are reported, with the number between', async (row) => {
  const { count, end, middle, last } = row;
  const all = [...numbered(count), end];
  const expected = [...named(0, 500), ...middle, ...named(last, count), ...(end === '' ? [] : [end])];
  const { told, tail } = await watch(all);
  expect(told).toEqual(expected);
  expect(tail).toBe(all.join('').slice(-64 * 1024));
  // The result must not depend on the chunks.
  expect((await watch([all.join('')])).told).toEqual(expected);
  expect((await watch([...all.join('').matchAll(/[\s\S]{1,7}/g)].map(String))).told).toEqual(expected);
});

test('of long lines 64 KiB at the beginning and 64 KiB at the end are reported', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(1023, '0'));
  const { told } = await watch(lines.map((line) => `${line}\n`));
  expect(told).toEqual([...lines.slice(0, 65), '(872 lines, 892928 bytes)', ...lines.slice(-63)]);
});

test('an endless line is reported once, up to 64 KiB', async () => {
  const { told, tail } = await watch(Array(100).fill('x'.repeat(4096)));
  expect(told).toEqual([`${'x'.repeat(64 * 1024)} …`, '(0 lines, 344064 bytes)']);
  expect(tail).toBe('x'.repeat(64 * 1024));
});

test('lines after a too long one are reported', async () => {
  const { told } = await watch(['x'.repeat(100_000), 'yyy\nnext\n', 'last']);
  expect(told).toEqual([`${'x'.repeat(64 * 1024)} …`, '(1 lines, 34468 bytes)', 'next', 'last']);
});

test('no character is cut, and invalid bytes are marked', async () => {
  const long = 'é'.repeat(40_000);
  const { told, tail } = await watch([`a${long}`]);
  expect(told).toEqual([`a${'é'.repeat(32_767)} …`, '(0 lines, 14465 bytes)']);
  expect(tail).toBe('é'.repeat(32_768));
  expect((await watch([`${long}bb`])).tail).toBe(`${'é'.repeat(32_767)}bb`);
  expect((await watch([Buffer.from([0x61, 0xff, 0x00, 0xc3, 0x0a, 0xfe])])).told).toEqual([
    'a\ufffd\0',
    '\ufffd',
  ]);
});

test('a surviving process is read again after the pause, and its last lines are reported then', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const told: string[] = [];
  const limits = { lines: 2, bytes: 1024, windowMs: 1_000 };
  const lines = createStderrLines(limits, {
    onLine: (line) => told.push(line),
    onOmitted: (omitted) => told.push(`(${omitted.lines} lines, ${omitted.bytes} bytes)`),
  });
  lines.push(Buffer.from('1\n2\n3\n4\n5\n6\nseven'));
  expect(told.splice(0)).toEqual(['1', '2']);
  vi.advanceTimersByTime(1_000);
  expect(told.splice(0)).toEqual(['(2 lines, 4 bytes)', '5', '6']);
  lines.push(Buffer.from('ty\n8\n9\n'));
  expect(told.splice(0)).toEqual(['seventy', '8']);
  vi.advanceTimersByTime(1_000);
  lines.push(Buffer.from('10'));
  lines.end();
  expect(told).toEqual(['9', '10']);
});

test.each(['utf-16le', 'utf-16be'])(
  '%s with its byte order mark is read, however it is split',
  async (form) => {
    const bytes = Buffer.from('\ufeffone é 🚂\r\ntwo\n', 'utf16le');
    const torn = Array.from(form === 'utf-16le' ? bytes : bytes.swap16(), (byte) => Buffer.from([byte]));
    expect(await watch(torn)).toEqual({ told: ['one é 🚂', 'two'], tail: 'one é 🚂\r\ntwo\n' });
  },
);

test('half of a mark, and half of a character, are kept as invalid characters', async () => {
  expect(await watch([Buffer.from([0xff])])).toEqual({ told: ['\ufffd'], tail: '\ufffd' });
  expect(await watch([Buffer.from([0xff, 0xfe, 0x41])])).toEqual({ told: ['\ufffd'], tail: '\ufffd' });
});

const megabyte = 1024 * 1024;

function cut(text: string, length: number): string[] {
  return [...text.matchAll(new RegExp(`[\\s\\S]{1,${length}}`, 'g'))].map(String);
}

test.each([
  { title: 'in lines', line: 'a usual line of a log\n', told: 1_001 },
  { title: 'in one line', line: 'a line that does not end ', told: 2 },
])('of a flood $title the same amount is reported with secrets as without', async ({ line, told: count }) => {
  const chunks = cut(line.repeat((3 * megabyte) / line.length), 65_521);
  const plain = await watch(chunks);
  expect(plain.told).toHaveLength(count);
  expect(await watch(chunks, undefined, createScrubber(['not to be seen']))).toEqual(plain);
});

/** No part of it occurs twice. */
const secret = Array.from({ length: 2_500 }, (_, index) => `k${String(index * 7919).padStart(7, '0')}`).join(
  '',
);
const pieces = cut(secret, 8);

test.each([
  { title: 'in lines', line: `password ${secret} of line\n` },
  { title: 'without lines', line: `${secret} ` },
  { title: 'in long lines', line: `${`${secret} `.repeat(50)}\n` },
])('no part of a secret is shown of a flood of them $title, wherever it is cut', async ({ line }) => {
  const text = line.repeat(Math.ceil((2 * megabyte) / line.length));
  for (const length of [4_096, 65_001]) {
    const { told, tail } = await watch(cut(text, length), undefined, createScrubber([secret]));
    const shown = [...told, tail].join('\n');
    expect(pieces.filter((piece) => shown.includes(piece))).toEqual([]);
    expect(tail).toContain('[redacted]');
  }
});

test('the end of a flood is visible while it lasts', async () => {
  const scrubber = createScrubber([secret]);
  const reader = createStderrReader(() => {}, { scrubber });
  for (let round = 0; round < 3; round++) {
    for (const chunk of cut(`${`usual line ${secret}\n`.repeat(1_000)}round ${round}`, 65_536)) {
      reader.push(Buffer.from(chunk));
    }
    expect(reader.tail().endsWith(`round ${round}`)).toBe(true);
    expect(pieces.filter((piece) => reader.tail().includes(piece))).toEqual([]);
  }
});
