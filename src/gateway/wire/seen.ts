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

/** What a hook may take out: an element of a list or a member of an object. */
export interface Entry {
  readonly owner: Place;
  readonly entry: string | number;
}

/** A text, with the string that holds it. */
export interface TextFacet extends Entry {
  readonly kind: 'text';
  /** Its `type` in `parts`. */
  readonly as: string;
  readonly place: Place;
  /** A hook that changes it takes its entry out. */
  readonly isSigned: boolean;
  /** Strings that say the same under other names, and that change with it. */
  readonly twins: Entry[];
}

/** A file, or something of an opaque kind. */
export interface MediaFacet extends Entry {
  readonly kind: 'media';
  readonly description: Readonly<Record<string, unknown>> & { readonly type: string; readonly text?: string };
  /** Where the bytes of a text file stand, so that a hook can change its text. */
  readonly inline: { readonly file: WireFile; readonly place: Place } | undefined;
}

export type BodyFacet = TextFacet | MediaFacet;

export interface CallFacet extends Entry {
  readonly id: string;
  readonly name: string;
  readonly namePlace: Place | undefined;
  /** The object that has the arguments, and its member or members with them. */
  readonly held: Place;
  readonly args: string | readonly string[];
  /** Whether the client may be the one to run it. */
  readonly isOfClient: boolean;
}

export interface ResultFacet extends Entry {
  readonly id: string;
  readonly content: Place | undefined;
  /** The texts that are the result; undefined: all of `content` is. */
  readonly texts: readonly TextFacet[] | undefined;
  /** The object that has the content, and under which key. */
  readonly object: Place;
  readonly key: string;
  readonly isError: boolean;
}

export interface CitationFacet extends Entry {
  readonly place: Place;
  /** The object whose strings the description tells; undefined when it tells the whole value. */
  readonly held: Place | undefined;
  readonly description: Json | Readonly<Record<string, unknown>>;
  /** What takes the place of `owner` when all of its citations go. */
  readonly emptied: 'null' | undefined;
}

/** A list that a new text may be put into. */
interface ContentList {
  readonly place: Place;
  readonly newText: Readonly<Record<string, unknown>>;
  readonly orString: boolean;
  /** The index of the message's first element. */
  readonly start: number;
}

/** What hooks see of one message, with the places where all of it stands in the body. */
export class Seen {
  /** The value that was read. */
  readonly place: Place;
  readonly body: BodyFacet[] = [];
  readonly reasoning: TextFacet[] = [];
  readonly refusals: TextFacet[] = [];
  readonly calls: CallFacet[] = [];
  readonly results: ResultFacet[] = [];
  readonly citations: CitationFacet[] = [];
  /** Reasoning that is encrypted. */
  readonly sealed: Entry[] = [];
  readonly other: Leftovers;
  /** Encrypted copies, and the paths of the texts in `other` that they go with; undefined: they go with the reasoning. */
  readonly copies: (Spot & { readonly of: string | undefined })[] = [];
  finish: (Spot & Omit<ShowFinish, 'show'>) | undefined;
  /** The last list of content that was read. */
  list: ContentList | undefined;
  /** The elements of a list that are the message; undefined: it is no part of another one. */
  span: { readonly start: number; end: number } | undefined;
  /** The item that is being read. */
  item: Entry | undefined;
  /** Which call the message answers, by the members of `tool_result`. */
  readonly links = new Map<string, Spot>();
  /** Of a body: its messages, in order. Of a message: its parts that are messages of their own. */
  readonly messages: Seen[] = [];

  constructor(place: Place, other = new Leftovers()) {
    this.place = place;
    this.other = other;
  }

  /** Whether hooks see nothing of it. */
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

/** The message that hooks read (docs/guides/guard-the-ai-sdk.md, "What hooks read"), without costs. */
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

/** `content`, and `parts` beside it unless they are one text. */
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

/** All texts without anything between them. */
export function joinTexts(facets: readonly { readonly place: Place }[]): string {
  return facets.map(({ place }) => place.text ?? '').join('');
}

export interface DescribedCall {
  readonly id: string;
  readonly name: string;
  /** One JSON object with its exact text, else a JSON string. */
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

/** JSON is written anew, so that no escape hides a word. */
function resultText(content: Place | undefined): string {
  if (content === undefined) return '';
  return content.text ?? stringifyJson(tryParseLossless(content.json.text));
}

/** Whether a value that a hook gave is a list of objects. */
export function isObjects(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.every(isObject);
}

/**
 * Arguments as a model wrote them, for hooks: the exact JSON when they are one JSON object that every reader reads alike, else the
 * text as a JSON string.
 */
function argsOfText(text: string): Json {
  const json = isTextTooDeep(text) ? undefined : tryJson(text.trim());
  if (json === undefined || !isObject(json.value) || findDuplicateKey(json.text) !== undefined)
    return Json.from(text);
  return json;
}

/** The text of arguments that a hook gave back: that of a string, else their JSON. */
export function textOfArgs(args: unknown): string {
  const json = Json.from(args);
  return typeof json.value === 'string' ? json.value : json.text;
}

/**
 * What a projection tells nowhere else, as the one flat object `other`: each member is named by its path, such as
 * `content[1].cache_control`, and has its exact text.
 */
export class Leftovers {
  /** Made with the first, since most messages have none. */
  #entries: Map<string, Leftover> | undefined;
  #json: Json | undefined;

  get isEmpty(): boolean {
    return this.#entries === undefined;
  }

  get paths(): IterableIterator<string> {
    return (this.#entries ?? new Map<string, Leftover>()).keys();
  }

  /** Each value by its path. */
  get members(): ReadonlyMap<string, Json> {
    return new Map([...(this.#entries ?? [])].map(([path, { place }]) => [path, place.json]));
  }

  /** The members of an object but those in `told`; `path` is that of the object, empty for the outermost. */
  addMembers(object: Place, told: Pick<ReadonlySet<string>, 'has'>, path = ''): void {
    for (const [key, place] of object.members) {
      if (!told.has(key))
        this.add(path === '' ? key : `${path}.${key}`, { place, owner: object, entry: key });
    }
  }

  add(path: string, leftover: Leftover): void {
    // A key of a client's own may look like a path; hooks must see both.
    this.#entries ??= new Map();
    let name = path;
    while (this.#entries.has(name)) name += "'";
    this.#entries.set(name, leftover);
    this.#json = undefined;
  }

  /** All of another object's, each path behind that one. */
  addAll(others: Leftovers, path: string): void {
    for (const [inner, leftover] of others.#entries ?? [])
      this.add(path === '' ? inner : `${path}.${inner}`, leftover);
  }

  /** The same, before its own. */
  addFirst(others: Leftovers, path: string): void {
    const own = this.#entries;
    this.#entries = undefined;
    this.addAll(others, path);
    for (const [name, leftover] of own ?? []) this.add(name, leftover);
  }

  /** The object; undefined when nothing is left over. */
  get json(): Json | undefined {
    if (this.isEmpty) return undefined;
    this.#json ??= new Json(
      `{${[...(this.#entries ?? [])].map(([path, { place }]) => `${JSON.stringify(path)}:${place.json.text}`).join(',')}}`,
    );
    return this.#json;
  }

  /** Which members a hook's `other` has as they were told. */
  unchanged(changed: unknown): (path: string) => boolean {
    const json = toJson(changed);
    const members = json !== undefined && isObject(json.value) ? exactMembers(json) : new Map<string, Json>();
    return (path) => {
      const [entry, member] = [this.#entries?.get(path), members.get(path)];
      return entry !== undefined && member !== undefined && isSameToTheDigit(member, entry.place.json);
    };
  }

  /**
   * Takes out what may repeat a text in another form, whether a hook repeats it or not: copies that the wire declares, and in an
   * answer whatever has a form in which filters do not read.
   */
  dropCopies(edits: Edits, isAnswer: boolean): void {
    for (const leftover of this.#entries?.values() ?? [])
      if (leftover.emptied !== undefined || (isAnswer && isCopy(leftover.place))) takeOut(leftover, edits);
  }

  /**
   * Writes what a hook made of the object: changed members at their places; absent ones are taken out. `insertInto`
   * takes members with other names. Throws REPLY_MALFORMED.
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

/**
 * Whether a value may be a copy of a text in a form that filters do not read: it has a list of numbers, such as bytes or tokens, or a
 * string that is encrypted or that is the base64 or hexadecimal form of a text.
 */
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
  /** What it is taken out of when a hook leaves it out, and its key or index there. */
  readonly owner: Place;
  readonly entry: string | number;
  /** The JSON that takes its place where it goes; undefined: it is taken out. */
  readonly emptied?: string;
}

function toJson(value: unknown): Json | undefined {
  return value === undefined || value === null ? undefined : Json.from(value);
}

/** A picture, sound or file as a body carries it. */
export interface WireFile {
  /** Of any scheme, `data:` too. */
  readonly url?: string | undefined;
  readonly base64?: string | undefined;
  /** A full media type, or its first half alone; `application/octet-stream` where nothing tells it. */
  readonly mediaType: string;
  readonly filename?: string | undefined;
}
