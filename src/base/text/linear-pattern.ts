import { createRequire } from 'node:module';

export interface LinearPattern {
  /** The maximum number of simultaneous states, which bounds the steps per character. */
  readonly size: number;
  test(text: string): boolean;
}

export interface LinearSearch extends LinearPattern {
  /** Matches without overlaps, in UTF-16 units. */
  matches(text: string): Iterable<{ readonly start: number; readonly end: number }>;
}

/** Compiles an RE2 pattern, as CEL uses them. Throws Error if it is invalid. */
export function compileLinear(pattern: string): LinearSearch {
  const compiled = loadEngine().RE2JS.compile(pattern);
  return {
    size: compiled.programSize(),
    test: (text) => compiled.matcher(text).find(),
    *matches(text) {
      const matcher = compiled.matcher(text);
      while (matcher.find()) yield { start: matcher.start(), end: matcher.end() };
    },
  };
}

/**
 * Compiles a JavaScript pattern without flags, or with `u` or `s`. Returns undefined if it cannot be translated
 * exactly, for example because of lookaround.
 */
export function compileLinearFromJs(source: string, flags: string): LinearSearch | undefined {
  if (/[^us]/.test(flags) || (!flags.includes('u') && needsUnicode.test(source))) return undefined;
  const translated = translate(source, flags.includes('s'));
  if (translated === undefined) return undefined;
  try {
    return compileLinear(translated);
  } catch {
    return undefined;
  }
}

const needsUnicode = /\\[pPu]\{|[\ud800-\udfff]/;

let engine: typeof import('re2js') | undefined;

/** Loading the engine takes as long as starting a process, and few patterns need it. */
export function loadEngine(): typeof import('re2js') {
  const loaded: typeof import('re2js') = engine ?? createRequire(import.meta.url)('re2js');
  engine = loaded;
  return loaded;
}

function translate(source: string, isDotAll: boolean): string | undefined {
  let isClass = false;
  let translated = '';
  for (const [token] of source.matchAll(tokens)) {
    const next: string | undefined = isClass ? translateInClass(token) : translateOutside(token, isDotAll);
    if (next === undefined) return undefined;
    if (isClass ? token === ']' : token.startsWith('[')) isClass = !isClass;
    translated += next;
  }
  return isClass ? undefined : translated;
}

const tokens =
  /\\(?:u\{[\dA-Fa-f]+\}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|[pP]\{[^}]*\}|.)|\(\?(?:<?[=!]|<|.)?|\[\^?\]?|\{\d+(?:,\d*)?\}|./gsu;

function translateOutside(token: string, isDotAll: boolean): string | undefined {
  if (token.startsWith('\\')) return translateEscape(token) ?? whiteSpace(token, '[', '[^');
  if (token.startsWith('[')) return token.endsWith(']') ? undefined : token;
  if (token.startsWith('(?')) return token === '(?:' ? token : undefined;
  if (token === '.') return isDotAll ? '[\\x{0}-\\x{10FFFF}]' : '[^\\n\\r\\x{2028}\\x{2029}]';
  return token === '{' || token === '}' || token === ']' ? undefined : token;
}

function translateInClass(token: string): string | undefined {
  if (token === '\\b') return '\\x{8}';
  if (token.startsWith('\\')) return translateEscape(token) ?? (token === '\\s' ? spaces : undefined);
  // Such a token means several characters inside a class.
  if (/^[[{(]./s.test(token)) return undefined;
  return token === '[' || token === '&' || token === '~' ? `\\${token}` : token;
}

function whiteSpace(token: string, open: string, openNot: string): string | undefined {
  if (token === '\\s') return `${open}${spaces}]`;
  return token === '\\S' ? `${openNot}${spaces}]` : undefined;
}

/** JavaScript's `\s`; that of RE2 is ASCII only. */
const spaces =
  '\\t\\n\\x{b}\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';

function translateEscape(token: string): string | undefined {
  const code = /^\\(?:u\{|u|x)([\dA-Fa-f]+)/.exec(token)?.[1];
  if (code !== undefined) return isSurrogate(Number.parseInt(code, 16)) ? undefined : `\\x{${code}}`;
  if (/^\\[dDwWbtnrf]$/.test(token) || /^\\[pP]\{[A-Z][a-z]?\}$/.test(token)) return token;
  if (token === '\\v') return '\\x{b}';
  return /^\\[!-/:-@[-`{-~]$/.test(token) ? token : undefined;
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}
