import { isTextTooDeep } from '../../base/json/depth.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { tryJson, tryParseLossless } from '../../base/json/try-parse.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { Leftovers } from './leftovers.ts';
import type { WireFile } from './media.ts';
import type { Place, Spot } from './place.ts';
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

/** The message that hooks read (docs/guard.md, "What hooks read"), without costs. */
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
