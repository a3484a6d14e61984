import type { ErrorCode, RuntimeErrorOptions } from '../../base/errors.ts';
import type { Emit } from '../../contract/event.ts';
import { noopScrubber, type Scrubber } from '../../contract/scrub.ts';
import type { Binding } from '../binding.ts';
import type { LineListener } from '../stream-reader.ts';
import type { RpcReply } from '../transport.ts';
import { readLine } from './json-rpc.ts';
import { readPlainReply } from './plain-reply.ts';
import { findRequestId } from './request-id.ts';
import { type Malformed, scrubLine, scrubMalformed } from './scrub-line.ts';
import type { ServerLine } from './server-line.ts';
import { type FailureOptions, WaitingRequests } from './waiting-requests.ts';

export interface InboxOptions {
  /** Called for every usable reply. */
  readonly onGoodReply: () => void;
  /**
   * Whether a reply without an id may answer a notification, so that it is not taken for that of a request.
   */
  readonly mayAnswerNotifications: boolean;
}

/** Reads the lines of one life of a server, and answers the requests that wait for replies with them. */
export class Inbox implements LineListener {
  readonly #name: string;
  readonly #maxBytes: number;
  readonly #emit: Emit;
  readonly #rules: InboxOptions;
  readonly #scrubber: Scrubber;
  /** The requests that these lines may answer. */
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
    // A byte order mark at the start of the stream is no part of the first line.
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
        const again = readLine(scrubLine(bytes, this.#scrubber));
        const method = again.kind === 'request' ? again.method : 'a method';
        this.#drop('server request', `nothing here answers ${method}`);
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

  /** Answers the request; false when nobody waits for it. */
  #settle(id: number, reply: RpcReply): boolean {
    const isAwaited = this.requests.answer(id, reply);
    if (isAwaited) this.#rules.onGoodReply();
    else this.#dropUnexpected(id);
    return isAwaited;
  }

  #takeAnonymous(bytes: Uint8Array): void {
    const only = this.#rules.mayAnswerNotifications ? undefined : this.requests.onlyId();
    const hint =
      'Send the id of the request back. A script that knows of no ids serves one call: it takes no `runtime: server`.';
    if (only === undefined) this.#noise('a reply without an id', bytes);
    else this.requests.fail(only, 'REPLY_MALFORMED', 'the reply has no id', { hint });
  }

  #refuseBatch(ids: readonly number[], bytes: Uint8Array): void {
    const why = 'batches of replies are not read';
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
