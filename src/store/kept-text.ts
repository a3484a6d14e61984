import { crc32 } from 'node:zlib';
import { isTextTooDeep, MAX_JSON_DEPTH } from '../base/json/depth.ts';
import type { LongText } from '../base/json/parted.ts';

/** Where a long text of a run is kept: with the step that first had it, by its number there. */
export interface TextPlace {
  readonly runId: string;
  readonly step: string;
  readonly number: number;
}

/** By which equal texts are found: the number of characters, and a checksum. */
export interface TextMeasure {
  readonly length: number;
  readonly hash: number;
}

export function measureText(text: string): TextMeasure {
  return { length: text.length, hash: crc32(text) };
}

/** A long text that a store keeps, or is about to. */
export class KeptText implements LongText {
  readonly place: TextPlace;
  /** Of the text, in characters. */
  readonly length: number;
  readonly hash: number;
  #text: string | undefined;
  #isPromised = false;
  readonly #load: () => string;
  #cached: WeakRef<{ readonly text: string }> | undefined;

  /** `text`: the text of one that is not kept yet. `load` throws STORE_FAILED. */
  constructor(place: TextPlace, { length, hash }: TextMeasure, load: () => string, text?: string) {
    this.place = place;
    this.length = length;
    this.hash = hash;
    this.#load = load;
    this.#text = text;
  }

  /** Whether no record that is being kept has it: it may be left out of what it was composed for. */
  get isLoose(): boolean {
    return this.#text !== undefined && !this.#isPromised;
  }

  /** It is part of a change that is on its way to the disk, before every later change of the run. */
  promise(): void {
    this.#isPromised = true;
  }

  /** It is on the disk, and need not be held any more. */
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

/** The JSON of a string that is the text of another value. */
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
