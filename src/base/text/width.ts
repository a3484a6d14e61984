import { eastAsianWidth } from 'get-east-asian-width';

/** How many columns of a terminal a text takes. */
export function textWidth(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += graphemeWidth(segment);
  return width;
}

/** The text filled up with spaces to that many columns. */
export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - textWidth(text))) + text;
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)));
}

/** The text cut to that many columns, with an ellipsis where something is missing. */
export function cut(text: string, columns: number): string {
  if (text.length <= columns / 2 || columns === Infinity) return text;
  if (isPlain(text)) return cutPlain(text, columns);
  let width = 0;
  // Where the text ends if it has to make room for the ellipsis.
  let end = 0;
  for (const { segment, index } of graphemesOf(text)) {
    width += graphemeWidth(segment);
    if (width > columns) return columns < 1 ? '' : `${text.slice(0, end)}…`;
    if (width < columns) end = index + segment.length;
  }
  return text;
}

/** Whether each character takes one column. */
function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function cutPlain(text: string, columns: number): string {
  if (text.length <= columns) return text;
  return columns < 1 ? '' : `${text.slice(0, Math.ceil(columns) - 1)}…`;
}

let segmenter: Intl.Segmenter | undefined;

/** To make one takes as long as to load a dozen modules, and most commands need none. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function graphemeWidth(grapheme: string): number {
  if (/^[\p{Cc}\p{Cf}\p{Mn}\p{Me}]+$/u.test(grapheme)) return 0;
  if (/\p{Emoji_Presentation}|\uFE0F/u.test(grapheme)) return 2;
  return eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

/** The text in lines of at most that many columns, cut between words; a longer word has a line of its own. */
export function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || textWidth(longer) <= columns) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

/** What is written for where no terminal says how wide it is. */
export const defaultColumns = 80;

/** Back to the beginning of the line, and nothing in it. Source: ECMA-48, EL. */
export const eraseLine = '\r\x1b[2K';
