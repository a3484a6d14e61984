export interface Escape {
  readonly code: number;
  readonly end: number;
}

/** The escape that begins at `at`, as in JSON, programs or HTML; `cut` if the text ends within it. */
export function escapeAt(text: string, at: number): Escape | 'cut' | undefined {
  const code = text.charCodeAt(at);
  if (code === BACKSLASH) return backslashAt(text, at);
  return code === AMPERSAND ? entityAt(text, at) : undefined;
}

const BACKSLASH = 0x5c;
const AMPERSAND = 0x26;

/** Accepts repeated backslashes up to the limit, as in JSON within JSON. */
function backslashAt(text: string, start: number): Escape | 'cut' | undefined {
  let at = start;
  while (at - start < MAX_BACKSLASHES && text.charCodeAt(at) === BACKSLASH) at += 1;
  const letter = text[at];
  if (letter === undefined) return 'cut';
  const digits = letter === 'u' ? 4 : letter === 'x' ? 2 : 0;
  if (digits > 0) {
    const end = at + 1 + digits;
    const written = text.slice(at + 1, end);
    if (!/^[\da-f]*$/i.test(written)) return undefined;
    return written.length < digits ? 'cut' : { code: Number.parseInt(written, 16), end };
  }
  const code =
    controlLetters.get(letter) ?? (/[^\p{L}\p{N}]/u.test(letter) ? letter.charCodeAt(0) : undefined);
  return code === undefined ? undefined : { code, end: at + 1 };
}

const MAX_BACKSLASHES = 8;
const controlLetters = new Map([...'nrtbf'].map((letter, index) => [letter, '\n\r\t\b\f'.charCodeAt(index)]));

function entityAt(text: string, at: number): Escape | 'cut' | undefined {
  const written = text.slice(at, at + MAX_ENTITY_LENGTH);
  const match = /^&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/i.exec(written);
  if (match === null)
    return written.length < MAX_ENTITY_LENGTH && /^&#?\w*$/.test(written) ? 'cut' : undefined;
  const [whole, decimal, hexadecimal = '', name = ''] = match;
  const code =
    decimal === undefined
      ? (namedEntities.get(name.toLowerCase()) ?? Number.parseInt(hexadecimal, 16))
      : Number(decimal);
  return Number.isNaN(code) ? undefined : { code, end: at + whole.length };
}

const MAX_ENTITY_LENGTH = 11;
const namedEntities = new Map([
  ['amp', AMPERSAND],
  ['lt', 0x3c],
  ['gt', 0x3e],
  ['quot', 0x22],
  ['apos', 0x27],
]);
