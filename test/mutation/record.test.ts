import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reasonToIgnore } from './messages-only.ts';
import { toPage } from './page.ts';
import { coreFiles, digestOf, readRecord } from './record.ts';

const root = join(import.meta.dirname, '../..');
const record = readRecord();

test('every file of the safety core is in the record of mutation tests', async ({ annotate }) => {
  expect(Object.keys(record).sort()).toEqual(coreFiles());
  const stale = Object.entries(record).flatMap(([file, each]) =>
    each !== null && each.digest !== digestOf(readFileSync(join(root, file), 'utf8')) ? [file] : [],
  );
  // A change only annotates the test; the file is mutated again later.
  if (stale.length > 0) await annotate(`changed since they were mutated: ${stale.join(', ')}`);
});

test('more than nine of ten mutants are found, and each of the others has its reason', () => {
  const tried = Object.values(record).flatMap((each) => (each === null ? [] : [each]));
  const killed = tried.reduce((sum, each) => sum + each.killed, 0);
  const survivors = tried.flatMap((each) => each.survivors);
  expect(killed / (killed + survivors.length)).toBeGreaterThan(0.9);
  expect(survivors.filter(({ why }) => why === '')).toEqual([]);
});

test('docs/internals/mutation.md equals the record', () => {
  expect(readFileSync(join(root, 'docs/internals/mutation.md'), 'utf8')).toBe(toPage(record));
});

const literal = { type: 'StringLiteral', value: 'no' };
const code = { type: 'StringLiteral', value: 'REPLY_MALFORMED' };
const failing = { type: 'NewExpression', callee: { name: 'RuntimeError' } };

test.each([
  [literal, failing, 'the words of a message'],
  [code, failing, undefined],
  [literal, { type: 'CallExpression', callee: { name: 'allow' } }, undefined],
  [literal, { type: 'ObjectProperty', key: { name: 'hint' } }, 'the words of a message'],
  [literal, { type: 'ObjectProperty', key: { name: 'verdict' } }, undefined],
  [failing, null, undefined],
])('the mutants of %o in %o are excluded: %s', (node, parent, reason) => {
  expect(reasonToIgnore({ node, parentPath: parent && { node: parent } })).toBe(reason);
});
