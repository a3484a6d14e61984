import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { RuntimeError, toFault } from '../../src/errors.ts';
import { lastLineOf, watchStderr, withStderr } from '../../src/transport/stderr.ts';

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

test('an error is told with the last line, and keeps all of stderr', () => {
  const error = new RuntimeError('SERVER_EXIT', 'it ended', { hint: 'a hint', details: { exit_code: 3 } });
  expect(toFault(withStderr(error, 'one\ntwo\n'))).toEqual({
    code: 'SERVER_EXIT',
    message: 'it ended: two',
    hint: 'a hint',
    details: { exit_code: 3, stderr: 'one\ntwo\n' },
  });
});

test('an error stays as it is where stderr said nothing', () => {
  const error = new RuntimeError('SERVER_EXIT', 'it ended');
  expect(withStderr(error, '')).toBe(error);
  expect(withStderr(error, ' \n').message).toBe('it ended');
});

async function watch(chunks: readonly string[]) {
  const told: string[] = [];
  const stream = new PassThrough();
  const tail = watchStderr(stream, (line) => told.push(line));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await new Promise((resolve) => stream.once('close', resolve));
  return { told, tail: tail() };
}

test('lines are told as they come, the last one at the end', async () => {
  expect(await watch(['on', 'e\ntwo\r', '\nthr', 'ee'])).toEqual({
    told: ['one', 'two', 'three'],
    tail: 'one\ntwo\r\nthree',
  });
});

test('the tail is the last 64 KiB, however much there was', async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`);
  const { told, tail } = await watch(lines);
  expect(told).toHaveLength(20_000);
  expect(tail).toBe(lines.join('').slice(-64 * 1024));
});

test('a line without end is told once, as far as 64 KiB go', async () => {
  const { told, tail } = await watch(Array(100).fill('x'.repeat(4096)));
  expect(told).toEqual([`${'x'.repeat(64 * 1024)} …`]);
  expect(tail).toBe('x'.repeat(64 * 1024));
});
