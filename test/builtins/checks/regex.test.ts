import { execFile } from 'node:child_process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readPattern } from '../../../src/builtins/checks/regex/pattern.ts';
import {
  findPatternProblem,
  isQuick,
  matchPattern,
} from '../../../src/builtins/checks/regex/pattern-match.ts';
import { ask, scoreOf } from './asking.ts';

const { signal } = new AbortController();
const hostileText = `${'a'.repeat(40)}!`;
const hostile = { params: { pattern: '^(a+)+$' }, content: hostileText };
const tookLong = { status: 'unscored', reason: 'the pattern took longer than 1 s' };

test('endless patterns are unscored, while others are judged and the event loop runs', async () => {
  let turns = 0;
  let isOver = false;
  const turn = async () => {
    for (; !isOver; turns++) await nextTurn();
  };
  const turning = turn();
  const asked = [
    ask('regex', hostile),
    ask('regex', { params: { pattern: '(a|a)*$' }, content: hostileText }),
    ask('regex', { params: { pattern: '(b|!)' }, content: hostileText }),
    ask('regex', { params: { pattern: 'a!$' }, content: hostileText }),
    ask('contains', { params: { patterns: ['!'] }, content: hostileText }),
  ];
  const outcomes = await Promise.all(asked);
  isOver = true;
  await turning;
  expect(outcomes).toMatchObject([tookLong, tookLong, { score: 1 }, { score: 1 }, { score: 1 }]);
  expect(turns).toBeGreaterThan(1000);
});

test('an abort returns at once, and the next text is judged', async () => {
  const caller = new AbortController();
  const given = ask('regex', { ...hostile, signal: caller.signal });
  const next = scoreOf('regex', { params: { pattern: '(a)' }, content: 'a' });
  setImmediate(() => caller.abort());
  const order: string[] = [];
  const note = (word: string) => () => void order.push(word);
  await Promise.all([given.then(note('given up')), next.then(note('judged'))]);
  expect(order).toEqual(['given up', 'judged']);
  expect(await given).toMatchObject({ error: { code: 'ABORTED' } });
  expect(await next).toBe(1);
});

test('a program exits by itself after matching a pattern', async () => {
  const match = new URL('../../../src/builtins/checks/regex/pattern-match.ts', import.meta.url);
  const program = `
    import { matchPattern } from ${JSON.stringify(match.href)};
    const { signal } = new AbortController();
    const matches = await Promise.all(['(a)', '(b)'].map((pattern) => matchPattern(pattern, 'a', signal)));
    console.log(JSON.stringify(matches));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  expect(JSON.parse(stdout)).toEqual([{ matched: true }, { matched: false }]);
});

test.each([
  ['a plain word', 'order', 'an order', true],
  ['letters of another case', 'ORDER', 'an order', false],
  ['letters of another case, where that is wanted', '(?i)ORDER', 'an order', true],
  ['a dot and a line break', 'a.b', 'a\nb', false],
  ['a dot and a line break, where that is wanted', '(?s)a.b', 'a\nb', true],
  ['the start of a second line', '^b', 'a\nb', false],
  ['the start of a second line, where that is wanted', '(?m)^b', 'a\nb', true],
  ['several flags in one', '(?ims)^B.c$', 'a\nb\nc', true],
  ['several flags one after the other', '(?i)(?s)A.B', 'a\nb', true],
  ['a character outside of the first plane', '^.$', '🙂', true],
  ['a class of Unicode', '^\\p{Lu}$', 'Å', true],
  ['an escape that Unicode mode does not know', '^\\-\\"$', '-"', true],
  ['a lone brace', '{"a":', '{"a": 1}', true],
  ['the end, which is not before a line break', 'a$', 'a\n', false],
  ['nothing in nothing', '^$', '', true],
])('%s', async (_title, pattern, text, matched) => {
  expect(findPatternProblem(pattern)).toBeUndefined();
  expect(await matchPattern(pattern, text, signal)).toEqual({ matched });
});

test.each([
  ['(', 'Unterminated group'],
  ['a{2,1}', 'numbers out of order'],
  ['(?P<year>\\d+)', 'write a named group as (?<name>…), not (?P<name>…)'],
  ['\\Aabc\\z', 'JavaScript has no \\A; the beginning is ^'],
  ['abc\\z', 'JavaScript has no \\z; the end is $'],
  ['[[:alpha:]]+', 'write classes such as [:alpha:] as \\p{L}, \\d, \\s …'],
  ['\\p{Alpha', 'Invalid property name'],
  ['a++', 'Nothing to repeat'],
  ['(?x)a', 'Invalid group'],
])('the pattern %s is refused with the reason', (pattern, why) => {
  expect(findPatternProblem(pattern)).toContain(why);
});

test.each([
  ['no quantifier on a long text', 'a.c|[xy]z', 100_000, true],
  ['one quantifier on an answer', '\\d+ items', 1_000, true],
  ['one quantifier on a book', '\\d+ items', 10_000, false],
  ['three quantifiers on a line', 'a*a*a*', 100, false],
  ['three quantifiers on a word', 'a*a*a*', 10, true],
  ['a quantifier that is only a character', 'a\\+[*?]', 100_000, true],
  ['a group, on next to nothing', '(a+)+', 1, false],
  ['a bracket that is no group', '\\(a[(]', 100_000, true],
])('the speed of %s is known in advance', (_title, pattern, length, quick) => {
  expect(isQuick(readPattern(pattern), 'a'.repeat(length))).toBe(quick);
});
