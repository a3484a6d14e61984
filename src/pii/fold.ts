/** A text as the finders read it, and the way back. */
export interface Folded {
  readonly text: string;
  /** The place in the original of a place in the folded text. */
  toOriginal(at: number): number;
}

/**
 * Makes digits, spaces and hyphens of every script plain and drops what is invisible, so that a number written
 * in full-width digits or torn apart by zero-width characters reads as the number that a person sees.
 */
export function fold(text: string): Folded {
  if (!peculiar.test(text)) return { text, toOriginal: (at) => at };
  const places: number[] = [];
  let folded = '';
  for (let at = 0; at < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    const plain = foldCharacter(character);
    for (let unit = 0; unit < plain.length; unit++) {
      places.push(at + Math.min(unit, character.length - 1));
    }
    folded += plain;
    at += character.length;
  }
  places.push(text.length);
  return { text: folded, toOriginal: (at) => places[at] ?? text.length };
}

/** Whether folding would change anything; most texts are left as they are. */
const peculiar = /(?![\0-\x7f])[\p{DI}\p{Zs}\p{Pd}\p{Nd}\u2212\u2043\uff01-\uff5e]/u;

function foldCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return character;
  if (/^\p{DI}$/u.test(character)) return '';
  if (/^\p{Zs}$/u.test(character)) return ' ';
  if (/^[\p{Pd}\u2212\u2043]$/u.test(character)) return '-';
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
  return /^\p{Nd}$/u.test(character) ? String(digitOf(code)) : character;
}

/** Decimal digits stand in rows of ten that begin with their zero. */
function digitOf(code: number): number {
  let zero = code;
  while (code - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  // The mathematical digits are five rows without a gap; their first zero is U+1D7CE.
  if (code >= 0x1d7ce && code <= 0x1d7ff) return (code - 0x1d7ce) % 10;
  return code - zero;
}
