import { type ErrorCode, RuntimeError, type RuntimeErrorOptions } from '../../base/errors.ts';
import { attachUnusableLine } from '../../contract/exchange.ts';
import type { RpcReply } from '../transport.ts';

export class WaitingRequest {
  readonly id: number;
  /** The server wrote lines that are no JSON-RPC since the request; one may have been meant as the reply. */
  hasNoise = false;
  #settling: Settling | undefined;

  constructor(id: number, settling: Settling) {
    this.id = id;
    this.#settling = settling;
  }

  /** Calls back once when nobody waits any more. */
  whenSettled(onSettled: () => void): void {
    if (this.#settling !== undefined) this.#settling.onSettled = onSettled;
  }

  resolve(reply: RpcReply): void {
    this.#settle()?.resolve(reply);
  }

  reject(error: RuntimeError): void {
    this.#settle()?.reject(error);
  }

  /** Lets go of what only a request that waits needs: a table that was outgrown may hold on to the request for a while. */
  #settle(): Settling | undefined {
    const settling = this.#settling;
    this.#settling = undefined;
    settling?.onSettled?.();
    return settling;
  }
}

interface Settling {
  readonly resolve: (reply: RpcReply) => void;
  readonly reject: (error: RuntimeError) => void;
  onSettled: (() => void) | undefined;
}

export interface BegunRequest {
  readonly waiting: WaitingRequest;
  /** Rejects with REPLY_MALFORMED, OUTPUT_LIMIT, or what the request is failed with. */
  readonly reply: Promise<RpcReply>;
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
  /** How many replies have come to requests that waited. */
  answered = 0;

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

  /** How many requests wait. */
  get size(): number {
    return this.#waiting.size;
  }

  add(): BegunRequest {
    this.#lastId += 1;
    const { promise: reply, resolve, reject } = Promise.withResolvers<RpcReply>();
    const waiting = new WaitingRequest(this.#lastId, { resolve, reject, onSettled: undefined });
    this.#waiting.set(waiting.id, waiting);
    return { waiting, reply };
  }

  /** Answers the request; false when nobody waits for it. */
  answer(id: number, reply: RpcReply): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return false;
    this.#waiting.delete(id);
    this.answered += 1;
    waiting.resolve(reply);
    return true;
  }

  /** Fails the request; false when nobody waits for it. */
  fail(id: number, code: ErrorCode, why: string, options: FailureOptions = {}): boolean {
    const { unusableLine, ...rest } = options;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return false;
    this.#waiting.delete(id);
    this.answered += 1;
    const error = new RuntimeError(code, `"${this.#name}": ${why}`, rest);
    waiting.reject(unusableLine === undefined ? error : attachUnusableLine(error, unusableLine));
    return true;
  }

  failAll(error: RuntimeError): void {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const waiting of all) waiting.reject(error);
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

/** Ids of requests that were abandoned unanswered, so that a late reply is recognised as such. */
interface AbandonedRequests {
  /** Whether no abandoned request can still be answered. */
  readonly isEmpty: boolean;
  add(id: number): void;
  /** Removes the id; returns whether it was there. */
  take(id: number): boolean;
}

/**
 * Remembers the last `capacity` ids. An older one counts as unanswered for good, so that a reply without an
 * id is never taken for that of another request.
 */
function createAbandonedRequests(capacity = 1000): AbandonedRequests {
  const ids = new Set<number>();
  let overflowed = false;
  return {
    get isEmpty() {
      return ids.size === 0 && !overflowed;
    },
    add: (id) => {
      ids.add(id);
      if (ids.size <= capacity) return;
      const [oldest] = ids;
      if (oldest !== undefined) ids.delete(oldest);
      overflowed = true;
    },
    take: (id) => ids.delete(id),
  };
}
