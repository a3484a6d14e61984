import { Json } from '../../base/json/json.ts';

/** A reply of a usual spelling: version 2.0, an integer id and a result, once each, and nothing else. */
export interface PlainReply {
  readonly id: number;
  readonly result: Json;
}

/**
 * Reads the line from `start` to `end` if it has a usual spelling, for less than a parse and a scan of it; undefined
 * for any other line, which has to be read in full. What stands around the result spells the other members and the
 * result itself is parsed, so the line is JSON and has no further member.
 */
export function readPlainReply(bytes: Buffer, start: number, end: number): PlainReply | undefined {
  if (bytes[end - 1] !== CLOSE_BRACE) return undefined;
  for (const { head, middle } of idFirst) {
    if (standsAt(bytes, start, head)) return readIdFirst(bytes, start + head.length, { middle, end });
  }
  for (const { head, middle } of resultFirst) {
    if (standsAt(bytes, start, head)) return readResultFirst(bytes, start + head.length, { middle, end });
  }
  return undefined;
}

/** What stands before, and between, the id and the result: as most libraries write JSON, with and without spaces. */
const idFirst = [
  spelling('{"jsonrpc":"2.0","id":', ',"result":'),
  spelling('{"jsonrpc": "2.0", "id": ', ', "result": '),
  // The longer one first.
  spelling('{"id": ', ', "jsonrpc": "2.0", "result": '),
  spelling('{"id":', ',"jsonrpc":"2.0","result":'),
];
const resultFirst = [
  spelling('{"jsonrpc":"2.0","result":', ',"id":'),
  spelling('{"jsonrpc": "2.0", "result": ', ', "id": '),
];

interface Spelling {
  readonly head: readonly number[];
  readonly middle: readonly number[];
}

/** An array is compared in less time than a buffer. */
function spelling(head: string, middle: string): Spelling {
  return { head: [...Buffer.from(head)], middle: [...Buffer.from(middle)] };
}

interface Rest {
  readonly middle: readonly number[];
  readonly end: number;
}

function readIdFirst(bytes: Buffer, start: number, { middle, end }: Rest): PlainReply | undefined {
  let idEnd = start;
  while (idEnd < end && isDigit(bytes[idEnd])) idEnd += 1;
  const id = readId(bytes, start, idEnd);
  if (id === undefined || !standsAt(bytes, idEnd, middle)) return undefined;
  return withResult(id, readResult(bytes, idEnd + middle.length, end - 1));
}

function readResultFirst(bytes: Buffer, start: number, { middle, end }: Rest): PlainReply | undefined {
  let idStart = end - 1;
  while (idStart > start && isDigit(bytes[idStart - 1])) idStart -= 1;
  const id = readId(bytes, idStart, end - 1);
  const resultEnd = idStart - middle.length;
  if (id === undefined || resultEnd <= start || !standsAt(bytes, resultEnd, middle)) return undefined;
  return withResult(id, readResult(bytes, start, resultEnd));
}

function withResult(id: number, result: Json | undefined): PlainReply | undefined {
  return result && { id, result };
}

const ZERO = 0x30;
const NINE = 0x39;
const SPACE = 0x20;
const CLOSE_BRACE = 0x7d;
/** So many digits are exact in a double. */
const MAX_DIGITS = 15;

function standsAt(bytes: Buffer, start: number, codes: readonly number[]): boolean {
  for (let at = 0; at < codes.length; at += 1) if (bytes[start + at] !== codes[at]) return false;
  return true;
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= ZERO && code <= NINE;
}

/** The digits as a number; undefined without any, with a leading zero, and with more than are exact. */
function readId(bytes: Buffer, start: number, end: number): number | undefined {
  if (end === start || end - start > MAX_DIGITS || bytes[start] === ZERO) return undefined;
  let id = 0;
  for (let at = start; at < end; at += 1) id = id * 10 + (bytes[at] ?? 0) - ZERO;
  return id;
}

/** The value of these bytes; undefined unless they are UTF-8 and one JSON value with nothing around it. */
function readResult(bytes: Buffer, start: number, end: number): Json | undefined {
  if (start >= end || isBlank(bytes[start]) || isBlank(bytes[end - 1])) return undefined;
  if (end - start === known.codes.length && standsAt(bytes, start, known.codes)) return new Json(known.text);
  const text = bytes.toString('utf8', start, end);
  // What stands for a byte that is not UTF-8; where the peer wrote the character itself, the full reading decides.
  if (text.includes('\ufffd')) return undefined;
  try {
    const result = Json.parse(text);
    if (text.length <= LONGEST_KNOWN) noteRepeated(text);
    return result;
  } catch {
    return undefined;
  }
}

/** A short result that came twice in a row, as the allow of a filter does: the same bytes need no second proof. */
let known: { readonly text: string; readonly codes: readonly number[] } = { text: '', codes: [] };
let lastText = '';
const LONGEST_KNOWN = 64;

function noteRepeated(text: string): void {
  if (text === lastText) known = { text, codes: [...Buffer.from(text)] };
  lastText = text;
}

/** White space around a value belongs to no value. */
function isBlank(code: number | undefined): boolean {
  return code !== undefined && code <= SPACE;
}
