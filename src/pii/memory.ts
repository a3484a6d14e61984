import { createHmac } from 'node:crypto';
import type { Ledger, Mention } from './ledger.ts';

/** Something that knows what pseudonyms stand for. */
export interface Revealer {
  /** The value; undefined when the pseudonym is unknown, or stands for several. */
  reveal(mention: Pick<Mention, 'name' | 'number'>): string | undefined;
}

export interface MemoryLimits {
  /** How many conversations, and how many sessions, are remembered; the least recently used go first. */
  readonly most: number;
  /** What has not been used for so long is forgotten, in ms. */
  readonly idleMs: number;
}

/**
 * What pseudonyms stood for, for the way back; in memory only. A conversation is known again by a mark in its
 * messages, a session by its id.
 */
export class Memory {
  readonly #marks: Shelf<Revealer>;
  readonly #sessions: Shelf<SessionValues>;
  readonly #key: Uint8Array;

  constructor(key: Uint8Array, limits: MemoryLimits) {
    this.#key = key;
    this.#marks = new Shelf(limits);
    this.#sessions = new Shelf(limits);
  }

  /** Keeps the values of a conversation; the mark names exactly these values, and tells nothing about them. */
  keep(ledger: Ledger, session: string | undefined, now: number): string {
    const mark = this.#markOf(ledger);
    this.#marks.set(mark, ledger, now);
    if (session !== undefined) {
      const values = this.#sessions.get(session, now) ?? new SessionValues();
      values.add(ledger);
      this.#sessions.set(session, values, now);
    }
    return mark;
  }

  conversation(mark: string, now: number): Revealer | undefined {
    return this.#marks.get(mark, now);
  }

  session(id: string, now: number): Revealer | undefined {
    return this.#sessions.get(id, now);
  }

  /** Forgets what has been idle for too long. */
  sweep(now: number): void {
    for (const shelf of [this.#marks, this.#sessions]) shelf.sweep(now);
  }

  #markOf(ledger: Ledger): string {
    const hmac = createHmac('sha256', this.#key).update('conversation\0');
    for (const [pseudonym, value] of ledger.entries()) {
      hmac.update(`${pseudonym} ${value.length} ${value}`);
    }
    return hmac.digest('hex').slice(0, 32);
  }
}

/** The values of all conversations of one session; a pseudonym that stood for two values stands for none. */
class SessionValues implements Revealer {
  readonly #values = new Map<string, string | undefined>();

  add(ledger: Ledger): void {
    for (const [pseudonym, value] of ledger.entries()) {
      const known = this.#values.get(pseudonym);
      const isNew = !this.#values.has(pseudonym) && this.#values.size < mostValues;
      if (isNew) this.#values.set(pseudonym, value);
      else if (known !== value) this.#values.set(pseudonym, undefined);
    }
  }

  reveal({ name, number }: Pick<Mention, 'name' | 'number'>): string | undefined {
    return this.#values.get(`${name} ${number}`);
  }
}

const mostValues = 10_000;

/** A map that keeps what was used last. */
class Shelf<Value> {
  readonly #limits: MemoryLimits;
  readonly #entries = new Map<string, { readonly value: Value; readonly usedAt: number }>();

  constructor(limits: MemoryLimits) {
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
      if (this.#entries.size <= this.#limits.most) break;
      this.#entries.delete(oldest);
    }
  }

  sweep(now: number): void {
    for (const [key, { usedAt }] of this.#entries) {
      if (now - usedAt > this.#limits.idleMs) this.#entries.delete(key);
    }
  }
}
