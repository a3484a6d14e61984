import { escapeAt } from './escapes.ts';
import { formsOf, type SecretForm, type SecretUnit } from './secret-forms.ts';

export interface SecretHider {
  /** Replaces secrets by a mark; returns the same string without secrets. */
  text(text: string): string;
  stream(): HideStream;
  add(secrets: Iterable<string>): void;
}

interface HideStream {
  push(text: string): string;
  /** The held-back text as shown if the stream ended now; hides incomplete secrets. Changes nothing. */
  rest(): string;
}

export const redactedMark = '[redacted]';

/**
 * Hides these values anywhere: as they are, with any characters escaped as in JSON, URLs or HTML, and line by line.
 * Also hides Base64 (both alphabets, also across lines) and hexadecimal forms.
 */
export function createSecretHider(secrets: Iterable<string>): SecretHider {
  let known = new Set(secrets);
  let index = createIndex(known);
  return {
    text: (text) => (index.all.length === 0 ? text : replace(text, scan(text, index).found)),
    stream: () => {
      let held = '';
      return {
        push: (text) => {
          held += text;
          const { found, open } = scan(held, index);
          // Hold text back from the start of a found secret that overlaps a possible one.
          const upTo = found.find(([start, end]) => start < open && end > open)?.[0] ?? open;
          const shown = held.slice(0, upTo);
          held = held.slice(upTo);
          return replace(
            shown,
            found.filter(([start]) => start < upTo),
          );
        },
        rest: () => {
          const { found, open } = scan(held, index);
          const isPiece = held.length - open >= SHORTEST_PIECE;
          return replace(held, isPiece ? merge([...found, [open, held.length]]) : found);
        },
      };
    },
    add: (more) => {
      const all = new Set([...known, ...more]);
      if (all.size === known.size) return;
      known = all;
      index = createIndex(known);
    },
  };
}

/** The minimum length at which an incomplete secret is hidden. */
const SHORTEST_PIECE = 8;

type Span = readonly [start: number, end: number];

interface Index {
  readonly all: readonly SecretForm[];
  readonly byHead: ReadonlyMap<number, readonly SecretForm[]>;
  readonly byPercent: ReadonlyMap<string, readonly SecretForm[]>;
  /** Matches the next character that may begin a secret, and the one after it. */
  readonly heads: RegExp | undefined;
}

function createIndex(secrets: Iterable<string>): Index {
  const all = formsOf(secrets);
  const byHead = Map.groupBy(all, ({ units }) => units[0]?.code ?? -1);
  const byPercent = Map.groupBy(all, ({ units }) => units[0]?.percent.slice(0, 3) ?? '');
  return { all, byHead, byPercent, heads: findHeads(byHead) };
}

function findHeads(byHead: Index['byHead']): RegExp | undefined {
  if (byHead.size === 0) return undefined;
  const heads = [...byHead].map(([first, forms]) => {
    const seconds = forms.map(({ units }) => units[1]?.code ?? first);
    const behind = classOf([...seconds, ...escapes, ...substitutes]);
    return forms.some(({ units }) => units.length < 2)
      ? classOf([first])
      : `${classOf([first])}(?=${behind}|$)`;
  });
  const hasLetterHead = [...byHead.keys()].some((code) => lettersWritten.includes(code));
  const backslash = hasLetterHead ? String.raw`\\` : String.raw`\\(?!\\{0,7}[bfnrt"])`;
  return new RegExp([classOf([PERCENT, AMPERSAND]), backslash, ...heads].join('|'), 'g');
}

/** Characters that a backslash and a letter or quote represent, such as line breaks in JSON; and backslash. */
const lettersWritten: readonly number[] = [...'\b\f\n\r\t"\\'].map((character) => character.charCodeAt(0));

function classOf(codes: readonly number[]): string {
  return `[${[...new Set(codes)].map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')}]`;
}

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const AMPERSAND = 0x26;
const escapes = [PERCENT, BACKSLASH, AMPERSAND];
const substitutes = [0x0a, 0x0d, 0x2b, 0x2d, 0x5f];

/** The positions of secrets, and the start of the first secret that the end of the text may cut. */
function scan(text: string, index: Index): { found: Span[]; open: number } {
  const found: [number, number][] = [];
  const { heads } = index;
  let open = text.length;
  if (heads === undefined) return { found, open };
  for (let at = nextHead(text, 0, heads); at !== -1; at = nextHead(text, at + 1, heads)) {
    for (const form of candidatesAt(text, at, index)) {
      const end = endOfForm(text, at, form);
      if (end === CUT) open = Math.min(open, at);
      if (end < 0) continue;
      const last = found.at(-1);
      if (last === undefined || at >= last[1]) found.push([at, end]);
      else last[1] = Math.max(last[1], end);
    }
  }
  return { found, open };
}

function nextHead(text: string, from: number, heads: RegExp): number {
  heads.lastIndex = from;
  return heads.test(text) ? heads.lastIndex - 1 : -1;
}

function candidatesAt(text: string, at: number, { all, byHead, byPercent }: Index): readonly SecretForm[] {
  const code = text.charCodeAt(at);
  const plain = byHead.get(code) ?? [];
  if (code === PERCENT) {
    if (at + 3 > text.length) return all;
    return [...plain, ...(byPercent.get(text.slice(at, at + 3).toLowerCase()) ?? [])];
  }
  const written = code === BACKSLASH || code === AMPERSAND ? escapeAt(text, at) : undefined;
  if (written === undefined) return plain;
  return written === 'cut' ? all : [...plain, ...(byHead.get(written.code) ?? [])];
}

const [NONE, CUT] = [-1, -2];

function endOfForm(text: string, start: number, { units, isEncoded }: SecretForm): number {
  let at = start;
  // An escape character at the end may become an escape of itself.
  let mayGoOn = false;
  for (let index = 0; index < units.length; index++) {
    const unit = units[index];
    if (unit === undefined) return NONE;
    if (isEncoded && index > 0) at = skipBreak(text, at);
    mayGoOn ||= isCutEscape(text, at, unit);
    at = endOfUnit(text, at, unit, isEncoded);
    if (at === NONE && mayGoOn) return CUT;
    if (at < 0) return at;
  }
  return at;
}

function isCutEscape(text: string, at: number, { code }: SecretUnit): boolean {
  if (code !== BACKSLASH && code !== AMPERSAND) return false;
  return text.charCodeAt(at) === code && escapeAt(text, at) === 'cut';
}

function skipBreak(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code !== 0x0a && code !== 0x0d && code !== BACKSLASH) return start;
  lineBreak.lastIndex = start;
  return start + (lineBreak.exec(text)?.[0].length ?? 0);
}

const lineBreak = /(?:\r|\\r)?(?:\n|\\n)/y;

function endOfUnit(text: string, at: number, unit: SecretUnit, isEncoded: boolean): number {
  if (at >= text.length) return CUT;
  const code = text.charCodeAt(at);
  if (code === unit.code) return endOfEscapeCharacter(text, at, code);
  switch (code) {
    case PERCENT:
      return endOfPercent(text, at, unit);
    case BACKSLASH:
    case AMPERSAND: {
      const written = escapeAt(text, at);
      if (written === 'cut') return CUT;
      return written?.code === unit.code ? written.end : NONE;
    }
    case 0x2b: // A plus is a space in a form.
      return unit.code === 0x20 ? at + 1 : NONE;
    case 0x2d: // The other Base64 alphabet.
      return isEncoded && unit.code === 0x2b ? at + 1 : NONE;
    case 0x5f:
      return isEncoded && unit.code === 0x2f ? at + 1 : NONE;
    default:
      return NONE;
  }
}

function endOfEscapeCharacter(text: string, at: number, code: number): number {
  const written = code === BACKSLASH || code === AMPERSAND ? escapeAt(text, at) : undefined;
  return written !== undefined && written !== 'cut' && written.code === code ? written.end : at + 1;
}

function endOfPercent(text: string, at: number, { percent }: SecretUnit): number {
  if (percent === '') return NONE;
  const written = text.slice(at, at + percent.length).toLowerCase();
  if (written === percent) return at + percent.length;
  return at + percent.length > text.length && percent.startsWith(written) ? CUT : NONE;
}

function merge(spans: readonly Span[]): Span[] {
  const merged: [number, number][] = [];
  for (const [start, end] of spans.toSorted((one, other) => one[0] - other[0])) {
    const last = merged.at(-1);
    if (last === undefined || start >= last[1]) merged.push([start, end]);
    else last[1] = Math.max(last[1], end);
  }
  return merged;
}

function replace(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const pieces: string[] = [];
  let from = 0;
  for (const [start, end] of spans) {
    pieces.push(text.slice(from, start), redactedMark);
    from = end;
  }
  return pieces.join('') + text.slice(from);
}
