import { unspacedScripts } from '../../base/text/words.ts';

interface Folded {
  readonly text: string;
  toOriginal(at: number): number;
}

/**
 * Normalizes digits, spaces and hyphens of every script, decodes escapes (`&#64;`, `\u0040`) and removes invisible
 * characters. A number that is disguised this way reads as a person sees it.
 */
export function fold(text: string): Folded {
  if (!mayNeedFolding.test(text)) return { text, toOriginal: (at) => at };
  const positions: number[] = [];
  const pieces: string[] = [];
  const put = (plain: string, at: number, length: number) => {
    for (let unit = 0; unit < plain.length; unit++) positions.push(at + Math.min(unit, length - 1));
    pieces.push(plain);
  };
  for (let at = 0; at < text.length; ) {
    const decoded = decodeEscapeAt(text, at);
    if (decoded !== undefined) {
      // Positions inside an escape map to its beginning, so that a finding covers the whole escape.
      put(foldCharacter(decoded.character), at, 1);
      at = decoded.end;
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    put(foldCharacter(character), at, character.length);
    at += character.length;
  }
  positions.push(text.length);
  return { text: pieces.join(''), toOriginal: (at) => positions[at] ?? text.length };
}

export interface SeparatedText extends Folded {
  readonly joints: readonly number[];
}

/**
 * Adds a space where a script without spaces meets Latin letters or digits, so that finders see where values begin and
 * end. Chinese, Japanese, Korean, Thai and similar scripts need it.
 */
export function separateScripts({ text, toOriginal }: Folded): SeparatedText {
  const changes = /[\u0e00-\uffff]/.test(text)
    ? Array.from(text.matchAll(scriptChange), ({ 0: last, index }) => index + last.length)
    : [];
  if (changes.length === 0) return { text, joints: [], toOriginal };
  const pieces = [0, ...changes].map((from, index) => text.slice(from, changes[index]));
  const joints = changes.map((at, index) => at + index);
  return {
    text: pieces.join(' '),
    joints,
    toOriginal: (at) => toOriginal(at - countBelow(joints, at)),
  };
}

const unspaced = `[[\\p{L}\\p{M}]&&[${unspacedScripts}\\p{sc=Hang}]]`;
const scriptChange = new RegExp(
  `${unspaced}(?=[A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff\\d+\\(])|[A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff\\d](?=${unspaced})`,
  'gv',
);

function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Replaces controls with spaces, since a control may separate words or split one. */
export function separateControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n\r]/gu, ' ');
}

const mayNeedFolding =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for.
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|&(?:#|[a-z]{2,8};)|\\[ux]|(?![\0-\x7f])[\p{DI}\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Pd}\p{Nd}\u0901\u093c\u0958-\u095f\u2212\u2043\uff01-\uff5e]/iu;

function foldCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x2028 || code === 0x2029) return '\n';
  if (code < 0x80) return /[^\P{Cc}\t\n\r]/u.test(character) ? '' : character;
  if (/^[\p{DI}\p{Cc}\p{Cf}]$/u.test(character)) return '';
  if (/^\p{Zs}$/u.test(character)) return ' ';
  if (/^[\p{Pd}\u2212\u2043]$/u.test(character)) return '-';
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
  if (code >= 0x901 && code <= 0x95f) return devanagari(character);
  return /^\p{Nd}$/u.test(character) ? String(digitOf(code)) : character;
}

/** Removes the nukta and reads candrabindu as anusvara, since writers use both spellings: फ़ोन, फोन; पाँच, पांच. */
function devanagari(character: string): string {
  return character
    .normalize('NFD')
    .replace(/\u093c/g, '')
    .replace('\u0901', '\u0902');
}

/** Unicode's decimal digits are in rows of ten that begin with zero. */
function digitOf(code: number): number {
  let zero = code;
  while (code - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  // The mathematical digits are five rows without a gap; their first zero is U+1D7CE.
  if (code >= 0x1d7ce && code <= 0x1d7ff) return (code - 0x1d7ce) % 10;
  return code - zero;
}

interface DecodedEscape {
  readonly character: string;
  readonly end: number;
}

/** Decodes an HTML or program escape; a terminal sequence becomes U+200B. Undefined without one. */
function decodeEscapeAt(text: string, at: number): DecodedEscape | undefined {
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
 * The named characters that may occur in personal data (https://html.spec.whatwg.org/multipage/named-characters.html).
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
