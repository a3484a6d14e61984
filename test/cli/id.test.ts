import fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeId, shortIds } from '../../src/cli/id.ts';

const known = [
  'pending_aaaa111122223333',
  'pending_aaaa444455556666',
  'pending_bbbb000000000000',
  'pending_bbbb',
];

const meant = [
  { title: 'a whole id', given: 'pending_aaaa111122223333', id: 'pending_aaaa111122223333' },
  { title: 'a beginning', given: 'pending_aaaa1', id: 'pending_aaaa111122223333' },
  { title: 'a beginning without the word', given: 'aaaa4', id: 'pending_aaaa444455556666' },
  { title: 'a whole id that begins another', given: 'pending_bbbb', id: 'pending_bbbb' },
  { title: 'what nothing begins with, as it is', given: 'cccc', id: 'cccc' },
  { title: 'too little to be meant, as it is', given: 'pending_aaa', id: 'pending_aaa' },
  { title: 'an id of another kind, as it is', given: 'run_aaaa111122223333', id: 'run_aaaa111122223333' },
  { title: 'nothing at all, as it is', given: '', id: '' },
];

test.each(meant)('$title', async ({ given, id }) => {
  expect(await completeId(given, 'pending', async () => known)).toBe(id);
});

test('a prefix of several ids is refused, and they are named', async () => {
  const completed = completeId('aaaa', 'pending', async () => known);
  await expect(completed).rejects.toMatchObject({
    code: 'USAGE',
    message: 'several ids begin with "aaaa": pending_aaaa111122223333, pending_aaaa444455556666',
  });
});

test('a full id is not searched for', async () => {
  const list = () => Promise.reject(new Error('nobody should ask'));
  expect(await completeId('pending_0123456789abcdef', 'pending', list)).toBe('pending_0123456789abcdef');
});

test('a list shows the shortest unique prefix of each id, and its commands accept it', async () => {
  const hex = fc.stringMatching(/^[0-9a-f]{16}$/);
  const like = fc.tuple(hex, hex).map(([one, other]) => `${one.slice(0, 12)}${other.slice(0, 4)}`);
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.oneof(hex, like), { maxLength: 20 }), async (digits) => {
      const ids = digits.map((each) => `run_${each}`);
      const short = shortIds(ids);
      expect(new Set(ids.map(short)).size).toBe(ids.length);
      for (const id of ids) {
        expect(short(id).length).toBeGreaterThanOrEqual('run_'.length + 8);
        expect(await completeId(short(id), 'run', async () => ids)).toBe(id);
      }
    }),
  );
});

test('an id that a person chose is shown whole', () => {
  expect(['nightly-2026', 'a'].map(shortIds(['nightly-2026', 'a']))).toEqual(['nightly-2026', 'a']);
});
