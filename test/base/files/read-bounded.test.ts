import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tryReadHead } from '../../../src/base/files/interpreter.ts';
import { readBounded } from '../../../src/base/files/read-bounded.ts';

const folder = mkdtempSync(join(tmpdir(), 'read-'));
const file = (name: string) => join(folder, name);

test('a file is read completely, also an empty one, one of many chunks, and one of unknown size', () => {
  const long = Buffer.alloc(300_000, 'abc');
  writeFileSync(file('long'), long);
  writeFileSync(file('empty'), '');
  expect(readBounded(file('long')).equals(long)).toBe(true);
  expect(readBounded(file('empty'))).toHaveLength(0);
  expect(readBounded('/proc/self/status').toString()).toContain('Pid:');
});

test('a file of 60 GB is refused before it is read', () => {
  writeFileSync(file('sparse'), '');
  truncateSync(file('sparse'), 60 * 1024 ** 3);
  expect(() => readBounded(file('sparse'))).toThrow('it has more than 16 MiB');
  expect(() => readBounded(file('sparse'), 1024)).toThrow('it has more than 1 KiB');
});

test.each(['/dev/zero', '/dev/urandom'])('%s is read up to the bound', (device) => {
  expect(() => readBounded(device)).toThrow('it has more than 16 MiB');
});

test('a pipe without a writer is refused, and so is a socket', async () => {
  execFileSync('mkfifo', [file('pipe')]);
  expect(() => readBounded(file('pipe'))).toThrow('it is a pipe');
  // Only the beginning of a script is read.
  expect(tryReadHead(file('pipe')) ?? '').toHaveLength(0);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(file('socket'), resolve));
  expect(() => readBounded(file('socket'))).toThrow();
  await new Promise((resolve) => server.close(resolve));
});

test('an inherited descriptor may be a pipe', () => {
  const fd = openSync(file('long'), 'r');
  expect(readBounded(`/dev/fd/${fd}`)).toHaveLength(300_000);
  closeSync(fd);
});
