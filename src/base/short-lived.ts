/**
 * A map whose entries come and go with each call. V8 links the outgrown table of a Map or Set to its next one. Once one
 * table is old, the collector of young objects therefore keeps every later entry, also after its deletion, until a full
 * collection. A new Map starts without such a link. Do not add entries while you iterate.
 */
export class ShortLivedMap<Key, Value> {
  #entries = new Map<Key, Value>();
  #added = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  set(key: Key, value: Value): void {
    if (this.#added > this.#entries.size + ADDED_BEFORE_COPY) {
      this.#entries = new Map(this.#entries);
      this.#added = 0;
    }
    this.#added += 1;
    this.#entries.set(key, value);
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  keys(): MapIterator<Key> {
    return this.#entries.keys();
  }
}

const ADDED_BEFORE_COPY = 64;
