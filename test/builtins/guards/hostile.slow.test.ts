import { expect, test } from 'vitest';
import type { GuardRules } from '../../../src/builtins/guards/guard.ts';
import { injectionRules, linkRules, secretRules } from './support.ts';

// A linear pattern takes seconds for such a text; a quadratic one would take weeks.
const timeout = 240_000;
const size = Number(process.env['GUARDS_MEGABYTES'] ?? 4) * 1024 * 1024;

const pieces = [
  'a',
  ' ',
  '\n',
  '[',
  ']',
  '](',
  '[](',
  '[](a',
  '![](',
  '[a](b "',
  '<',
  '[a](<',
  '(',
  ')',
  '\\',
  '[a]: ',
  '[a]: b\n',
  'src="',
  "href='",
  'url(',
  'src=',
  'http://',
  'http://a',
  'https://a.b/?c=',
  'data:',
  '://a:',
  '&#',
  '%41',
  '\u200b',
  'sk-',
  'key-',
  'eyJa.',
  'aB3',
  'aB3/',
  'ghp_',
  'password=',
  '-----BEGIN PRIVATE KEY-----',
  'AAAA=',
  'xn--',
  '{{',
  '@a.',
  'ignore ',
  'ignore all previous ',
  'i.g.n.o.r.e ',
  'aWdub3Jl',
  '忽略',
  'é',
  '<|im_start|>',
  '{"a":"',
  '1gn0r3 ',
];

const guards: readonly (readonly [string, GuardRules])[] = [
  ['secrets', secretRules()],
  ['links', linkRules()],
  ['injection', injectionRules()],
];
const cases = guards.flatMap(([name, rules]) => pieces.map((piece) => ({ name, rules, piece })));

test.each(cases)(
  'signalbox-$name reads megabytes of $piece [DS-GUARDS-10]',
  { timeout },
  ({ rules, piece }) => {
    const text = piece.repeat(Math.ceil(size / piece.length));
    const place = { origin: 'tool', prefix: '', conversation: () => ['What is it?'] } as const;
    const { findings } = rules.find(text, place);
    expect(findings.every(({ start, end }) => start < end && end <= text.length)).toBe(true);
  },
);
