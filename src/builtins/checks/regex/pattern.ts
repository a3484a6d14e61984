export interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/**
 * Reads a JavaScript pattern; a leading `(?i)`, `(?s)` or `(?m)` becomes a flag. Throws SyntaxError for an invalid
 * pattern, and for syntax of other engines that JavaScript would read as plain letters.
 */
export function readPattern(text: string): Pattern {
  const lead = /^(?:\(\?[ims]+\))+/.exec(text)?.[0] ?? '';
  const flags = [...new Set(lead.replaceAll(/[^ims]/g, ''))].join('');
  const source = text.slice(lead.length);
  const unsupported = findUnsupportedSyntax(source);
  if (unsupported !== undefined) throw new SyntaxError(unsupported);
  const failure = compileError(source, `${flags}u`);
  if (failure === undefined) return { source, flags: `${flags}u` };
  // Without Unicode mode `\-` and a lone `{` are literal, but `\p{L}` is the letter p.
  if (needsUnicode(source)) throw new SyntaxError(failure);
  const second = compileError(source, flags);
  if (second !== undefined) throw new SyntaxError(second);
  return { source, flags };
}

export function findPatternProblem(text: string): string | undefined {
  try {
    readPattern(text);
    return undefined;
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return `is not a valid JavaScript pattern: ${reason} (to match a special character itself, write it in brackets, such as [(])`;
  }
}

export function testPattern({ source, flags }: Pattern, text: string): boolean {
  return new RegExp(source, flags).test(text);
}

function compileError(source: string, flags: string): string | undefined {
  try {
    new RegExp(source, flags);
    return undefined;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return message.replace(/^Invalid regular expression: /, '');
  }
}

/** JavaScript would silently read this syntax with another meaning. */
function findUnsupportedSyntax(source: string): string | undefined {
  if (source.includes('(?P<')) return 'write a named group as (?<name>…), not (?P<name>…)';
  if (/\[\[:\^?\w+:\]/.test(source)) return 'write classes such as [:alpha:] as \\p{L}, \\d, \\s …';
  const letter = escapesOf(source).find((escaped) => /[a-zA-Z]/.test(escaped) && !knownEscapes.test(escaped));
  return letter === undefined ? undefined : `JavaScript has no \\${letter}${alternatives[letter] ?? ''}`;
}

const knownEscapes = /[bBcdDfknpPrsStuvwWx]/;

const alternatives: Readonly<Record<string, string | undefined>> = {
  A: '; the beginning is ^',
  z: '; the end is $',
  Z: '; the end is $',
  h: '; white space is \\s',
  Q: '; escape each character by itself',
};

function needsUnicode(source: string): boolean {
  return /\\(?:[pP]|u)\{/.test(source.replaceAll('\\\\', ''));
}

function escapesOf(source: string): string[] {
  return [...source.matchAll(/\\(.)/gsu)].map(([, escaped]) => escaped ?? '');
}
