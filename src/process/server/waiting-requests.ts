import { type ErrorCode, RuntimeError, type RuntimeErrorOptions } from '../../base/errors.ts';
import { type DeadlineList, Limit } from '../../base/time/deadline-list.ts';
import { attachUnusableLine } from '../../contract/exchange.ts';
import type { OnProgress, Progress } from '../../contract/progress.ts';
import type { Ending, RpcReply } from '../transport.ts';

/**
 * A request from its start to its end. It is also its line in the outbox and its place in a list of limits, because a
 * fast server answers so many requests that each further object costs.
 */
export class WaitingRequest extends Limit {
  readonly id: number;
  readonly onProgress: OnProgress | undefined;
  /** The unwritten line, with its newline. */
  text = '';
  readonly onWritten = undefined;
  /** How many requests the server had answered when this one was sent. */
  answeredBefore = 0;
  /** The server has written lines that are not JSON-RPC since the request; one may be the intended reply. */
  hasNoise = false;
  limitedBy: DeadlineList<WaitingRequest> | undefined;
  forgetSignal: (() => void) | undefined;
  #settling: Settling | undefined;

  constructor(id: number, settling: Settling, onProgress: OnProgress | undefined) {
    super();
    this.id = id;
    this.onProgress = onProgress;
    this.#settling = settling;
  }

  resolve(reply: RpcReply): void {
    this.#settle(({ ending }) => ending.onReply(reply));
  }

  reject(error: RuntimeError): void {
    this.#settle(({ ending }) => ending.onError(error));
  }

  /** Releases what only a waiting request needs, since a table may hold the request longer. */
  #settle(make: (settling: Settling) => unknown): void {
    const settling = this.#settling;
    if (settling === undefined) return;
    this.#settling = undefined;
    this.limitedBy?.clear(this);
    this.forgetSignal?.();
    try {
      settling.resolve(make(settling));
    } catch (thrown) {
      settling.reject(thrown);
    }
  }
}

interface Settling {
  readonly ending: Ending<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface BegunRequest<Result> {
  readonly waiting: WaitingRequest;
  /** Rejects with what the ending throws. */
  readonly outcome: Promise<Result>;
}

export interface FailureOptions extends RuntimeErrorOptions {
  readonly unusableLine?: Uint8Array;
}

export class WaitingRequests {
  readonly #name: string;
  readonly #waiting = new Map<number, WaitingRequest>();
  readonly #abandoned = createAbandonedRequests();
  #lastId = 0;
  answered = 0;

  constructor(name: string) {
    this.#name = name;
  }

  ids(): number[] {
    return [...this.#waiting.keys()];
  }

  /** The only request that a reply without an id can belong to; undefined if it is ambiguous. */
  onlyId(): number | undefined {
    const [only] = this.#waiting.keys();
    return this.#waiting.size === 1 && this.#abandoned.isEmpty ? only : undefined;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add<Result>(ending: Ending<Result>, onProgress?: OnProgress): BegunRequest<Result> {
    this.#lastId += 1;
    const { promise: outcome, resolve, reject } = Promise.withResolvers<Result>();
    const settling: Settling = { ending, resolve, reject };
    const waiting = new WaitingRequest(this.#lastId, settling, onProgress);
    waiting.answeredBefore = this.answered;
    this.#waiting.set(waiting.id, waiting);
    return { waiting, outcome };
  }

  answer(id: number, reply: RpcReply): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return false;
    this.#waiting.delete(id);
    this.answered += 1;
    waiting.resolve(reply);
    return true;
  }

  /** Returns false if the request no longer waits. */
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

  abandon(id: number): void {
    if (this.#waiting.delete(id)) this.#abandoned.add(id);
  }

  /** Returns false if no such request waits for progress. */
  report(id: number, progress: Progress): boolean {
    const { onProgress } = this.#waiting.get(id) ?? {};
    onProgress?.(progress);
    return onProgress !== undefined;
  }

  noteNoise(): void {
    for (const waiting of this.#waiting.values()) waiting.hasNoise = true;
  }

  describeUnexpected(id: number): { readonly what: 'late reply' | 'unknown reply'; readonly detail: string } {
    if (this.#abandoned.take(id)) {
      return { what: 'late reply', detail: `the reply to request ${id} came after the timeout` };
    }
    return id >= 1 && id <= this.#lastId
      ? { what: 'late reply', detail: `no call waits for a reply to request ${id} any more` }
      : { what: 'unknown reply', detail: `there never was a request ${id}` };
  }
}

interface AbandonedRequests {
  readonly isEmpty: boolean;
  add(id: number): void;
  take(id: number): boolean;
}

/** A forgotten id counts as unanswered, so that a reply without an id never matches another request. */
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
