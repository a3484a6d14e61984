import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeInvisible, escapeInvisibleLine } from '../../../src/base/text/escape-invisible.ts';

const words = [
  { title: 'an escape sequence', text: '\u001b[2Kgone', shown: '\\u001b[2Kgone' },
  { title: 'an escape sequence of one character', text: '\u009b2K', shown: '\\u009b2K' },
  { title: 'a carriage return', text: 'safe\rrm', shown: 'safe\\u000drm' },
  { title: 'letters turned round', text: 'a\u202eb', shown: 'a\\u202eb' },
  { title: 'a line separator', text: 'a\u2028b', shown: 'a\\u2028b' },
  { title: 'letters nobody sees', text: 'a\u200bb\u{e0041}', shown: 'a\\u200bb\\u{e0041}' },
  { title: 'lines and tabs', text: 'a\n\tb', shown: 'a\n\tb' },
  { title: 'a joiner that joins nothing', text: 'a\u200db\u200c', shown: 'a\\u200db\\u200c' },
  { title: 'letters that are blank', text: 'a\u3164\u034f', shown: 'a\\u3164\\u034f' },
  { title: 'a variant of a letter that has none', text: 'a\ufe01', shown: 'a\\ufe01' },
  {
    title: 'letters and emoji that are joined',
    text: 'Ü👩🏽\u200d💻❤\ufe0f\u200d🔥',
    shown: 'Ü👩🏽\u200d💻❤\ufe0f\u200d🔥',
  },
  { title: 'a keycap', text: '1\ufe0f\u20e3', shown: '1\ufe0f\u20e3' },
  {
    title: 'Persian, Hebrew and Hindi',
    text: 'می\u200cخواهم שלום क्\u200dष',
    shown: 'می\u200cخواهم שלום क्\u200dष',
  },
  { title: 'a Chinese variant and an accent', text: '葛\u{e0100}e\u0301', shown: '葛\u{e0100}e\u0301' },
];

test.each(words)('$title', ({ text, shown }) => {
  expect(escapeInvisible(text)).toBe(shown);
});

test('no terminal control character is left', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ max: 0x10ffff, min: 0 }).map((code) => String.fromCodePoint(code))),
      (characters) => {
        expect(escapeInvisibleLine(characters.join(''))).not.toMatch(
          /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u,
        );
      },
    ),
  );
});
