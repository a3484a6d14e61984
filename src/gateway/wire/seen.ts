import { isUtf8 } from 'node:buffer';
import { isTextTooDeep } from '../../base/json/depth.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { tryJson, tryParseLossless } from '../../base/json/parse.ts';
import { exactMembers } from '../../base/json/scan.ts';
import { isSealed } from '../../base/text/sealed.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { Edits, Place, Spot } from './place.ts';
import { unwritable } from './refusal.ts';
import type { ShowFinish } from './shape.ts';

/** What a hook can remove: a list element or an object member. */
export interface Entry {
  readonly owner: Place;
  readonly entry: string | number;
}

export interface TextFacet extends Entry {
  readonly kind: 'text';
  readonly as: string;
  readonly place: Place;
  /** If a hook changes the text, its whole entry is removed. */
  readonly isSigned: boolean;
  /** Equal texts under other names, which change with this one. */
  readonly twins: Entry[];
}

export interface MediaFacet extends Entry {
  readonly kind: 'media';
  readonly description: Readonly<Record<string, unknown>> & { readonly type: string; readonly text?: string };
  /** The position of a text file's bytes, so that hooks can change its text. */
  readonly inline: { readonly file: WireFile; readonly place: Place } | undefined;
}

export type BodyFacet = TextFacet | MediaFacet;

export interface CallFacet extends Entry {
  readonly id: string;
  readonly name: string;
  readonly namePlace: Place | undefined;
  /** The object with the arguments; `args` names their member or members. */
  readonly held: Place;
  readonly args: string | readonly string[];
  /** Whether the client may run the call. */
  readonly isOfClient: boolean;
}

export interface ResultFacet extends Entry {
  readonly id: string;
  readonly content: Place | undefined;
  /** The texts of the result; undefined if all of `content` is the result. */
  readonly texts: readonly TextFacet[] | undefined;
  readonly object: Place;
  readonly key: string;
  readonly isError: boolean;
}

export interface CitationFacet extends Entry {
  readonly place: Place;
  readonly held: Place | undefined;
  readonly description: Json | Readonly<Record<string, unknown>>;
  readonly emptied: 'null' | undefined;
}

interface ContentList {
  readonly place: Place;
  readonly newText: Readonly<Record<string, unknown>>;
  readonly orString: boolean;
  readonly start: number;
}

/** What hooks see of one message, with the positions in the body. */
export class Seen {
  readonly place: Place;
  readonly body: BodyFacet[] = [];
  readonly reasoning: TextFacet[] = [];
  readonly refusals: TextFacet[] = [];
  readonly calls: CallFacet[] = [];
  readonly results: ResultFacet[] = [];
  readonly citations: CitationFacet[] = [];
  readonly sealed: Entry[] = [];
  readonly other: Leftovers;
  /** Encrypted copies. `of` is the path of the copied text in `other`; undefined means the reasoning. */
  readonly copies: (Spot & { readonly of: string | undefined })[] = [];
  finish: (Spot & Omit<ShowFinish, 'show'>) | undefined;
  list: ContentList | undefined;
  /** The list elements that form the message; undefined if the message is not part of another. */
  span: { readonly start: number; end: number } | undefined;
  item: Entry | undefined;
  readonly links = new Map<string, Spot>();
  /** Of a body: its messages. Of a message: the parts that are messages of their own. */
  readonly messages: Seen[] = [];

  constructor(place: Place, other = new Leftovers()) {
    this.place = place;
    this.other = other;
  }

  get isEmpty(): boolean {
    const { body, reasoning, refusals, calls, results, citations, messages } = this;
    const lists = [body, reasoning, this.sealed, refusals, calls, results, citations];
    return (
      this.other.isEmpty &&
      this.finish === undefined &&
      this.links.size === 0 &&
      lists.every((list) => list.length === 0) &&
      messages.every(({ isEmpty }) => isEmpty)
    );
  }
}

/** Builds the message for hooks (docs/reference/guard.md, "What hooks read"), without costs. */
export function describe(seen: Seen, role: ChatMessage['role']): ChatMessage {
  const { calls, results, citations, other } = seen;
  const reasoning = joinTexts(seen.reasoning);
  const refusal = joinTexts(seen.refusals);
  return {
    role,
    ...describeBody(seen.body),
    ...(seen.links.size > 0 && { tool_result: describeLinks(seen) }),
    ...(calls.length > 0 && { tool_calls: calls.map(describeCall) }),
    ...(results.length > 0 && { tool_results: results.map((result) => describeResult(result, calls)) }),
    ...(citations.length > 0 && { citations: citations.map(({ description }) => description) }),
    ...(reasoning !== '' && { reasoning }),
    ...(refusal !== '' && { refusal }),
    ...(seen.finish !== undefined && { finish_reason: finishWord(seen.finish) }),
    ...(!other.isEmpty && { other: other.json }),
  };
}

function describeLinks({ links }: Seen): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...links].map(([member, { place }]) => [member, place.text ?? '']));
}

function finishWord({ place, words }: NonNullable<Seen['finish']>): string {
  const word = place.text ?? '';
  return Object.hasOwn(words, word) ? (words[word] ?? word) : word;
}

/** Returns `content`, and `parts` unless they are only one text. */
export function describeBody(body: readonly BodyFacet[]): {
  readonly content: string;
  readonly parts?: readonly Readonly<Record<string, unknown>>[];
} {
  const parts = body.map(describePart);
  const content = parts.map(({ text = '' }) => text).join('');
  return parts.length > 1 || parts.some(({ type }) => type !== 'text') ? { content, parts } : { content };
}

function describePart(facet: BodyFacet): MediaFacet['description'] {
  return facet.kind === 'text' ? { type: facet.as, text: facet.place.text ?? '' } : facet.description;
}

export function joinTexts(facets: readonly { readonly place: Place }[]): string {
  return facets.map(({ place }) => place.text ?? '').join('');
}

export interface DescribedCall {
  readonly id: string;
  readonly name: string;
  /** One JSON object with its exact text, or a JSON string. */
  readonly args: Json;
}

export function describeCall({ id, name, held, args }: CallFacet): DescribedCall {
  if (typeof args !== 'string') return { id, name, args: membersJson(held, args) };
  const place = held.at(args);
  const json = place === undefined || place.text !== undefined ? argsOfText(place?.text ?? '') : place.json;
  return { id, name, args: json };
}

function membersJson(held: Place, keys: readonly string[]): Json {
  const present = keys.flatMap((key) => {
    const place = held.at(key);
    return place === undefined || place.kind === 'null' ? [] : [`${JSON.stringify(key)}:${place.json.text}`];
  });
  return new Json(`{${present.join(',')}}`);
}

export function describeResult({ id, content, texts, isError }: ResultFacet, calls: readonly CallFacet[]) {
  const name = calls.find((call) => call.id === id)?.name ?? '';
  const text = texts === undefined ? resultText(content) : joinTexts(texts);
  return { id, name, content: text, ...(isError && { is_error: true }) };
}

/** Reformats JSON, so that no escape hides a word. */
function resultText(content: Place | undefined): string {
  if (content === undefined) return '';
  return content.text ?? stringifyJson(tryParseLossless(content.json.text));
}

export function isObjects(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.every(isObject);
}

/** Returns the exact JSON if the text is one unambiguous JSON object, else the text as a JSON string. */
function argsOfText(text: string): Json {
  const json = isTextTooDeep(text) ? undefined : tryJson(text.trim());
  if (json === undefined || !isObject(json.value) || findDuplicateKey(json.text) !== undefined)
    return Json.from(text);
  return json;
}

export function textOfArgs(args: unknown): string {
  const json = Json.from(args);
  return typeof json.value === 'string' ? json.value : json.text;
}

/**
 * Collects the flat object `other`. Each member is named by its path, such as `content[1].cache_control`, and keeps its
 * exact text.
 */
export class Leftovers {
  #entries: Map<string, Leftover> | undefined;
  #json: Json | undefined;

  get isEmpty(): boolean {
    return this.#entries === undefined;
  }

  get paths(): IterableIterator<string> {
    return (this.#entries ?? new Map<string, Leftover>()).keys();
  }

  get members(): ReadonlyMap<string, Json> {
    return new Map([...(this.#entries ?? [])].map(([path, { place }]) => [path, place.json]));
  }

  /** Adds an object's members except those in `told`. `path` is the object's path; '' for the root. */
  addMembers(object: Place, told: Pick<ReadonlySet<string>, 'has'>, path = ''): void {
    for (const [key, place] of object.members) {
      if (!told.has(key))
        this.add(path === '' ? key : `${path}.${key}`, { place, owner: object, entry: key });
    }
  }

  add(path: string, leftover: Leftover): void {
    // A client's key may look like a path. Hooks must see both values.
    this.#entries ??= new Map();
    let name = path;
    while (this.#entries.has(name)) name += "'";
    this.#entries.set(name, leftover);
    this.#json = undefined;
  }

  /** Adds all leftovers of another object with `path` as a prefix. */
  addAll(others: Leftovers, path: string): void {
    for (const [inner, leftover] of others.#entries ?? [])
      this.add(path === '' ? inner : `${path}.${inner}`, leftover);
  }

  /** Like `addAll`, but before its own members. */
  addFirst(others: Leftovers, path: string): void {
    const own = this.#entries;
    this.#entries = undefined;
    this.addAll(others, path);
    for (const [name, leftover] of own ?? []) this.add(name, leftover);
  }

  get json(): Json | undefined {
    if (this.isEmpty) return undefined;
    this.#json ??= new Json(
      `{${[...(this.#entries ?? [])].map(([path, { place }]) => `${JSON.stringify(path)}:${place.json.text}`).join(',')}}`,
    );
    return this.#json;
  }

  unchanged(changed: unknown): (path: string) => boolean {
    const json = toJson(changed);
    const members = json !== undefined && isObject(json.value) ? exactMembers(json) : new Map<string, Json>();
    return (path) => {
      const [entry, member] = [this.#entries?.get(path), members.get(path)];
      return entry !== undefined && member !== undefined && isSameToTheDigit(member, entry.place.json);
    };
  }

  /**
   * Removes possible copies of texts even if a hook repeats them: declared ones, and in responses those that filters
   * cannot read.
   */
  dropCopies(edits: Edits, isAnswer: boolean): void {
    for (const leftover of this.#entries?.values() ?? [])
      if (leftover.emptied !== undefined || (isAnswer && isCopy(leftover.place))) takeOut(leftover, edits);
  }

  /**
   * Writes a hook's version of `other`. Missing members are removed; new ones go to `insertInto`. Throws
   * REPLY_MALFORMED.
   */
  write(changed: unknown, edits: Edits, insertInto?: Place): void {
    const json = toJson(changed);
    if (json === undefined ? this.isEmpty : json.text === this.json?.text) return;
    if (json !== undefined && !isObject(json.value)) throw unwritable('a replaced `other` is not an object');
    const members = json === undefined ? new Map<string, Json>() : exactMembers(json);
    for (const [path, leftover] of this.#entries ?? []) {
      const { place } = leftover;
      const member = members.get(path);
      if (member === undefined) takeOut(leftover, edits);
      else if (!isSameToTheDigit(member, place.json)) edits.replace(place, member.text);
    }
    for (const [key, member] of members) {
      if (this.#entries?.has(key) === true) continue;
      if (insertInto === undefined || insertInto.at(key) !== undefined)
        throw unwritable('a replaced `other` has a member that cannot be put into the body');
      edits.addMember(insertInto, key, member.text);
    }
  }
}

function takeOut({ place, owner, entry, emptied }: Leftover, edits: Edits): void {
  if (emptied === undefined || emptied === 'absent') edits.remove(owner, entry);
  else edits.replaceWhole(place, emptied);
}

/** Texts may hide in a list of numbers (bytes or tokens) or an encrypted, Base64 or hexadecimal string. */
function isCopy(place: Place): boolean {
  if (place.kind === 'string') return isEncoded(place.text ?? '');
  if (place.kind === 'object') return place.members.values().some(isCopy);
  return place.items.some((item) => item.kind === 'number' || isCopy(item));
}

function isEncoded(text: string): boolean {
  if (isSealed(text)) return true;
  const isHex = /^(?:[0-9a-f]{2}){3,}$/i.test(text);
  if (!isHex && !/^[\w+/-]{4,}={0,2}$/.test(text)) return false;
  const bytes = Buffer.from(text, isHex ? 'hex' : 'base64');
  return bytes.length > 2 && /^[\p{L}\p{N}\p{P}\p{S}\s]+$/u.test(bytes.toString('utf8')) && isUtf8(bytes);
}

export interface Leftover {
  readonly place: Place;
  readonly owner: Place;
  readonly entry: string | number;
  /** JSON that replaces the value. If undefined or `absent`, the value is removed. */
  readonly emptied?: string;
}

function toJson(value: unknown): Json | undefined {
  return value === undefined || value === null ? undefined : Json.from(value);
}

export interface WireFile {
  /** Any scheme, including `data:`. */
  readonly url?: string | undefined;
  readonly base64?: string | undefined;
  /** A full media type or only its first half; `application/octet-stream` if unknown. */
  readonly mediaType: string;
  readonly filename?: string | undefined;
}
