import { isObject } from '../json/json.ts';
import type { Path } from './document.ts';
import type { Problem, SourceLocation } from './problem.ts';
import { describePath } from './schema-path.ts';

export interface SourcePlace {
  readonly keyPositionOf: (path: Path) => SourceLocation;
  readonly add: (severity: Problem['severity'], at: SourceLocation, message: string, hint?: string) => void;
}

/**
 * A value of another system's file. Methods that return its content mark that content as taken. `reportUntaken` reports
 * the rest: keys and value types that no reader handles.
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

  locationOf(inside: Path): SourceLocation {
    return this.#place.keyPositionOf([...this.path, ...inside]);
  }

  /** Does not take the value; `none` includes null. */
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

  at(key: string | number): Source {
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    const child = new Source(memberOf(this.#value, key), this.#place, [...this.path, key]);
    this.#children.set(key, child);
    if (this.#state === 'taken') child.#state = 'taken';
    else if (child.isGiven || (this.kind === 'mapping' && this.keys().length === 0)) this.#state = 'open';
    return child;
  }

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

  scalar(): string | undefined {
    const isScalar = this.kind === 'text' || this.kind === 'number' || this.kind === 'boolean';
    return isScalar ? this.#taken(String(this.#value)) : undefined;
  }

  word<Word extends string>(...words: readonly Word[]): Word | undefined {
    const found = words.find((word) => word === this.#value);
    return found === undefined ? undefined : this.#taken(found);
  }

  /** List items, to be taken individually; empty if the value is not a list. */
  items(): readonly Source[] {
    if (!Array.isArray(this.#value)) return [];
    if (this.#state === 'untaken') this.#state = 'open';
    return this.#value.map((_, index) => this.at(index));
  }

  /** Members of a mapping, to be taken individually. */
  members(): readonly (readonly [string, Source])[] {
    if (isObject(this.#value) && this.#state === 'untaken') this.#state = 'open';
    return this.keys().map((key) => [key, this.at(key)]);
  }

  whole(): unknown {
    return this.#taken(this.#value);
  }

  /** Takes a whole mapping. Returns undefined, and takes nothing, for any other value. */
  mapping(): Readonly<Record<string, unknown>> | undefined {
    return isObject(this.#value) ? this.#taken(this.#value) : undefined;
  }

  /** Takes a list of texts. Returns undefined, and takes nothing, for any other value. */
  texts(): readonly string[] | undefined {
    const value: unknown = this.#value;
    if (!Array.isArray(value)) return undefined;
    const texts = value.filter((each) => typeof each === 'string');
    return texts.length === value.length ? this.#taken(texts) : undefined;
  }

  note(severity: Problem['severity'], message: string, hint?: string): void {
    this.#place.add(severity, this.location, message, hint);
  }

  leave(message: string, hint?: string, severity: Problem['severity'] = 'error'): void {
    this.note(severity, message, hint);
    this.#state = 'taken';
  }

  reportUntaken(severity: Problem['severity'] = 'error'): void {
    for (const each of this.untaken())
      each.leave(`\`${describePath(each.path, {})}\` is left out`, undefined, severity);
  }

  /** Untaken values, outermost first, without absent ones. */
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
