import { escapeAt } from './escapes.ts';
import { formsOf, type SecretForm, type SecretUnit } from './secret-forms.ts';

/** Hides secret values in texts. */
export interface SecretHider {
  /** The text with the secrets replaced by a mark; the same string if there are none in it. */
  text(text: string): string;
  /** As `text`, for a streamed text. */
  stream(): HideStream;
  /** Adds values to hide from now on. */
  add(secrets: Iterable<string>): void;
}

/** Hides secrets in a streamed text; what may be the beginning of a secret is held back. */
interface HideStream {
  push(text: string): string;
  /**
   * The held-back text as it would be shown if the stream ended now; a cut-off secret is hidden too. Changes
   * nothing.
   */
  rest(): string;
}

/** The text that replaces a secret. */
export const redactedMark = '[redacted]';

/**
 * Hides these values wherever they stand: as they are, with any of their characters escaped as in JSON, URLs or HTML,
 * line by line, in Base64 (both alphabets, also broken into lines) and in hexadecimal digits.
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
          // Text is held back from the start of a found secret that overlaps a possible one.
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

/** The least length at which a cut-off piece of a secret is hidden. */
const SHORTEST_PIECE = 8;

/** A range of positions, the end exclusive. */
type Span = readonly [start: number, end: number];

interface Index {
  readonly all: readonly SecretForm[];
  /** By the unit that they begin with. */
  readonly byHead: ReadonlyMap<number, readonly SecretForm[]>;
  /** By the first byte that they begin with in a URL. */
  readonly byPercent: ReadonlyMap<string, readonly SecretForm[]>;
  /** Finds the next character with which a secret may begin, by it and the one behind it; undefined without secrets. */
  readonly heads: RegExp | undefined;
}

function createIndex(secrets: Iterable<string>): Index {
  const all = formsOf(secrets);
  const byHead = Map.groupBy(all, ({ units }) => units[0]?.code ?? -1);
  const byPercent = Map.groupBy(all, ({ units }) => units[0]?.percent.slice(0, 3) ?? '');
  return { all, byHead, byPercent, heads: findHeads(byHead) };
}

/** Most positions are skipped by one pass of the engine. */
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

/** The characters that backslashes write together with a letter or quote, as line breaks in most JSON, and backslash. */
const lettersWritten: readonly number[] = [...'\b\f\n\r\t"\\'].map((character) => character.charCodeAt(0));

/** A class of these characters. */
function classOf(codes: readonly number[]): string {
  return `[${[...new Set(codes)].map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')}]`;
}

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const AMPERSAND = 0x26;
/** The characters with which an escaped unit begins. */
const escapes = [PERCENT, BACKSLASH, AMPERSAND];
/** Further characters that may represent or precede a unit: line breaks, `+`, `-`, `_`. */
const substitutes = [0x0a, 0x0d, 0x2b, 0x2d, 0x5f];

/** The positions of secrets, and the start of the first one that the end of the text may cut off. */
function scan(text: string, index: Index): { found: Span[]; open: number } {
  const found: [number, number][] = [];
  const { heads } = index;
  let open = text.length;
  // Most runtimes have no secrets, and every reply passes here.
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

/** The next position at which a secret may begin; -1 without one. */
function nextHead(text: string, from: number, heads: RegExp): number {
  heads.lastIndex = from;
  return heads.test(text) ? heads.lastIndex - 1 : -1;
}

/** The forms that may begin at the position, plain or escaped. */
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

/** The end of the form that begins at `start`; NONE if it does not match, CUT if the text ends within it. */
function endOfForm(text: string, start: number, { units, isEncoded }: SecretForm): number {
  let at = start;
  // An escape character at the end of the text may become an escape for itself.
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
    case 0x2d: // The other alphabet of Base64.
      return isEncoded && unit.code === 0x2b ? at + 1 : NONE;
    case 0x5f:
      return isEncoded && unit.code === 0x2f ? at + 1 : NONE;
    default:
      return NONE;
  }
}

/** The end of an escape character, which may itself be written as an escape. */
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
