import { expect, test } from 'vitest';
import { escapeCommands, escapeShownLine } from '../../../src/base/text/escape-commands.ts';

test.each([
  ['::set-output name=a::b', String.raw`\u003a:set-output name=a::b`],
  [
    'a\n  ::error::x\n::stop-commands::y',
    String.raw`a${'\n'}  \u003a:error::x${'\n'}\u003a:stop-commands::y`,
  ],
  ['a ##[add-mask]b', String.raw`a #\u0023[add-mask]b`],
  ['::1 is an address', '::1 is an address'],
  ['a::b::c is a name, and ## a heading', 'a::b::c is a name, and ## a heading'],
])('%j', (text, shown) => {
  expect(escapeCommands(text)).toBe(shown);
});

test('no line of the result is a command to the runner', () => {
  const lines = escapeCommands('::a::\n ::b::c::\r\n\t::d::').split(/\r?\n/);
  expect(lines.filter((line) => line.trimStart().startsWith('::'))).toEqual([]);
});

test('a cell begins no command, whatever follows it on its line', () => {
  expect(escapeShownLine('::error\n x')).toBe(String.raw`\u003a:error x`);
  expect(escapeShownLine(':')).toBe(String.raw`\u003a`);
  expect(escapeShownLine('a ##[group]')).toBe(String.raw`a #\u0023[group]`);
});
