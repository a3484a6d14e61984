import { attachUnusableLine } from '../../contract/unusable-line.ts';
import { type ErrorCode, RuntimeError, type RuntimeErrorOptions } from '../../errors.ts';
import type { RpcReply } from '../transport.ts';
import { createAbandonedRequests } from './abandoned-requests.ts';

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

interface WaitingRequest {
  readonly resolve: (reply: RpcReply) => void;
  readonly reject: (error: RuntimeError) => void;
  hasNoise: boolean;
}

export interface FailureOptions extends RuntimeErrorOptions {
  /** The line that was meant as the reply but cannot be used. */
  readonly unusableLine?: Uint8Array;
}

/** The requests to one life of a server that wait for replies, by id: integers from 1, never reused. */
export class WaitingRequests {
  readonly #name: string;
  readonly #waiting = new Map<number, WaitingRequest>();
  readonly #abandoned = createAbandonedRequests();
  #lastId = 0;

  constructor(name: string) {
    this.#name = name;
  }

  ids(): number[] {
    return [...this.#waiting.keys()];
  }

  /** The id of the only request that a reply without an id can be meant for; undefined where others could be. */
  onlyId(): number | undefined {
    const [only] = this.#waiting.keys();
    return this.#waiting.size === 1 && this.#abandoned.isEmpty ? only : undefined;
  }

  add(): PendingReply {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise: reply, resolve, reject } = Promise.withResolvers<RpcReply>();
    // An abandoned request has no listener any more; its rejection must not count as unhandled.
    reply.catch(() => {});
    const waiting: WaitingRequest = { resolve, reject, hasNoise: false };
    this.#waiting.set(id, waiting);
    return { id, reply, hasNoise: () => waiting.hasNoise };
  }

  /** Answers the request; false when nobody waits for it. */
  answer(id: number, reply: RpcReply): boolean {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.resolve(reply);
    return waiting !== undefined;
  }

  /** Fails the request; false when nobody waits for it. */
  fail(id: number, code: ErrorCode, why: string, options: FailureOptions = {}): boolean {
    const { unusableLine, ...rest } = options;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    const error = new RuntimeError(code, `"${this.#name}": ${why}`, rest);
    waiting?.reject(unusableLine === undefined ? error : attachUnusableLine(error, unusableLine));
    return waiting !== undefined;
  }

  failAll(error: RuntimeError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  /** Stops waiting: a late reply is dropped. */
  abandon(id: number): void {
    if (this.#waiting.delete(id)) this.#abandoned.add(id);
  }

  noteNoise(): void {
    for (const waiting of this.#waiting.values()) waiting.hasNoise = true;
  }

  /** What is dropped with a reply to that id, for which nobody waits. */
  describeUnexpected(id: number): { readonly what: 'late reply' | 'unknown reply'; readonly detail: string } {
    if (this.#abandoned.take(id)) {
      return { what: 'late reply', detail: `the reply to request ${id} came after its time` };
    }
    return id >= 1 && id <= this.#lastId
      ? { what: 'late reply', detail: `nobody waits for a reply to request ${id} any more` }
      : { what: 'unknown reply', detail: `there never was a request ${id}` };
  }
}
