import { escapeInvisible, escapeInvisibleLine } from '../../../src/base/text/escape-invisible.ts';
import { escapeAt } from '../../../src/base/text/escapes.ts';
import { findLastText, findText, splitText } from '../../../src/base/text/find.ts';
import { shorten } from '../../../src/base/text/phrases.ts';
import { cut, padEnd, padStart, textWidth } from '../../../src/base/text/width.ts';
import { holds, isSame, type Target } from '../target.ts';

/** Characters with an effect in a terminal, except line breaks and tabs. */
const active =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0001}-\u{e007f}]/u;

/** Widths, cuts and escapes of shown text. Searches the rest for the text before the first NUL. */
export const text: Target = {
  seeds: [
    'plain\0 plain text with plain words',
    'a\u001b]8;;http://x\u0007link\u001b]8;;\u0007 \u202etxt\u202c \u200b\u009b31m',
    '漢字 é e\u0301 👨‍👩‍👧 🏳️‍🌈 ﷽ न्\u200dष \ud800 \udc00 \u0600١',
    'aa\0aaabaaab &amp; &#x41; \\u0041 \\\\n',
  ],
  tokens: [
    ...[
      '\u001b[2J',
      '\u001b]52;c;aGk=\u0007',
      '\u001b]0;t\u001b\\',
      '\u009b',
      '\u202e',
      '\u2066',
      '\u200d',
      '\u200b',
    ],
    ...[
      '\u00ad',
      '\ufe0f',
      '\u{e0061}',
      '\u{e0100}',
      '\ufeff',
      '\u0301',
      '漢',
      '😀',
      '🇩🇪',
      '\r',
      '\n',
      '\t',
      '\u2028',
    ],
    ...['&amp;', '&#65;', '\\u0041', '\\x41', '\\', 'aaaa', '\0'],
  ],
  maxLength: 600,
  run: (input) => {
    const escaped = escapeInvisible(input);
    holds(!active.test(escaped), 'an active character is left', escaped);
    holds(escapeInvisible(escaped) === escaped, 'escaped twice');
    holds(!/[\n\t]|^\s|\s$/.test(escapeInvisibleLine(input)), 'no line');
    checkWidths(escaped.replaceAll(/[\n\t]/g, ' '));
    const [wanted = '', ...rest] = input.split('\0');
    checkSearch(rest.join('\0').repeat(3), wanted);
    for (let at = 0; at < input.length; at += 1) {
      const found = escapeAt(input, at);
      if (found !== undefined && found !== 'cut') {
        holds(found.end > at && found.end <= input.length, 'where an escape ends');
      }
    }
  },
};

function checkWidths(line: string): void {
  const width = textWidth(line);
  for (const columns of [0, 1, 2, 7, 20, width]) {
    const short = cut(line, columns);
    holds(textWidth(short) <= columns, 'a cut is too wide', columns, short);
    holds(short === line || columns < 1 || short.endsWith('…'), 'a cut says that it is one');
    holds(width > columns || short === line, 'a cut without need', columns, short);
    holds(textWidth(padEnd(line, columns)) >= Math.min(columns, width), 'too narrow');
    holds(padStart(line, columns).endsWith(line), 'filled up');
  }
  holds(shorten(line, 30).length <= Math.max(30, 31), 'shortened');
}

function checkSearch(all: string, wanted: string): void {
  holds(findText(all, wanted, 1) === all.indexOf(wanted, 1), 'found');
  holds(findLastText(all, wanted) === all.lastIndexOf(wanted), 'found last');
  if (wanted !== '') isSame(splitText(all, wanted), all.split(wanted), 'split');
}
