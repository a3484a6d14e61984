import { Json } from '../../json/json.ts';

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
  for (const { head, middle } of spellings) {
    const idStart = start + head.length;
    if (!standsAt(bytes, start, head)) continue;
    const idEnd = endOfDigits(bytes, idStart, end);
    const id = readId(bytes, idStart, idEnd);
    if (id === undefined || !standsAt(bytes, idEnd, middle)) return undefined;
    const result = readResult(bytes, idEnd + middle.length, end - 1);
    return result && { id, result };
  }
  return undefined;
}

/** As most libraries write JSON, without and with spaces. */
const spellings = [
  { head: codesOf('{"jsonrpc":"2.0","id":'), middle: codesOf(',"result":') },
  { head: codesOf('{"jsonrpc": "2.0", "id": '), middle: codesOf(', "result": ') },
];

const ZERO = 0x30;
const NINE = 0x39;
const SPACE = 0x20;
const CLOSE_BRACE = 0x7d;
/** So many digits are exact in a double. */
const MAX_DIGITS = 15;

/** An array is compared in less time than a buffer. */
function codesOf(text: string): readonly number[] {
  return [...Buffer.from(text)];
}

function standsAt(bytes: Buffer, start: number, codes: readonly number[]): boolean {
  for (let at = 0; at < codes.length; at += 1) if (bytes[start + at] !== codes[at]) return false;
  return true;
}

function endOfDigits(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(bytes[at])) at += 1;
  return at;
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
  const text = bytes.toString('utf8', start, end);
  // What stands for a byte that is not UTF-8; where the peer wrote the character itself, the full reading decides.
  if (text.includes('\ufffd')) return undefined;
  try {
    return Json.parse(text);
  } catch {
    return undefined;
  }
}

/** White space around a value belongs to no value. */
function isBlank(code: number | undefined): boolean {
  return code !== undefined && code <= SPACE;
}
