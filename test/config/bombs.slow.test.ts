import { expect, test } from 'vitest';
import { configText, native, told } from './told.ts';

const times = 20_000;
const list = (count: number, text: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at)).join('\n');
const tens = (name: string) => Array.from({ length: 10 }, () => name).join(', ');

/** Ten levels, each ten times the one below: 10^10 values. */
const laughs = `a0: &a0 [${tens('x')}]\n${list(10, (at) => `a${at + 1}: &a${at + 1} [${tens(`*a${at}`)}]`)}\n`;
const merged = `m0: &m0 {k: 1}\n${list(30, (at) => `m${at + 1}: &m${at + 1} {<<: [*m${at}, *m${at}]}`)}\n`;
const tools = (count: number, key: (at: number) => string) =>
  `\ntools:\n${list(count, (at) => `  ${key(at)}: {exec: {command: cat}}`)}`;

test.each([
  ['aliases that multiply', laughs],
  ['aliases that multiply within a spec', configText(native, `\nx:\n${laughs.replaceAll(/^/gm, '  ')}`)],
  ['merges that multiply', merged],
  ['an alias of what it stands in', 'spec: &s {hooks: *s}\n'],
  ['an alias as a key', 'a: &a [x]\n*a : 1\n'],
  ['an anchor in a key', '? &a [x]\n: *a\n'],
  ['an alias of nothing', 'a: *b\n'],
  ['lists 20,000 deep', '['.repeat(times) + ']'.repeat(times)],
  ['mappings 20,000 deep', '{a: '.repeat(times) + '}'.repeat(times)],
  ['items 20,000 deep', `${'- '.repeat(times)}x`],
  ['keys 20,000 deep', `${'? '.repeat(times)}x`],
  ['blocks 3,000 deep', list(3_000, (at) => `${' '.repeat(at)}a:`)],
  ['a NUL', 'a: "\0"\nb: \0'],
  ['nothing but tabs', `spec:\n${'\t\ta: 1\n'.repeat(1_000)}`],
  ['UTF-16', Buffer.from('kind: RuntimeConfig\n', 'utf16le')],
  ['Latin-1', Buffer.from('kind: Éléphant\n', 'latin1')],
  ['20,000 errors', 'a: b: c\n'.repeat(times)],
  ['20,000 documents', '--- a\n'.repeat(times)],
  ['20,000 anchors', '&a '.repeat(times)],
  ['20,000 quotes', "'".repeat(times)],
  ['20,000 unknown keys', configText(native, `\n${list(times, (at) => `u${at}: 1`)}`)],
  [
    '10^4 times the same key',
    configText(
      native,
      tools(10_000, () => 't'),
    ),
  ],
  [
    'an expression of 20,000 brackets',
    configText(
      native,
      `\ntools:\n  t:\n    approval: {when: "\${${'('.repeat(times)}}"}\n    exec: {command: cat}`,
    ),
  ],
  [
    'an expression with 10^4 backslashes in an open quote',
    configText(
      native,
      `\ntools:\n  t:\n    approval: {when: '\${"""${'\\\\'.repeat(5_000)}'}\n    exec: {command: cat}`,
    ),
  ],
])('%s: errors that name a place, and no config', (_title, text) => {
  const { config, problems } = told(text);
  expect(config).toBeUndefined();
  expect(problems.some((problem) => /^error \d+:\d+ ./.test(problem))).toBe(true);
  expect(Math.max(...problems.map((problem) => problem.length))).toBeLessThan(2_000);
});

test('10^4 tools are a config', () => {
  const { config, problems } = told(
    configText(
      native,
      tools(10_000, (at) => `t${at}`),
    ),
  );
  expect(problems.filter((problem) => problem.startsWith('error'))).toEqual([]);
  expect(config?.tools.length ?? 0).toBe(10_000);
});

test('keys that are special in JavaScript objects are ordinary keys', () => {
  const spec =
    '\ntools:\n  __proto__: {exec: {command: cat}}\n  constructor: {exec: {command: cat}, polluted: 1}\n__proto__: {polluted: 1}';
  const { problems } = told(configText(native, spec));
  expect(problems.filter((problem) => problem.startsWith('error'))).not.toEqual([]);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
});
