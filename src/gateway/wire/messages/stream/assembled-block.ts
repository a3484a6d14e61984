import { stringifyJson } from '../../../../json/json.ts';
import type { Place } from '../../place.ts';
import { callTypes } from '../blocks/block-kinds.ts';

/** A content block of a stream, as far as it has come. */
export class AssembledBlock {
  readonly type: string;
  /** The block as it was begun. */
  readonly begun: Place;
  isOpen = true;
  /** The text of a text or thinking block. */
  text: string;
  citations: string[] | undefined;
  #signature: string | undefined;
  /** The pieces of a call's arguments; undefined before the first. */
  input: string | undefined;
  #compaction: ReadonlyMap<string, Place> | undefined;

  constructor(begun: Place) {
    this.begun = begun;
    this.type = begun.at('type')?.text ?? '';
    this.text = begun.at(this.type === 'thinking' ? 'thinking' : 'text')?.text ?? '';
  }

  /** Adds a delta as the accumulator of @anthropic-ai/sdk does. False when it does not belong to such a block, or contradicts it. */
  add(delta: Place): boolean {
    switch (delta.at('type')?.text) {
      case 'text_delta':
        return this.type === 'text' && this.#addText(delta.at('text'));
      case 'thinking_delta':
        return this.type === 'thinking' && this.#addText(delta.at('thinking'));
      case 'signature_delta':
        return this.type === 'thinking' && this.#sign(delta.at('signature')?.text);
      case 'citations_delta':
        return this.type === 'text' && this.#cite(delta.at('citation'));
      case 'input_json_delta':
        return callTypes.has(this.type) && this.#addInput(delta.at('partial_json')?.text);
      case 'compaction_delta':
        return this.type === 'compaction' && this.#compact(delta);
      default:
        return false;
    }
  }

  /** The block as the unstreamed endpoint gives it. */
  get json(): string {
    const changes = new Map<string, string>();
    if (this.type === 'text' || this.type === 'thinking') {
      const key = this.type === 'text' ? 'text' : 'thinking';
      if (this.begun.at(key)?.text !== this.text) changes.set(key, stringifyJson(this.text));
    }
    if (this.#signature !== undefined) changes.set('signature', stringifyJson(this.#signature));
    if (this.citations !== undefined) changes.set('citations', `[${this.citations.join(',')}]`);
    if (this.input !== undefined) changes.set('input', inputJson(this.input));
    for (const [key, place] of this.#compaction ?? []) {
      if (key !== 'type') changes.set(key, place.json.text);
    }
    return withMembers(this.begun, changes);
  }

  /** Whether the deltas of a text go on from what was begun. Another value would be replaced before hooks see it. */
  get hasText(): boolean {
    if (this.type === 'text') return this.#begins('text', 'string');
    return this.type !== 'thinking' || this.#begins('thinking', 'string');
  }

  #begins(key: string, kind: Place['kind']): boolean {
    const place = this.begun.at(key);
    return isBlank(place) || place?.kind === kind;
  }

  #addText(place: Place | undefined): boolean {
    if (place?.text === undefined) return false;
    this.text += place.text;
    return true;
  }

  /** A signature is whole; a second one would be another. */
  #sign(signature: string | undefined): boolean {
    if (signature === undefined || !this.#begins('signature', 'string')) return false;
    const known = this.#signature ?? this.begun.at('signature')?.text ?? '';
    if (known !== '' && known !== signature) return false;
    this.#signature = signature;
    return true;
  }

  #cite(citation: Place | undefined): boolean {
    if (citation?.kind !== 'object' || !this.#begins('citations', 'array')) return false;
    this.citations ??= (this.begun.at('citations')?.items ?? []).map(({ json }) => json.text);
    this.citations.push(citation.json.text);
    return true;
  }

  #addInput(piece: string | undefined): boolean {
    if (piece === undefined || !isBlank(this.begun.at('input'))) return false;
    this.input = (this.input ?? '') + piece;
    return true;
  }

  #compact(delta: Place): boolean {
    const isEmpty = [...delta.members].every(([key, { json }]) => {
      const begun = this.begun.at(key);
      return key === 'type' || isBlank(begun) || begun?.json.text === json.text;
    });
    if (this.#compaction !== undefined || !isEmpty) return false;
    this.#compaction = delta.members;
    return true;
  }
}

/** Whether a value says nothing, so that a stream may replace it: hooks see what stands there at the end. */
function isBlank(place: Place | undefined): boolean {
  if (place === undefined || place.kind === 'null' || place.text === '') return true;
  if (place.kind === 'array') return place.items.length === 0;
  return place.kind === 'object' && place.members.size === 0;
}

/** The arguments: what is no whole JSON, as of a call that was cut off, is a string of its text. */
function inputJson(text: string): string {
  if (text === '') return '{}';
  try {
    JSON.parse(text);
    return text.trim();
  } catch {
    return stringifyJson(text);
  }
}

/** An object with some members changed or added; its own text when none is. */
export function withMembers(object: Place, changes: ReadonlyMap<string, string | undefined>): string {
  if (changes.size === 0) return object.json.text;
  const members: string[] = [];
  for (const [key, place] of object.members) {
    const value = changes.has(key) ? changes.get(key) : place.json.text;
    if (value !== undefined) members.push(`${JSON.stringify(key)}:${value}`);
  }
  for (const [key, value] of changes) {
    if (value !== undefined && !object.members.has(key)) members.push(`${JSON.stringify(key)}:${value}`);
  }
  return `{${members.join(',')}}`;
}
