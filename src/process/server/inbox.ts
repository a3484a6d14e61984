import type { ErrorCode, RuntimeErrorOptions } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import type { Emit } from '../../contract/event.ts';
import { readProgress } from '../../contract/progress.ts';
import { noopScrubber, type Scrubber } from '../../contract/scrub.ts';
import type { Binding } from '../binding.ts';
import type { LineListener } from '../stream-reader.ts';
import type { RpcReply } from '../transport.ts';
import { findRequestId, readLine, type ServerLine } from './json-rpc.ts';
import { type FailureOptions, WaitingRequests } from './waiting-requests.ts';

export interface InboxOptions {
  readonly onGoodReply: () => void;
  /** Whether a reply without an id may answer a notification, so that it cannot be matched to a request. */
  readonly mayAnswerNotifications: boolean;
}

export class Inbox implements LineListener {
  readonly #name: string;
  readonly #maxBytes: number;
  readonly #emit: Emit;
  readonly #rules: InboxOptions;
  readonly #scrubber: Scrubber;
  readonly requests: WaitingRequests;
  #warnedVersion = false;
  #atStart = true;

  constructor(binding: Binding, emit: Emit, rules: InboxOptions, scrubber: Scrubber = noopScrubber) {
    this.#name = binding.name;
    this.requests = new WaitingRequests(binding.name);
    this.#maxBytes = binding.maxOutputBytes;
    this.#emit = emit;
    this.#rules = rules;
    this.#scrubber = scrubber;
  }

  onLine(bytes: Buffer, start: number, end: number): void {
    const plain = readPlainReply(bytes, start, end);
    if (plain !== undefined) {
      this.#atStart = false;
      this.#settle(plain.id, { via: 'rpc', result: plain.result });
      return;
    }
    const whole = bytes.subarray(start, end);
    // A byte order mark at the start of the stream is not part of the first line.
    const line = this.#atStart ? withoutByteOrderMark(whole) : whole;
    this.#atStart = false;
    this.#take(readLine(line), line);
  }

  onLongLine(prefix: Uint8Array): void {
    this.#atStart = false;
    const why = `a reply is longer than ${this.#maxBytes} bytes`;
    const id = findRequestId(prefix);
    if (id !== undefined) this.#failOrDrop(id, 'OUTPUT_LIMIT', why);
    else for (const each of this.requests.ids()) this.requests.fail(each, 'OUTPUT_LIMIT', why);
  }

  #take(line: ServerLine, bytes: Uint8Array): void {
    switch (line.kind) {
      case 'reply':
        this.#answer(line);
        break;
      case 'noise':
        this.#noise(line.why, bytes);
        break;
      case 'request': {
        const reported =
          line.method === 'progress' ? readProgress(line.params, this.#scrubber.text) : undefined;
        if (reported !== undefined && this.requests.report(reported.id, reported.progress)) break;
        const again = readLine(scrubLine(bytes, this.#scrubber));
        const method = again.kind === 'request' ? again.method : 'a method';
        this.#drop('server request', `Signalbox does not answer ${method}`);
        break;
      }
      case 'anonymous':
        this.#takeAnonymous(bytes);
        break;
      case 'malformed': {
        const scrubbed = scrubMalformed(line, bytes, this.#scrubber);
        this.#failOrDrop(scrubbed.id, 'REPLY_MALFORMED', scrubbed.why, {
          ...optionsOf(scrubbed),
          unusableLine: bytes,
        });
        break;
      }
      case 'twice':
        for (const id of line.ids) {
          this.#failOrDrop(id, 'REPLY_MALFORMED', line.why, { hint: line.hint, unusableLine: bytes });
        }
        break;
      case 'batch':
        this.#refuseBatch(line.ids, bytes);
        break;
    }
  }

  #answer({ id, result, error, ignoredResult, versioned }: Extract<ServerLine, { kind: 'reply' }>): void {
    const content =
      error === undefined ? result && { result } : { error, ...(ignoredResult && { ignoredResult }) };
    if (this.#settle(id, { via: 'rpc', ...content }) && !versioned) this.#warnOfVersion();
  }

  #settle(id: number, reply: RpcReply): boolean {
    const isAwaited = this.requests.answer(id, reply);
    if (isAwaited) this.#rules.onGoodReply();
    else this.#dropUnexpected(id);
    return isAwaited;
  }

  #takeAnonymous(bytes: Uint8Array): void {
    const only = this.#rules.mayAnswerNotifications ? undefined : this.requests.onlyId();
    const hint =
      'Send the id of the request back. Remove `runtime: server` for a script that serves one call without ids.';
    if (only === undefined) this.#noise('a reply without an id', bytes);
    else this.requests.fail(only, 'REPLY_MALFORMED', 'the reply has no id', { hint });
  }

  #refuseBatch(ids: readonly number[], bytes: Uint8Array): void {
    const why = 'batches of replies are not supported';
    const failed = ids.filter((id) =>
      this.requests.fail(id, 'REPLY_MALFORMED', why, { details: { problem: 'batch' }, unusableLine: bytes }),
    );
    if (failed.length === 0) this.#noise('a JSON array', bytes);
  }

  #failOrDrop(id: number, code: ErrorCode, why: string, options?: FailureOptions): void {
    if (!this.requests.fail(id, code, why, options)) this.#dropUnexpected(id);
  }

  #dropUnexpected(id: number): void {
    const { what, detail } = this.requests.describeUnexpected(id);
    this.#drop(what, detail);
  }

  #noise(why: string, bytes: Uint8Array): void {
    this.requests.noteNoise();
    this.#drop('noise', `${why}: ${Buffer.from(scrubLine(bytes, this.#scrubber)).toString('utf8', 0, 200)}`);
  }

  #drop(what: 'noise' | 'late reply' | 'unknown reply' | 'server request', detail: string): void {
    this.#emit({ type: 'dropped', name: this.#name, what, detail });
  }

  #warnOfVersion(): void {
    if (this.#warnedVersion) return;
    this.#warnedVersion = true;
    const message = 'its replies lack "jsonrpc": "2.0"';
    this.#emit({ type: 'note', name: this.#name, level: 'warn', message });
  }
}

function optionsOf({ hint, text, problem }: Malformed): RuntimeErrorOptions {
  return { hint, details: { ...(text !== undefined && { text }), ...(problem && { problem }) } };
}

function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

type Malformed = Extract<ServerLine, { kind: 'malformed' }>;

export function scrubLine(bytes: Uint8Array, scrubber: Scrubber): Uint8Array {
  const text = Buffer.from(bytes).toString();
  const shown = scrubber.text(text);
  return shown === text ? bytes : Buffer.from(shown);
}

function scrubMalformed(line: Malformed, bytes: Uint8Array, scrubber: Scrubber): Malformed {
  const clean = scrubLine(bytes, scrubber);
  if (clean === bytes) return line;
  const again = readLine(clean);
  const { why, text } = again.kind === 'malformed' ? again : { why: scrubber.text(line.why) };
  return {
    kind: line.kind,
    id: line.id,
    why,
    ...(line.hint && { hint: line.hint }),
    ...(text !== undefined && { text }),
    ...(line.problem && { problem: line.problem }),
  };
}

/** Version 2.0, an integer id and a result, once each and nothing else. */
interface PlainReply {
  readonly id: number;
  readonly result: Json;
}

/**
 * Reads common spellings without a full parse; returns undefined for any other line. The surrounding text and the
 * result are checked, so the line is valid JSON without other members.
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
/** Numbers of 15 digits are exact in a double. */
const MAX_DIGITS = 15;

function standsAt(bytes: Buffer, start: number, codes: readonly number[]): boolean {
  for (let at = 0; at < codes.length; at += 1) if (bytes[start + at] !== codes[at]) return false;
  return true;
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= ZERO && code <= NINE;
}

function readId(bytes: Buffer, start: number, end: number): number | undefined {
  if (end === start || end - start > MAX_DIGITS || bytes[start] === ZERO) return undefined;
  let id = 0;
  for (let at = start; at < end; at += 1) id = id * 10 + (bytes[at] ?? 0) - ZERO;
  return id;
}

function readResult(bytes: Buffer, start: number, end: number): Json | undefined {
  if (start >= end || isBlank(bytes[start]) || isBlank(bytes[end - 1])) return undefined;
  if (end - start === known.codes.length && standsAt(bytes, start, known.codes)) return new Json(known.text);
  const text = bytes.toString('utf8', start, end);
  // U+FFFD marks invalid UTF-8; if the peer wrote the character itself, the full parser decides.
  if (text.includes('\ufffd')) return undefined;
  try {
    const result = Json.parse(text);
    if (text.length <= LONGEST_KNOWN) noteRepeated(text);
    return result;
  } catch {
    return undefined;
  }
}

/** Identical short results, such as a filter's allow, are validated once. */
let known: { readonly text: string; readonly codes: readonly number[] } = { text: '', codes: [] };
let lastText = '';
const LONGEST_KNOWN = 64;

function noteRepeated(text: string): void {
  if (text === lastText) known = { text, codes: [...Buffer.from(text)] };
  lastText = text;
}

function isBlank(code: number | undefined): boolean {
  return code !== undefined && code <= SPACE;
}
