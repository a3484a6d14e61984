import type { Binding } from '../../binding/binding.ts';
import type { Emit } from '../../contract/event.ts';
import { noopScrubber, type Scrubber } from '../../contract/scrub.ts';
import { attachUnusableLine } from '../../contract/unusable-line.ts';
import { type ErrorCode, RuntimeError, type RuntimeErrorOptions } from '../../errors.ts';
import type { LineListener } from '../stream-reader.ts';
import type { RpcReply } from '../transport.ts';
import { createAbandonedRequests } from './abandoned-requests.ts';
import { readLine, type ServerLine } from './json-rpc.ts';
import { findRequestId } from './request-id.ts';

/** A request whose reply is awaited. */
export interface PendingReply {
  readonly id: number;
  /** Rejects with REPLY_MALFORMED, OUTPUT_LIMIT, or what `failAll` was given. */
  readonly reply: Promise<RpcReply>;
  /**
   * Whether the server wrote lines that are no JSON-RPC since the request; one may have been meant as the
   * reply.
   */
  readonly hasNoise: () => boolean;
}

interface PendingRequest {
  readonly resolve: (reply: RpcReply) => void;
  readonly reject: (error: RuntimeError) => void;
  hasNoise: boolean;
}

export interface InboxOptions {
  /** Called for every usable reply. */
  readonly onGoodReply: () => void;
  /**
   * Whether a reply without an id may answer a notification, so that it is not taken for that of a request.
   */
  readonly mayAnswerNotifications: boolean;
}

interface FailureOptions extends RuntimeErrorOptions {
  /** The line that was meant as the reply but cannot be used. */
  readonly unusableLine?: Uint8Array;
}

/** The requests of one life of a server that wait for replies, matched by id: integers from 1, never reused. */
export class Inbox implements LineListener {
  readonly #name: string;
  readonly #maxBytes: number;
  readonly #emit: Emit;
  readonly #rules: InboxOptions;
  readonly #scrubber: Scrubber;
  readonly #waiting = new Map<number, PendingRequest>();
  readonly #forgotten = createAbandonedRequests();
  #lastId = 0;
  #warnedVersion = false;
  #atStart = true;

  constructor(binding: Binding, emit: Emit, rules: InboxOptions, scrubber: Scrubber = noopScrubber) {
    this.#name = binding.name;
    this.#maxBytes = binding.maxOutputBytes;
    this.#emit = emit;
    this.#rules = rules;
    this.#scrubber = scrubber;
  }

  expectReply(): PendingReply {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise: reply, resolve, reject } = Promise.withResolvers<RpcReply>();
    // An abandoned request has no listener any more; its rejection must not count as unhandled.
    reply.catch(() => {});
    const waiting: PendingRequest = { resolve, reject, hasNoise: false };
    this.#waiting.set(id, waiting);
    return { id, reply, hasNoise: () => waiting.hasNoise };
  }

  /** Stops waiting: a late reply is dropped. */
  abandon(id: number): void {
    if (this.#waiting.delete(id)) this.#forgotten.add(id);
  }

  failAll(error: RuntimeError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  onLine(bytes: Uint8Array): void {
    // A byte order mark at the start of the stream is no part of the first line.
    const line = this.#atStart ? withoutByteOrderMark(bytes) : bytes;
    this.#atStart = false;
    this.#take(readLine(line), line);
  }

  /** The line without secrets; taken before an excerpt of it is cut. */
  #clean(bytes: Uint8Array): Uint8Array {
    const text = Buffer.from(bytes).toString();
    const shown = this.#scrubber.text(text);
    return shown === text ? bytes : Buffer.from(shown);
  }

  #words(line: Malformed, bytes: Uint8Array): Malformed {
    const clean = this.#clean(bytes);
    if (clean === bytes) return line;
    const again = readLine(clean);
    const { why, text } = again.kind === 'malformed' ? again : { why: this.#scrubber.text(line.why) };
    return {
      kind: line.kind,
      id: line.id,
      why,
      ...(line.hint && { hint: line.hint }),
      ...(text !== undefined && { text }),
      ...(line.problem && { problem: line.problem }),
    };
  }

  onLongLine(prefix: Uint8Array): void {
    this.#atStart = false;
    const why = `a reply is longer than ${this.#maxBytes} bytes`;
    const id = findRequestId(prefix);
    if (id !== undefined) this.#failOrDrop(id, 'OUTPUT_LIMIT', why);
    else for (const each of [...this.#waiting.keys()]) this.#fail(each, 'OUTPUT_LIMIT', why);
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
        const again = readLine(this.#clean(bytes));
        const method = again.kind === 'request' ? again.method : 'a method';
        this.#drop('server request', `nothing here answers ${method}`);
        break;
      }
      case 'anonymous':
        this.#takeAnonymous(bytes);
        break;
      case 'malformed': {
        const scrubbed = this.#words(line, bytes);
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

  #answer(line: Extract<ServerLine, { kind: 'reply' }>): void {
    const waiting = this.#waiting.get(line.id);
    if (waiting === undefined) {
      this.#dropUnexpected(line.id);
      return;
    }
    this.#waiting.delete(line.id);
    if (!line.versioned) this.#warnOfVersion();
    this.#rules.onGoodReply();
    const { result, error, ignoredResult } = line;
    const content =
      error === undefined ? result && { result } : { error, ...(ignoredResult && { ignoredResult }) };
    waiting.resolve({ via: 'rpc', ...content });
  }

  #takeAnonymous(bytes: Uint8Array): void {
    const [only] = this.#waiting.keys();
    const isReply = !this.#rules.mayAnswerNotifications;
    const isUnambiguous =
      isReply && this.#waiting.size === 1 && this.#forgotten.isEmpty && only !== undefined;
    const hint =
      'Send the id of the request back. A script that knows of no ids serves one call: it takes no `runtime: server`.';
    if (isUnambiguous) this.#fail(only, 'REPLY_MALFORMED', 'the reply has no id', { hint });
    else this.#noise('a reply without an id', bytes);
  }

  #refuseBatch(ids: readonly number[], bytes: Uint8Array): void {
    const why = 'batches of replies are not read';
    const failed = ids.filter((id) =>
      this.#fail(id, 'REPLY_MALFORMED', why, { details: { problem: 'batch' }, unusableLine: bytes }),
    );
    if (failed.length === 0) this.#noise('a JSON array', bytes);
  }

  #fail(
    id: number,
    code: ErrorCode,
    why: string,
    { unusableLine, ...options }: FailureOptions = {},
  ): boolean {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    const error = new RuntimeError(code, `"${this.#name}": ${why}`, options);
    waiting?.reject(unusableLine === undefined ? error : attachUnusableLine(error, unusableLine));
    return waiting !== undefined;
  }

  #failOrDrop(id: number, code: ErrorCode, why: string, options?: FailureOptions): void {
    if (!this.#fail(id, code, why, options)) this.#dropUnexpected(id);
  }

  #dropUnexpected(id: number): void {
    if (this.#forgotten.take(id)) {
      this.#drop('late reply', `the reply to request ${id} came after its time`);
    } else if (id >= 1 && id <= this.#lastId) {
      this.#drop('late reply', `nobody waits for a reply to request ${id} any more`);
    } else this.#drop('unknown reply', `there never was a request ${id}`);
  }

  #noise(why: string, bytes: Uint8Array): void {
    for (const waiting of this.#waiting.values()) waiting.hasNoise = true;
    this.#drop('noise', `${why}: ${Buffer.from(this.#clean(bytes)).toString('utf8', 0, 200)}`);
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

type Malformed = Extract<ServerLine, { kind: 'malformed' }>;

function optionsOf({ hint, text, problem }: Malformed): RuntimeErrorOptions {
  return { hint, details: { ...(text !== undefined && { text }), ...(problem && { problem }) } };
}

function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
