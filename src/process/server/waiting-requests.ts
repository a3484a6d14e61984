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
  onProgress: OnProgress | undefined;
  /** The unwritten line, with its newline. */
  text = '';
  readonly onWritten = undefined;
  /** How many requests the server had answered when this one was sent. */
  answeredBefore = 0;
  /** The server has written lines that are not JSON-RPC since the request; one may be the intended reply. */
  hasNoise = false;
  limitedBy: DeadlineList<WaitingRequest> | undefined;
  forgetSignal: (() => void) | undefined;
  /** Released at the end, since a table may hold the request longer. */
  #ending: Ending | undefined;

  constructor(id: number, ending: Ending) {
    super();
    this.id = id;
    this.#ending = ending;
  }

  resolve(reply: RpcReply): void {
    this.#end()?.onReply(reply);
  }

  reject(error: unknown): void {
    this.#end()?.onError(error);
  }

  #end(): Ending | undefined {
    const ending = this.#ending;
    if (ending === undefined) return undefined;
    this.#ending = undefined;
    try {
      this.limitedBy?.clear(this);
      this.forgetSignal?.();
    } catch (thrown) {
      // Such as an error of the caller's own signal. Nothing else would catch it, and the caller would wait forever.
      ending.onError(thrown);
      return undefined;
    }
    return ending;
  }
}

export interface FailureOptions extends RuntimeErrorOptions {
  readonly unusableLine?: Uint8Array;
}

export class WaitingRequests {
  readonly #name: string;
  readonly #waiting = new RequestTable();
  readonly #abandoned = createAbandonedRequests();
  nextId = 1;
  answered = 0;

  constructor(name: string) {
    this.#name = name;
  }

  ids(): number[] {
    return this.#waiting.all().map(({ id }) => id);
  }

  /** The only request that a reply without an id can belong to; undefined if it is ambiguous. */
  onlyId(): number | undefined {
    return this.#waiting.size === 1 && this.#abandoned.isEmpty ? this.ids()[0] : undefined;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add(ending: Ending, onProgress?: OnProgress): WaitingRequest {
    const waiting = new WaitingRequest(this.nextId, ending);
    this.nextId += 1;
    waiting.onProgress = onProgress;
    waiting.answeredBefore = this.answered;
    this.#waiting.add(waiting);
    return waiting;
  }

  answer(id: number, reply: RpcReply): boolean {
    const waiting = this.#waiting.take(id);
    if (waiting === undefined) return false;
    this.answered += 1;
    waiting.resolve(reply);
    return true;
  }

  /** Returns false if the request no longer waits. */
  fail(id: number, code: ErrorCode, why: string, options: FailureOptions = {}): boolean {
    const { unusableLine, ...rest } = options;
    const waiting = this.#waiting.take(id);
    if (waiting === undefined) return false;
    this.answered += 1;
    const error = new RuntimeError(code, `"${this.#name}": ${why}`, rest);
    waiting.reject(unusableLine === undefined ? error : attachUnusableLine(error, unusableLine));
    return true;
  }

  failAll(error: RuntimeError): void {
    const all = this.#waiting.all();
    for (const { id } of all) this.#waiting.take(id);
    for (const waiting of all) waiting.reject(error);
  }

  abandon(id: number): void {
    if (this.#waiting.take(id) !== undefined) this.#abandoned.add(id);
  }

  /** Returns false if no such request waits for progress. */
  report(id: number, progress: Progress): boolean {
    const { onProgress } = this.#waiting.get(id) ?? {};
    onProgress?.(progress);
    return onProgress !== undefined;
  }

  noteNoise(): void {
    for (const waiting of this.#waiting.all()) waiting.hasNoise = true;
  }

  describeUnexpected(id: number): { readonly what: 'late reply' | 'unknown reply'; readonly detail: string } {
    if (this.#abandoned.take(id)) {
      return { what: 'late reply', detail: `the reply to request ${id} came after the timeout` };
    }
    return id >= 1 && id < this.nextId
      ? { what: 'late reply', detail: `no call waits for a reply to request ${id} any more` }
      : { what: 'unknown reply', detail: `there never was a request ${id}` };
  }
}

/**
 * Requests by id. Ids count up, so a ring finds all but those that outlast RING later ones. A Map would copy its table
 * every few requests, and each old table keeps the next one alive until a full garbage collection.
 */
class RequestTable {
  readonly #ring: (WaitingRequest | undefined)[] = Array.from({ length: RING }, () => undefined);
  readonly #older = new Map<number, WaitingRequest>();
  size = 0;

  add(request: WaitingRequest): void {
    const older = this.#ring[request.id % RING];
    if (older !== undefined) this.#older.set(older.id, older);
    this.#ring[request.id % RING] = request;
    this.size += 1;
  }

  get(id: number): WaitingRequest | undefined {
    const request = this.#ring[id % RING];
    return request?.id === id ? request : this.#older.get(id);
  }

  take(id: number): WaitingRequest | undefined {
    const request = this.get(id);
    if (request === undefined) return undefined;
    if (this.#ring[id % RING] === request) this.#ring[id % RING] = undefined;
    else this.#older.delete(id);
    this.size -= 1;
    return request;
  }

  /** In the order of their ids. */
  all(): readonly WaitingRequest[] {
    const all = [...this.#older.values(), ...this.#ring].filter((request) => request !== undefined);
    return all.sort((one, other) => one.id - other.id);
  }
}

const RING = 256;

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
