import { isObject } from '../json/json.ts';
import type { Path } from './document.ts';
import type { Problem, SourceLocation } from './problem.ts';
import { describePath } from './schema-path.ts';

/** Where the members of a file stand, and where to say what becomes of them. */
export interface SourcePlace {
  /** Where the key, or the item of a list, stands. */
  readonly keyPositionOf: (path: Path) => SourceLocation;
  readonly add: (severity: Problem['severity'], at: SourceLocation, message: string, hint?: string) => void;
}

/**
 * A value of a file of another system. What it holds can be had only by the functions that take it, and whatever no reader has
 * taken is reported by `reportUntaken`: a key that nobody reads, and a value of a type that nobody reads.
 */
export class Source {
  readonly path: Path;
  readonly #value: unknown;
  readonly #place: SourcePlace;
  readonly #children = new Map<string | number, Source>();
  /** `open`: a mapping or list whose members are taken one by one. */
  #state: 'untaken' | 'open' | 'taken' = 'untaken';

  constructor(value: unknown, place: SourcePlace, path: Path = []) {
    this.#value = value;
    this.#place = place;
    this.path = path;
  }

  get location(): SourceLocation {
    return this.locationOf([]);
  }

  /** Where something in it stands. */
  locationOf(inside: Path): SourceLocation {
    return this.#place.keyPositionOf([...this.path, ...inside]);
  }

  /** What it is, without taking it; `none` also stands for null. */
  get kind(): 'none' | 'text' | 'number' | 'boolean' | 'list' | 'mapping' {
    const value = this.#value;
    if (value === undefined || value === null) return 'none';
    if (Array.isArray(value)) return 'list';
    if (typeof value === 'string') return 'text';
    if (typeof value === 'number' || typeof value === 'bigint') return 'number';
    return typeof value === 'boolean' ? 'boolean' : 'mapping';
  }

  get isGiven(): boolean {
    return this.kind !== 'none';
  }

  /** A member, which need not be there. */
  at(key: string | number): Source {
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    const child = new Source(memberOf(this.#value, key), this.#place, [...this.path, key]);
    this.#children.set(key, child);
    if (this.#state === 'taken') child.#state = 'taken';
    else if (child.isGiven || (this.kind === 'mapping' && this.keys().length === 0)) this.#state = 'open';
    return child;
  }

  /** The names of the members of a mapping; none of them is taken. */
  keys(): readonly string[] {
    return isObject(this.#value) ? Object.keys(this.#value) : [];
  }

  text(): string | undefined {
    return typeof this.#value === 'string' ? this.#taken(this.#value) : undefined;
  }

  number(): number | undefined {
    return typeof this.#value === 'number' ? this.#taken(this.#value) : undefined;
  }

  boolean(): boolean | undefined {
    return typeof this.#value === 'boolean' ? this.#taken(this.#value) : undefined;
  }

  /** A text, or the spelling of a number or boolean. */
  scalar(): string | undefined {
    const isScalar = this.kind === 'text' || this.kind === 'number' || this.kind === 'boolean';
    return isScalar ? this.#taken(String(this.#value)) : undefined;
  }

  /** The text, if it is one of these words. */
  word<Word extends string>(...words: readonly Word[]): Word | undefined {
    const found = words.find((word) => word === this.#value);
    return found === undefined ? undefined : this.#taken(found);
  }

  /** The items of a list, each to be taken by itself; none of what is no list. */
  items(): readonly Source[] {
    if (!Array.isArray(this.#value)) return [];
    if (this.#state === 'untaken') this.#state = 'open';
    return this.#value.map((_, index) => this.at(index));
  }

  /** The members of a mapping, each to be taken by itself. */
  members(): readonly (readonly [string, Source])[] {
    if (isObject(this.#value) && this.#state === 'untaken') this.#state = 'open';
    return this.keys().map((key) => [key, this.at(key)]);
  }

  /** Everything in it, for a reader that carries all of it. */
  whole(): unknown {
    return this.#taken(this.#value);
  }

  /** A mapping as a whole; undefined, and not taken, for anything else. */
  mapping(): Readonly<Record<string, unknown>> | undefined {
    return isObject(this.#value) ? this.#taken(this.#value) : undefined;
  }

  /** A list of texts; undefined, and not taken, for anything else. */
  texts(): readonly string[] | undefined {
    const value: unknown = this.#value;
    if (!Array.isArray(value)) return undefined;
    const texts = value.filter((each) => typeof each === 'string');
    return texts.length === value.length ? this.#taken(texts) : undefined;
  }

  /** Says what becomes of it. */
  note(severity: Problem['severity'], message: string, hint?: string): void {
    this.#place.add(severity, this.location, message, hint);
  }

  /** Says that it, with everything in it, is left out, and why. */
  leave(message: string, hint?: string, severity: Problem['severity'] = 'error'): void {
    this.note(severity, message, hint);
    this.#state = 'taken';
  }

  /** Reports whatever is in it and was not taken. */
  reportUntaken(severity: Problem['severity'] = 'error'): void {
    for (const each of this.untaken())
      each.leave(`\`${describePath(each.path, {})}\` is not carried`, undefined, severity);
  }

  /** What was not taken, outermost first; nothing of what is not there. */
  untaken(): readonly Source[] {
    if (this.#state === 'taken' || !this.isGiven) return [];
    if (this.#state === 'untaken') return [this];
    const keys = Array.isArray(this.#value) ? [...this.#value.keys()] : this.keys();
    return keys.flatMap((key) => this.at(key).untaken());
  }

  #taken<Value>(value: Value): Value {
    this.#state = 'taken';
    return value;
  }
}

function memberOf(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return typeof key === 'number' ? value[key] : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
