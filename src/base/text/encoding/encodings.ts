import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);
let iconvLoaded: typeof import('iconv-lite') | undefined;
let chardetLoaded: typeof import('chardet') | undefined;

/** Reads and writes encodings that Node does not have. Loaded when the first text is met that is not UTF-8. */
export function iconv(): typeof import('iconv-lite') {
  const loaded: typeof import('iconv-lite') = iconvLoaded ?? load('iconv-lite');
  iconvLoaded = loaded;
  return loaded;
}

/** Guesses encodings; loaded likewise. */
export function chardet(): typeof import('chardet') {
  const loaded: typeof import('chardet') = chardetLoaded ?? load('chardet');
  chardetLoaded = loaded;
  return loaded;
}
