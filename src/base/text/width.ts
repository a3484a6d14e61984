import { eastAsianWidth } from 'get-east-asian-width';

/** In terminal columns. */
export function textWidth(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += graphemeWidth(segment);
  return width;
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - textWidth(text))) + text;
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)));
}

export function cut(text: string, columns: number): string {
  if (text.length <= columns / 2 || columns === Infinity) return text;
  if (isPlain(text)) return cutPlain(text, columns);
  let width = 0;
  let end = 0;
  for (const { segment, index } of graphemesOf(text)) {
    width += graphemeWidth(segment);
    if (width > columns) return columns < 1 ? '' : `${text.slice(0, end)}…`;
    if (width < columns) end = index + segment.length;
  }
  return text;
}

function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function cutPlain(text: string, columns: number): string {
  if (text.length <= columns) return text;
  return columns < 1 ? '' : `${text.slice(0, Math.ceil(columns) - 1)}…`;
}

let segmenter: Intl.Segmenter | undefined;

/** Creating a segmenter takes as long as loading a dozen modules, and most commands need none. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function graphemeWidth(grapheme: string): number {
  if (/^[\p{Cc}\p{Cf}\p{Mn}\p{Me}]+$/u.test(grapheme)) return 0;
  if (/\p{Emoji_Presentation}|\uFE0F/u.test(grapheme)) return 2;
  return eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

/** Breaks lines between words; a longer word gets its own line. */
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

export const defaultColumns = 80;

/** Returns the cursor to the start and erases the line. Source: ECMA-48, EL. */
export const eraseLine = '\r\x1b[2K';
