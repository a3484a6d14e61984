import { fold } from '../../pii/fold.ts';

/** A text as the rules read it. */
export interface PlainText {
  /** Small letters without accents, escapes decoded, nothing invisible; punctuation is left in. */
  readonly text: string;
  /** The same as words with one space between, lookalike letters and digits put right. */
  readonly words: string;
  /** How many letters were hidden in characters that nobody sees. */
  readonly hidden: number;
}

/** Makes a text plain; in linear time. */
export function toPlain(given: string): PlainText {
  let hidden = 0;
  // Tag characters (U+E0020 to U+E007E) spell ASCII that no font shows.
  const shown = given.replaceAll(/[\u{e0020}-\u{e007e}]/gu, (tag) => {
    hidden += 1;
    return String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000);
  });
  const text = simplify(fold(shown).text);
  const tokens = (text.match(token) ?? []).map(repair);
  return { text, words: joinSpelled(tokens).join(' '), hidden };
}

/** Small letters without accents; Korean syllables stay whole. */
function simplify(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase();
}

// Of a bounded length: a repeat of what may be a pair of surrogates fills the engine's stack where no blank ends it for megabytes.
const token = /[\p{L}\p{N}\p{M}@$]{1,500}/gu;

/** Lookalikes of other scripts among Latin letters, and digits that stand for letters. */
function repair(word: string): string {
  if (/^[a-z]*$/.test(word)) return word;
  const isMixed = /[a-z]/.test(word) && /[\u0370-\u04ff\u0500-\u052f]/.test(word);
  const latin = isMixed ? [...word].map((letter) => lookalikes.get(letter) ?? letter).join('') : word;
  const isSpelled = latin.length >= 3 && /[a-z]/.test(latin) && /[013457@$]/.test(latin);
  return isSpelled && !/\d{3}/.test(latin)
    ? latin.replaceAll(/[013457@$]/g, (sign) => digits.get(sign) ?? sign)
    : latin;
}

const digits = new Map([...'013457@$'].map((sign, at) => [sign, 'oieastas'[at]]));
const lookalikes = new Map(
  [...'аеорсухіјѕһԁԛԝвнкмтзαερονικτυχωбпгл'].map((letter, at) => [
    letter,
    'aeopcyxijshdqwbhkmt3aepovikтuxw6nrn'[at] ?? letter,
  ]),
);

/** `i g n o r e` as one word; where more than one space parts words cannot be seen any more. */
function joinSpelled(tokens: readonly string[]): string[] {
  const joined: string[] = [];
  let run: string[] = [];
  const flush = () => {
    if (run.length >= 5) joined.push(run.join(''));
    else joined.push(...run);
    run = [];
  };
  for (const word of tokens) {
    if (word.length === 1 && /\p{L}/u.test(word)) run.push(word);
    else {
      flush();
      joined.push(word);
    }
  }
  flush();
  return joined;
}
