import { isUtf8 } from 'node:buffer';
import {
  CLOSE_BRACKET,
  COMMA,
  continueValue,
  isSpace,
  OPEN_BRACKET,
  type OpenValue,
  startValue,
} from '../../base/json/ends.ts';
import { isObject, parseLossless } from '../../base/json/json.ts';
import { jsonHint, wordJsonError } from '../../base/json/parse.ts';
import { type BoundedBuffer, countLines, newBoundedBuffer, splitLines } from './lines.ts';
import { type FileRow, notUtf8, type RowContent, unusable } from './row.ts';

/**
 * Reads a JSON list of objects or a sequence of objects, one in memory at a time. Invalid JSON yields one invalid row,
 * which is the last.
 */
export async function* readJson(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileRow> {
  const scanner = newElementScanner(maxRowBytes);
  const read = function* (found: ReturnType<typeof scanner.push>): Generator<Reading> {
    for (const each of found) {
      yield each.kind === 'element' ? readElement(each) : brokenAt(each.line, each.reason);
    }
  };
  for await (const chunk of chunks) {
    for (const { row, isLast } of read(scanner.push(chunk))) {
      yield row;
      if (isLast) return;
    }
  }
  for (const { row, isLast } of read(scanner.end())) {
    yield row;
    if (isLast) return;
  }
}

interface Reading {
  readonly row: FileRow;
  readonly isLast: boolean;
}

const words: RowWording = { subject: 'the element', hint: 'A JSON dataset is a list of objects.' };

function readElement({ line, bytes }: JsonElement): Reading {
  let content: RowContent;
  try {
    content = readJsonObject(bytes, words);
  } catch (thrown) {
    const text = new TextDecoder().decode(bytes);
    const reason = `the element that starts here is not JSON: ${wordJsonError(thrown, text)}`;
    return brokenAt(line, reason, jsonHint(text));
  }
  return { row: { line, content }, isLast: false };
}

function brokenAt(line: number, reason: string, hint = words.hint): Reading {
  const message = `the JSON is invalid here, and nothing after this was read: ${reason}`;
  return { row: { line, content: unusable(message, hint) }, isLast: true };
}

interface JsonElement {
  readonly kind: 'element';
  readonly line: number;
  readonly bytes: Buffer | undefined;
}

interface JsonBreak {
  readonly kind: 'break';
  readonly line: number;
  readonly reason: string;
}

interface ElementScanner {
  push(chunk: Buffer): (JsonElement | JsonBreak)[];
  end(): (JsonElement | JsonBreak)[];
}

/** Finds the elements of the top-level list or, without a list, the values of a sequence. */
export function newElementScanner(maxBytes: number): ElementScanner {
  let state: ScanState = 'start';
  let line = 1;
  let open: OpenElement | undefined;
  let found: (JsonElement | JsonBreak)[] = [];

  const finish = ({ line, buffer }: OpenElement): void => {
    found.push({ kind: 'element', line, bytes: buffer.finish() });
    open = undefined;
    state = state === 'sequence' ? 'sequence' : 'behind';
  };
  const breakOff = (reason: string): void => {
    found.push({ kind: 'break', line, reason });
    state = 'broken';
  };
  const takeElement = (element: OpenElement, chunk: Buffer, text: string, from: number): number => {
    const end = continueValue(text, from, element.value);
    const part = chunk.subarray(from, end);
    line += countLines(part);
    element.buffer.add(part);
    if (end !== undefined) finish(element);
    return end ?? chunk.length;
  };
  const takeBetween = (byte: number): boolean => {
    if (byte === LINE_FEED) line += 1;
    if (isSpace(byte)) return true;
    const transition = nextState(state, byte);
    if ('reason' in transition) breakOff(transition.reason);
    else state = transition.place;
    if ('reason' in transition || !transition.begins) return true;
    open = { line, buffer: newBoundedBuffer(maxBytes), value: startValue() };
    return false;
  };
  const drain = (): (JsonElement | JsonBreak)[] => {
    const drained = found;
    found = [];
    return drained;
  };
  return {
    push(chunk) {
      // One character per byte. The syntax of JSON is ASCII.
      const text = chunk.toString('latin1');
      for (let at = 0; at < chunk.length && state !== 'broken'; ) {
        if (open !== undefined) at = takeElement(open, chunk, text, at);
        else if (takeBetween(chunk[at] ?? 0)) at += 1;
      }
      return drain();
    },
    end() {
      if (open !== undefined && open.value.depth === 0 && !open.value.isInString) finish(open);
      if (open !== undefined) {
        line = open.line;
        breakOff('the element that starts here does not end');
      } else if (isInList(state)) breakOff('the list is not closed');
      return drain();
    },
  };
}

type ScanState = 'start' | 'opened' | 'comma' | 'behind' | 'closed' | 'sequence' | 'broken';

interface OpenElement {
  readonly line: number;
  readonly buffer: BoundedBuffer;
  readonly value: OpenValue;
}

const LINE_FEED = 0x0a;

function isInList(state: ScanState): boolean {
  return state === 'opened' || state === 'comma' || state === 'behind';
}

type Transition = { readonly place: ScanState; readonly begins: boolean } | { readonly reason: string };

function nextState(state: ScanState, byte: number): Transition {
  switch (state) {
    case 'start':
      return byte === OPEN_BRACKET ? { place: 'opened', begins: false } : { place: 'sequence', begins: true };
    case 'opened':
      if (byte === CLOSE_BRACKET) return { place: 'closed', begins: false };
      return byte === COMMA
        ? { reason: 'a comma without an element before it' }
        : { place: state, begins: true };
    case 'comma':
      if (byte === CLOSE_BRACKET || byte === COMMA) return { reason: 'a comma without an element after it' };
      return { place: state, begins: true };
    case 'behind':
      if (byte === CLOSE_BRACKET) return { place: 'closed', begins: false };
      return byte === COMMA ? { place: 'comma', begins: false } : { reason: 'no comma between two elements' };
    case 'closed':
      return { reason: 'there is text after the end of the list' };
    case 'sequence':
      return byte === COMMA ? { reason: 'a comma outside a list' } : { place: state, begins: true };
    case 'broken':
      return { place: state, begins: false };
  }
}

interface RowWording {
  readonly subject: string;
  readonly hint: string;
}

/** The maximum size of a row in bytes. The bytes of a longer row are dropped. */
export const maxRowBytes = 64 * 1024 * 1024;

function readJsonObject(bytes: Buffer | undefined, { subject, hint }: RowWording): RowContent {
  if (bytes === undefined) return unusable(`${subject} is longer than 64 MiB`);
  if (!isUtf8(bytes)) return notUtf8(subject, bytes);
  try {
    const value = parseLossless(bytes.toString('utf8'));
    if (isObject(value) && !JSON.isRawJSON(value)) return { usable: true, value };
    return unusable(`${subject} is ${Array.isArray(value) ? 'a list' : 'not a JSON object'}`, hint);
  } catch (thrown) {
    // The walk over the parsed value is recursive.
    if (thrown instanceof RangeError) return unusable(`${subject} is nested too deeply`);
    throw thrown;
  }
}

/** Reads one JSON object per line and skips blank lines. */
export async function* readJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileRow> {
  for await (const { number, bytes } of splitLines(chunks, maxRowBytes)) {
    if (bytes === undefined || !isBlank(bytes)) yield { line: number, content: readLine(bytes) };
  }
}

const lineWords: RowWording = { subject: 'the line', hint: 'A dataset has one JSON object on each line.' };

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

function readLine(bytes: Buffer | undefined): RowContent {
  try {
    return readJsonObject(bytes, lineWords);
  } catch (thrown) {
    const text = new TextDecoder().decode(bytes);
    return unusable(`the line is not JSON: ${wordJsonError(thrown, text)}`, jsonHint(text) ?? lineWords.hint);
  }
}
