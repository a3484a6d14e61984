import { entropyOf } from '../../pii/finders/typed.ts';

/** A run of characters that keys are made of; longer ones are files, not keys. */
const run = /[A-Za-z0-9+/_=-]{20,}/g;
const LONGEST = 256;

/** Stretches that look like keys though nothing names them: letters of both cases and digits, in no order. */
export function* findRandom(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (const { 0: written, index } of text.matchAll(run)) {
    const end = index + written.length;
    if (written.length > LONGEST || isPartOfAddress(text, index)) continue;
    // A path or a list: its pieces may be keys, the whole is none.
    let at = index;
    for (const piece of written.split(/(?<==)(?!=)|[/=](?=[A-Za-z0-9_-]{20})/)) {
      const start = text.indexOf(piece, at);
      if (isRandom(piece)) yield { start, end: Math.min(end, start + piece.length) };
      at = start + piece.length;
    }
  }
}

/** Words of a program change case at their beginnings only; what is random changes its kind of character all the time. */
function isRandom(written: string): boolean {
  const value = written.replace(/=+$/, '');
  if (value.length < 24 || value.length > 128) return false;
  if (!/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false;
  const digits = value.match(/\d/g)?.length ?? 0;
  if (digits / value.length > 0.5) return false;
  // Names in programs are made of words, keys are not.
  const inWords = (value.match(/[a-z]{3,}/g) ?? []).join('').length;
  if (digits < 3 || inWords > value.length * 0.4) return false;
  // Separators cut words, and a checksum behind its algorithm's name is public.
  if ((value.match(/[-_/+]/g)?.length ?? 0) > value.length / 10) return false;
  if (/^sha\d|^md5/i.test(value)) return false;
  return changesOfKind(value) / value.length >= 0.4 && entropyOf(value) >= 3.9;
}

function changesOfKind(value: string): number {
  const kinds = [...value].map((character) =>
    /[a-z]/.test(character) ? 0 : /[A-Z]/.test(character) ? 1 : /\d/.test(character) ? 2 : 3,
  );
  return kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length;
}

/** `data:…;base64,`, `sha512-`, and the identifiers that stand in addresses of the web. */
function isPartOfAddress(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 80), at);
  return /;base64,$|sha\d{3}-$|:\/\/[^\s"'<>]*$/i.test(before);
}
