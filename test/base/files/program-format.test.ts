import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isUnknownFormat } from '../../../src/base/files/program-format.ts';

const file = join(mkdtempSync(join(tmpdir(), 'format-')), 'program');
const own = process.platform === 'linux' ? readFileSync('/bin/true') : Buffer.alloc(0);
const folder = '/proc/sys/fs/binfmt_misc';
const hasOthers =
  existsSync(folder) && readdirSync(folder).some((name) => !['register', 'status'].includes(name));
// Other registered formats make the result unpredictable.
const here = test.skipIf(own.length === 0 || hasOthers || !['x64', 'arm64'].includes(process.arch));

const machine = (number: number) =>
  Buffer.concat([own.subarray(0, 18), Buffer.from([number, 0]), own.subarray(20)]);

here.each([
  ['a program of this machine', own, false],
  ['a script', '#!/bin/sh\n', false],
  ['a program of another machine', machine(243), true],
  ['a program that was cut off within its header', own.subarray(0, 40), true],
  ['a program that was cut off behind its header', own.subarray(0, 100), true],
  ['text', 'echo ok\n', true],
  ['an empty file', '', true],
  ['other bytes', Buffer.from([0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 1]), true],
])('%s is of a format that Linux runs, or is not', (_title, content, isUnknown) => {
  writeFileSync(file, content, { mode: 0o755 });
  expect(isUnknownFormat(file)).toBe(isUnknown);
});

test('an unreadable file has no known format', () => {
  expect(isUnknownFormat(join(tmpdir(), 'is-not-there'))).toBe(false);
});
