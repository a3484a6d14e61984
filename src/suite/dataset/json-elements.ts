import { type BoundedBuffer, countLines, newBoundedBuffer } from './lines.ts';

/** One value of a JSON text, not yet parsed; `bytes` is undefined when it was too long to keep. */
export interface JsonElement {
  readonly kind: 'element';
  readonly line: number;
  readonly bytes: Buffer | undefined;
}

/** The line where the text is no valid list or sequence of values any more. */
export interface JsonBreak {
  readonly kind: 'break';
  readonly line: number;
  readonly reason: string;
}

/** Finds the values of one text, which comes in chunks; after a break it finds no more. */
export interface ElementScanner {
  push(chunk: Buffer): (JsonElement | JsonBreak)[];
  /** The rest, when no more chunks come. */
  end(): (JsonElement | JsonBreak)[];
}

/** Finds the elements of the list at the top of a JSON text, or, without a list, the values that stand there one after another. */
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
  /** Takes what belongs to the element, and gives the position behind that. */
  const takeElement = (element: OpenElement, chunk: Buffer, from: number): number => {
    const end = endOfElement(element, chunk, from);
    const part = chunk.subarray(from, end.at);
    line += countLines(part);
    element.buffer.add(part);
    if (end.reached) finish(element);
    return end.at;
  };
  /** Takes one byte between elements, unless an element begins with it. */
  const takeBetween = (byte: number): boolean => {
    if (byte === LINE_FEED) line += 1;
    if (isSpace(byte)) return true;
    const transition = nextState(state, byte);
    if ('reason' in transition) breakOff(transition.reason);
    else state = transition.place;
    if ('reason' in transition || !transition.begins) return true;
    open = { line, buffer: newBoundedBuffer(maxBytes), depth: 0, inString: false, isEscaped: false };
    return false;
  };
  const drain = (): (JsonElement | JsonBreak)[] => {
    const drained = found;
    found = [];
    return drained;
  };
  return {
    push(chunk) {
      for (let at = 0; at < chunk.length && state !== 'broken'; ) {
        if (open !== undefined) at = takeElement(open, chunk, at);
        else if (takeBetween(chunk[at] ?? 0)) at += 1;
      }
      return drain();
    },
    end() {
      if (open !== undefined && open.depth === 0 && !open.inString) finish(open);
      if (open !== undefined) {
        line = open.line;
        breakOff('the element that starts here does not end');
      } else if (isInList(state)) breakOff('the list is not closed');
      return drain();
    },
  };
}

/** The state between elements: what was read last, or `sequence` for values outside of a list. */
type ScanState = 'start' | 'opened' | 'comma' | 'behind' | 'closed' | 'sequence' | 'broken';

interface OpenElement {
  /** Where it begins. */
  readonly line: number;
  readonly buffer: BoundedBuffer;
  depth: number;
  inString: boolean;
  isEscaped: boolean;
}

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === LINE_FEED || byte === 0x0d || byte === 0x09;
}

function isInList(state: ScanState): boolean {
  return state === 'opened' || state === 'comma' || state === 'behind';
}

type Transition = { readonly place: ScanState; readonly begins: boolean } | { readonly reason: string };

/** The state after a byte between elements, and whether an element begins with it. */
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
      if (byte === CLOSE_BRACKET || byte === COMMA) return { reason: 'a comma without an element behind it' };
      return { place: state, begins: true };
    case 'behind':
      if (byte === CLOSE_BRACKET) return { place: 'closed', begins: false };
      return byte === COMMA ? { place: 'comma', begins: false } : { reason: 'no comma between two elements' };
    case 'closed':
      return { reason: 'something stands behind the end of the list' };
    case 'sequence':
      return byte === COMMA ? { reason: 'a comma outside of a list' } : { place: state, begins: true };
    case 'broken':
      return { place: state, begins: false };
  }
}

/** The position behind the element, or behind the chunk when the element goes on. */
function endOfElement(element: OpenElement, chunk: Buffer, from: number): { at: number; reached: boolean } {
  const known = element.buffer.size();
  for (let at = from; at < chunk.length; at++) {
    const byte = chunk[at] ?? 0;
    if (element.inString) {
      if (element.isEscaped) element.isEscaped = false;
      else if (byte === BACKSLASH) element.isEscaped = true;
      else if (byte === QUOTE) {
        element.inString = false;
        if (element.depth === 0) return { at: at + 1, reached: true };
      }
      continue;
    }
    if (element.depth === 0 && known + at > from && endsScalar(byte)) {
      return { at, reached: true };
    }
    if (byte === QUOTE) element.inString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) element.depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      element.depth -= 1;
      if (element.depth <= 0) return { at: at + 1, reached: true };
    }
  }
  return { at: chunk.length, reached: false };
}

/** Whether a number or a word is over. */
function endsScalar(byte: number): boolean {
  return isSpace(byte) || byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE;
}
