/** A character that is written as an escape, and where the escape ends. */
export interface DecodedEscape {
  readonly character: string;
  readonly end: number;
}

/**
 * Decodes the HTML or program escape at a position; a terminal sequence gives U+200B. Undefined without any.
 */
export function decodeEscapeAt(text: string, at: number): DecodedEscape | undefined {
  switch (text.charCodeAt(at)) {
    case 0x26:
      return match(htmlEscape, text, at);
    case 0x5c:
      return match(programEscape, text, at);
    case 0x1b: {
      terminalSequence.lastIndex = at;
      const found = terminalSequence.exec(text);
      return found === null ? undefined : { character: '\u200b', end: at + found[0].length };
    }
    default:
      return undefined;
  }
}

/** Also encoded twice. */
const htmlEscape = /&(?:amp;)*(?:#(?<decimal>\d{1,7})|#x(?<hexadecimal>[\da-f]{1,6})|(?<name>[a-z]{2,8}));/iy;
const programEscape =
  /\\{1,4}(?:u(?<hexadecimal>[\da-f]{4})|u\{(?<long>[\da-f]{1,6})\}|x(?<short>[\da-f]{2}))/iy;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the character that begins a terminal sequence.
const terminalSequence = /\x1b\[[\d;?]{0,20}[A-Za-z]/y;

function match(pattern: RegExp, text: string, at: number): DecodedEscape | undefined {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  const { decimal, hexadecimal, long, short, name } = found?.groups ?? {};
  if (found === null) return undefined;
  const code =
    name === undefined
      ? numberOf(decimal, hexadecimal ?? long ?? short)
      : namedCharacters.get(name.toLowerCase());
  const isCharacter = code !== undefined && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? { character: String.fromCodePoint(code), end: at + found[0].length } : undefined;
}

function numberOf(decimal: string | undefined, hexadecimal = ''): number {
  return decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
}

/**
 * The named characters that may occur in personal data
 * (https://html.spec.whatwg.org/multipage/named-characters.html).
 */
const namedCharacters = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    ensp: ' ',
    emsp: ' ',
    thinsp: ' ',
    commat: '@',
    period: '.',
    dot: '.',
    comma: ',',
    colon: ':',
    semi: ';',
    sol: '/',
    bsol: '\\',
    hyphen: '-',
    dash: '-',
    ndash: '-',
    mdash: '-',
    minus: '-',
    plus: '+',
    lowbar: '_',
    equals: '=',
    num: '#',
    percnt: '%',
    lpar: '(',
    rpar: ')',
    tab: '\t',
    newline: '\n',
    shy: '\u00ad',
    zwj: '\u200d',
    zwnj: '\u200c',
  }).map(([name, character]) => [name, character.codePointAt(0)]),
);
