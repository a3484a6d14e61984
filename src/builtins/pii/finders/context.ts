import { fold } from '../fold.ts';
import { columnHead, type ScannedText, textBefore, unaccent } from '../scanned-text.ts';

/**
 * A pattern for `|`-separated label words, for text without accents. `*` matches the rest of a word, so one stem covers
 * inflections and compounds. Words of spaced scripts must be separate; Chinese and Japanese ones may follow another
 * word. A space also matches `_` and `-`.
 */
export function tellingWords(words: string, rest = ''): RegExp {
  // Words with the same edges share one lookaround, which decides at most positions.
  const byEdges = new Map<string, string[]>();
  for (const word of alternatives(unaccent(fold(words).text))) {
    const edges = `${beginsSpaced.test(word) ? `(?<!${letter})` : ''}|${endsSpaced.test(word) ? `(?!${letter})` : ''}`;
    byEdges.set(edges, [...(byEdges.get(edges) ?? []), bodyOf(word)]);
  }
  const groups = [...byEdges].map(([edges, bodies]) => edges.replace('|', `(?:${bodies.join('|')})`));
  return new RegExp(`(?:${groups.join('|')})${rest}`, 'iu');
}

/** Splits at bars outside brackets; literal brackets are escaped. */
function alternatives(words: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const [sign] of words.matchAll(/\\?./gsu)) {
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (sign === '|' && depth === 0) parts.push('');
    else parts[parts.length - 1] += sign;
  }
  return parts;
}

const letter = String.raw`[A-Za-z\u00c0-\u024f\u1e00-\u1eff\u0900-\u0963\u0970-\u097f]`;
const beginsSpaced = new RegExp(String.raw`^\\?(?:${letter}|\d)`, 'u');
const endsSpaced = new RegExp(String.raw`(?:${letter}|[a-z]\])\)?\??$`, 'u');
const restOfWord = String.raw`[\p{L}\p{M}]{0,20}`;

function bodyOf(word: string): string {
  return word
    .replace(/^\*/, '')
    .replace(/(?<![\]\\])\*$/, restOfWord)
    .replaceAll(' ', '[ _-]?');
}

/**
 * At most `length` characters of the same line before a position. If nothing precedes it there, includes the line
 * above; a table cell's column head comes first.
 */
function lineBefore(scan: ScannedText, at: number, length: number): string {
  const before = textBefore(scan.plain, at, length);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const isBare = !/[\p{L}\p{N}]/u.test(line);
  const above = before.lastIndexOf('\n', before.length - line.length - 2) + 1;
  const head = columnHead(scan, at);
  return `${head === undefined ? '' : `${head}: `}${isBare ? before.slice(above) : line}`;
}

export function wordsBefore(scan: ScannedText, at: number, length: number): string {
  const before = lineBefore(scan, at, length);
  return before.slice(lastEnd(before));
}

export function wordsBehind(scan: ScannedText, at: number, length: number): string {
  const behind = scan.plain.slice(at, at + length);
  return behind.slice(0, sentenceEnd.exec(behind)?.index ?? length);
}

/** A full stop ends a sentence after a word too long for an abbreviation, before a capital or the end. */
const sentenceEnd = /[!?。！？\n]|(?<=[\p{Ll}\p{M}]{4}|[\d)])\.(?=\s+\p{Lu}|\s*$)|।/u;
const sentenceEnds = new RegExp(sentenceEnd.source, 'gu');

/** Ignores question marks, since the text after a question ("your number?") may answer it. */
function lastEnd(near: string): number {
  let [end, before] = [0, 0];
  for (const { 0: sign, index } of near.matchAll(sentenceEnds)) {
    if (sign !== '\n' && sign !== '?') [end, before] = [index + sign.length, end];
  }
  return refersBack.test(near.slice(end)) ? before : end;
}

/** A sentence that only refers to the previous one: "Tell me your date of birth. It's …". */
const refersBack =
  /^\s*(?:it['’]?s|it is|that['’]?s|that is|this is|mine is|here it is|here|es ist|das ist|es lautet|c['’]est|es|son|是|यह है|それは)?[\s:,]*$/iu;

/** Whether such a word is in the same line, at most `length` characters before the position. */
export function isTold(scan: ScannedText, at: number, words: RegExp, length = 50): boolean {
  return words.test(lineBefore(scan, at, length));
}

export const counterBehind =
  /^ ?(?:台|件|份|个|個|人|次|回|枚|円|元|张|張|名|册|冊|部|票|歳|岁|年|月|日|位|桁|文字|点|ページ|页|頁|番の|番が)/u;
