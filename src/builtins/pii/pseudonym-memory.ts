import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PseudonymMention, PseudonymResolver, Pseudonyms } from './pseudonyms.ts';
import type { SealedMarks } from './sealed-mark.ts';

export interface PseudonymMemoryLimits {
  /** How many conversations, and how many sessions, are remembered; the least recently used go first. */
  readonly maxEntries: number;
  /** Entries that have not been used for this long are removed; ms. */
  readonly idleMs: number;
}

/**
 * Remembers the values of pseudonyms, in memory only, so that they can be restored. A conversation is
 * identified by a mark in its messages, a session by its id.
 */
export class PseudonymMemory {
  readonly #marks: LRUCache<string, PseudonymResolver>;
  readonly #sessions: LRUCache<string, SessionValues>;
  readonly #key: Uint8Array;
  readonly #sealed: SealedMarks | undefined;
  /** The time that the caller has given, for both caches. */
  #now = 0;

  /** `sealed`: writes marks that other processes can read; undefined: only this memory knows the values. */
  constructor(
    key: Uint8Array,
    { maxEntries: max, idleMs: ttl }: PseudonymMemoryLimits,
    sealed?: SealedMarks,
  ) {
    this.#key = key;
    this.#sealed = sealed;
    // An entry of time 0 would never expire.
    const perf = { now: () => this.#now + 1 };
    const options = { max, ttl, perf, ttlResolution: 0, updateAgeOnGet: true };
    this.#marks = new LRUCache(options);
    this.#sessions = new LRUCache(options);
  }

  /**
   * Stores the values of a conversation; returns its mark, which identifies them and reveals them to nobody without
   * the key.
   */
  keep(pseudonyms: Pseudonyms, session: string | undefined, now: number): string {
    this.#now = now;
    const mark = this.#sealed?.seal(pseudonyms) ?? this.#markOf(pseudonyms);
    this.#marks.set(mark, pseudonyms);
    if (session !== undefined) {
      const values = this.#sessions.get(session) ?? new SessionValues();
      values.add(pseudonyms);
      this.#sessions.set(session, values);
    }
    return mark;
  }

  conversation(mark: string, now: number): PseudonymResolver | undefined {
    this.#now = now;
    return this.#marks.get(mark) ?? this.#sealed?.open(mark);
  }

  session(id: string, now: number): PseudonymResolver | undefined {
    this.#now = now;
    return this.#sessions.get(id);
  }

  /** Forgets what has been idle for too long. */
  sweep(now: number): void {
    this.#now = now;
    this.#marks.purgeStale();
    this.#sessions.purgeStale();
  }

  #markOf(pseudonyms: Pseudonyms): string {
    const hmac = createHmac('sha256', this.#key).update('conversation\0');
    for (const [pseudonym, value] of pseudonyms.entries()) {
      hmac.update(`${pseudonym} ${value.length} ${value}`);
    }
    return hmac.digest('hex').slice(0, 32);
  }
}

/** The values of all conversations of one session; a pseudonym with two different values resolves to none. */
class SessionValues implements PseudonymResolver {
  readonly #values = new Map<string, string | undefined>();

  add(pseudonyms: Pseudonyms): void {
    for (const [pseudonym, value] of pseudonyms.entries()) {
      const known = this.#values.get(pseudonym);
      const isNew = !this.#values.has(pseudonym) && this.#values.size < maxValues;
      if (isNew) this.#values.set(pseudonym, value);
      else if (known !== value) this.#values.set(pseudonym, undefined);
    }
  }

  reveal({ name, number }: Pick<PseudonymMention, 'name' | 'number'>): string | undefined {
    return this.#values.get(`${name} ${number}`);
  }
}

const maxValues = 10_000;
