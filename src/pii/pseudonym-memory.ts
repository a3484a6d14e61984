import { createHmac } from 'node:crypto';
import type { PseudonymMention, Pseudonyms } from './pseudonyms.ts';

/** Resolves pseudonyms to their values. */
export interface PseudonymResolver {
  /** The value; undefined when the pseudonym is unknown, or stands for several. */
  reveal(mention: Pick<PseudonymMention, 'name' | 'number'>): string | undefined;
}

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
  readonly #marks: LruMap<PseudonymResolver>;
  readonly #sessions: LruMap<SessionValues>;
  readonly #key: Uint8Array;

  constructor(key: Uint8Array, limits: PseudonymMemoryLimits) {
    this.#key = key;
    this.#marks = new LruMap(limits);
    this.#sessions = new LruMap(limits);
  }

  /**
   * Stores the values of a conversation; returns its mark, a keyed hash that identifies and does not reveal
   * them.
   */
  keep(pseudonyms: Pseudonyms, session: string | undefined, now: number): string {
    const mark = this.#markOf(pseudonyms);
    this.#marks.set(mark, pseudonyms, now);
    if (session !== undefined) {
      const values = this.#sessions.get(session, now) ?? new SessionValues();
      values.add(pseudonyms);
      this.#sessions.set(session, values, now);
    }
    return mark;
  }

  conversation(mark: string, now: number): PseudonymResolver | undefined {
    return this.#marks.get(mark, now);
  }

  session(id: string, now: number): PseudonymResolver | undefined {
    return this.#sessions.get(id, now);
  }

  /** Forgets what has been idle for too long. */
  sweep(now: number): void {
    for (const map of [this.#marks, this.#sessions]) map.sweep(now);
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

/** A map that drops the least recently used entries beyond a count and an age. */
class LruMap<Value> {
  readonly #limits: PseudonymMemoryLimits;
  readonly #entries = new Map<string, { readonly value: Value; readonly usedAt: number }>();

  constructor(limits: PseudonymMemoryLimits) {
    this.#limits = limits;
  }

  get(key: string, now: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (now - entry.usedAt > this.#limits.idleMs) return undefined;
    this.#entries.set(key, { value: entry.value, usedAt: now });
    return entry.value;
  }

  set(key: string, value: Value, now: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, usedAt: now });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limits.maxEntries) break;
      this.#entries.delete(oldest);
    }
  }

  sweep(now: number): void {
    for (const [key, { usedAt }] of this.#entries) {
      if (now - usedAt > this.#limits.idleMs) this.#entries.delete(key);
    }
  }
}
