import { escapeAt } from './escapes.ts';
import { type Form, formsOf, type Unit } from './secret-forms.ts';

/** Takes values out of texts that must not be read there. */
export interface Hider {
  /** The text without them; the very text when there is none in it. */
  text(text: string): string;
  /** The same for a text that comes in pieces. */
  stream(): HideStream;
  /** Looks for these too from now on. */
  add(secrets: Iterable<string>): void;
}

/** What a text in pieces is without its secrets; what may be the beginning of one is held back. */
export interface HideStream {
  push(text: string): string;
  /** What is held back now, were this the end: a piece of a secret that was cut off is hidden too. Changes nothing. */
  rest(): string;
}

/** What stands in the place of a secret. */
export const mark = '[redacted]';

/**
 * Hides these values wherever they stand: as they are, with any of their characters escaped as in JSON, URLs or HTML,
 * line by line, in Base64 (both alphabets, also broken into lines) and in hexadecimal digits.
 */
export function createHider(secrets: Iterable<string>): Hider {
  let known = new Set(secrets);
  let index = createIndex(known);
  return {
    text: (text) => replace(text, scan(text, index).found),
    stream: () => {
      let held = '';
      return {
        push: (text) => {
          held += text;
          const { found, open } = scan(held, index);
          // Of a secret that goes on where another one may begin, nothing is let go.
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

/** A secret that was cut off is hidden when that much of it is left. */
const SHORTEST_PIECE = 8;

/** From one place up to, not including, another. */
type Span = readonly [start: number, end: number];

interface Index {
  readonly all: readonly Form[];
  /** By the unit that they begin with. */
  readonly byHead: ReadonlyMap<number, readonly Form[]>;
  /** By the first byte that they begin with in a URL. */
  readonly byPercent: ReadonlyMap<string, readonly Form[]>;
  /** Whether a secret may begin with two units whose last eight bits are these. */
  readonly heads: Uint8Array;
}

function createIndex(secrets: Iterable<string>): Index {
  const all = formsOf(secrets);
  const byHead = Map.groupBy(all, ({ units }) => units[0]?.code ?? -1);
  const byPercent = Map.groupBy(all, ({ units }) => units[0]?.percent.slice(0, 3) ?? '');
  return { all, byHead, byPercent, heads: headsOf(all) };
}

/** Most places of a text are passed over by these alone. */
function headsOf(forms: readonly Form[]): Uint8Array {
  const heads = new Uint8Array(0x1_00_00);
  if (forms.length === 0) return heads;
  for (const sign of escapes) heads.fill(1, sign << 8, (sign + 1) << 8);
  for (const { units } of forms) {
    const [first = 0, second = 0] = units.map(({ code }) => code & 0xff);
    for (const next of [second, ...escapes, ...instead]) heads[(first << 8) | next] = 1;
  }
  return heads;
}

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const AMPERSAND = 0x26;
/** What a unit that is escaped begins with. */
const escapes = [PERCENT, BACKSLASH, AMPERSAND];
/** What else may stand for a unit or before one: breaks of lines, a plus, a minus, a low line; the end counts as NUL. */
const instead = [0x0a, 0x0d, 0x2b, 0x2d, 0x5f, 0];

/** Where secrets stand, and where the first one begins that the end of the text may cut off. */
function scan(text: string, index: Index): { found: Span[]; open: number } {
  const found: [number, number][] = [];
  const { heads } = index;
  let open = text.length;
  // Most runtimes have no secrets, and every reply passes here.
  if (index.all.length === 0) return { found, open };
  for (let at = 0; at < text.length; at++) {
    if (heads[((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff)] === 0) continue;
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

/** What may begin there, as it is or escaped. */
function candidatesAt(text: string, at: number, { all, byHead, byPercent }: Index): readonly Form[] {
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

/** Where the form ends that begins there; NONE when another text stands there, CUT when the text ends first. */
function endOfForm(text: string, start: number, { units, isEncoded }: Form): number {
  let at = start;
  // A sign that the text ends behind may yet become an escape that stands for it.
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

function isCutEscape(text: string, at: number, { code }: Unit): boolean {
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

function endOfUnit(text: string, at: number, unit: Unit, isEncoded: boolean): number {
  if (at >= text.length) return CUT;
  const code = text.charCodeAt(at);
  if (code === unit.code) return endOfSign(text, at, code);
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

/** A sign that begins escapes may itself be written as one. */
function endOfSign(text: string, at: number, code: number): number {
  const written = code === BACKSLASH || code === AMPERSAND ? escapeAt(text, at) : undefined;
  return written !== undefined && written !== 'cut' && written.code === code ? written.end : at + 1;
}

function endOfPercent(text: string, at: number, { percent }: Unit): number {
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
    pieces.push(text.slice(from, start), mark);
    from = end;
  }
  return pieces.join('') + text.slice(from);
}
