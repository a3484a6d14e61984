import { crc32 } from 'node:zlib';
import { isTextTooDeep, MAX_JSON_DEPTH } from '../base/json/depth.ts';
import type { LongText } from '../base/json/parted.ts';

/** The place of a long text: the step that had it first, and its number there. */
export interface TextPlace {
  readonly runId: string;
  readonly step: string;
  readonly number: number;
}

export interface TextMeasure {
  readonly length: number;
  readonly hash: number;
}

export function measureText(text: string): TextMeasure {
  return { length: text.length, hash: crc32(text) };
}

export class KeptText implements LongText {
  readonly place: TextPlace;
  readonly length: number;
  readonly hash: number;
  #text: string | undefined;
  #isPromised = false;
  readonly #load: () => string;
  #cached: WeakRef<{ readonly text: string }> | undefined;

  /** `text`: the text if it is not stored yet. `load` throws STORE_FAILED. */
  constructor(place: TextPlace, { length, hash }: TextMeasure, load: () => string, text?: string) {
    this.place = place;
    this.length = length;
    this.hash = hash;
    this.#load = load;
    this.#text = text;
  }

  /** Whether no record that is being stored has it, so that it may be omitted. */
  get isLoose(): boolean {
    return this.#text !== undefined && !this.#isPromised;
  }

  /** Marks it as part of a change that is written before all later changes of the run. */
  promise(): void {
    this.#isPromised = true;
  }

  /** It is on the disk, so memory need not hold it. */
  release(): void {
    this.#text = undefined;
  }

  read(): string {
    const known = this.#text ?? this.#cached?.deref()?.text;
    if (known !== undefined) return known;
    const holder = { text: this.#load() };
    this.#cached = new WeakRef(holder);
    return holder.text;
  }

  isDeeperThan(levels: number): boolean {
    return isTextTooDeep(this.read(), MAX_JSON_DEPTH - levels);
  }
}

export class QuotedText implements LongText {
  readonly kept: KeptText;

  constructor(kept: KeptText) {
    this.kept = kept;
  }

  read(): string {
    return JSON.stringify(this.kept.read());
  }

  isDeeperThan(): boolean {
    return false;
  }
}
