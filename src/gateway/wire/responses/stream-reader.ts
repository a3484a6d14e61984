import { isSameToTheDigit } from '../../../base/json/equal.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../../base/json/json.ts';
import { exactMembers } from '../../../base/json/scan.ts';
import { withExtras } from '../bodies.ts';
import type { StreamPart, StreamReader, WireAnswer, WireRequest, WireRules } from '../codec.ts';
import { bodySpot, Edits, numberAt, openPlace, openStrictly, type Place } from '../place.ts';
import { invalidAnswer, unknownEvent } from '../refusal.ts';
import { Seen } from '../seen.ts';
import type { Members, WalkContext } from '../shape.ts';
import type { SseEvent } from '../sse.ts';
import { isShaped, passesUnread, walk, walkMembers } from '../walk.ts';
import { isSettled, readAnswer, sentBody } from './answer.ts';
import { changeable, type EventKind, eventKinds, eventMembers, formatChannel } from './shapes.ts';

type Of<Is extends EventKind['is']> = Extract<EventKind, { readonly is: Is }>;

interface ReadEvent {
  readonly root: Place;
  readonly type: string;
}

export class ResponsesStreamReader implements StreamReader {
  readonly #context: WalkContext;
  readonly #request: WireRequest;
  readonly #items = new Map<number, StreamedItem>();
  readonly #responses: Place[] = [];
  readonly #extras = new Map<string, Json>();
  readonly #transcript: string[] = [];
  #end: Place | undefined;

  constructor(rules: WireRules, request: WireRequest) {
    this.#context = { rules, isAnswer: true, at: '' };
    this.#request = request;
  }

  push({ event, data }: SseEvent): StreamPart {
    if (data.trim() === '[DONE]') return { kind: 'free' };
    const root = openStrictly(data, (problem) => invalidAnswer(`an event of its stream ${problem}`));
    const type = root.at('type')?.text;
    if ([type, event].includes('error') || (type === undefined && root.at('error') !== undefined))
      return { kind: 'error' };
    const kind = eventKinds.get(type ?? '');
    if (type === undefined || kind === undefined) {
      if (!passesUnread(type, this.#context.rules) || (event ?? type) !== type)
        throw unknownEvent(type ?? event);
      return { kind: 'free' };
    }
    if (event !== undefined && event !== type) throw invalidAnswer('an event of its stream has two names');
    const isFree = kind.is === 'rest' && kind.isFree === true;
    if (this.#end !== undefined && !isFree) throw invalidAnswer('its stream continues after its end');
    const read = { root, type };
    switch (kind.is) {
      case 'response':
        return this.#takeResponse(read, kind);
      case 'part':
        return this.#takePart(read, kind);
      case 'delta':
        return this.#takeDelta(read, kind);
      case 'text':
        return this.#takeText(read, kind);
      case 'rest': {
        const { members = {}, isTranscript } = kind;
        if (isTranscript === true) this.#transcript.push(requireText(root, 'delta'));
        const isQuiet = this.#readRest(read, isTranscript === true ? ['delta'] : [], members);
        return { kind: isFree && isQuiet ? 'free' : 'held' };
      }
    }
  }

  answer(): WireAnswer {
    if (this.#end === undefined) throw invalidAnswer('its stream ends before its response');
    const items = [...this.#items].toSorted(([one], [other]) => one - other).map(([, item]) => item);
    const body = assemble(this.#end, items);
    const whole = openStrictly(body, (problem) => invalidAnswer(`its response ${problem}`));
    const finals = whole.at('output')?.items ?? [];
    const byId = new Map(finals.map((final) => [final.at('id')?.text ?? '', final]));
    for (const [position, item] of items.entries()) {
      const final = (item.id === '' ? undefined : byId.get(item.id)) ?? finals[position];
      if (final === undefined) throw invalidAnswer('its response lacks an item that its stream sent');
      item.check(final);
      for (const { path, place, isWhole, type } of item.values)
        this.#addExtras(type, missing(place, placeAt(final, path), isWhole ? 'whole' : 'begin'));
    }
    for (const response of this.#responses)
      for (const [key, place] of response.members)
        if (!this.#isHarmless(key, place))
          this.#addExtras(`response.${key}`, missing(place, whole.at(key), 'begin'));
    if (this.#transcript.length > 0)
      this.#extras.set('stream.transcript', Json.from(this.#transcript.join('')));
    return withExtras(readAnswer(body, this.#context.rules, this.#request), this.#extras);
  }

  #takeResponse(event: ReadEvent, { isEnd }: Of<'response'>): StreamPart {
    const response = event.root.at('response');
    if (response?.kind !== 'object') throw invalidAnswer(`\`${event.type}\` has no \`response\``);
    const isQuiet = this.#readRest(event, ['response']);
    if (isEnd) {
      this.#end = response;
      return { kind: 'end' };
    }
    const isFree = response.members.entries().every(([key, place]) => this.#isHarmless(key, place));
    if (!isFree) this.#responses.push(response);
    return { kind: isFree && isQuiet ? 'free' : 'held' };
  }

  #isHarmless(key: string, place: Place): boolean {
    return key === 'output' ? isNoList(place) : isSettled(key, place, sentBody(this.#request));
  }

  #takePart(event: ReadEvent, { path: keys, member, isEnd, shape }: Of<'part'>): StreamPart {
    const { root, type } = event;
    const place = root.at(member);
    const isItem = keys.length === 0;
    if (place === undefined || (isItem && place.kind !== 'object'))
      throw invalidAnswer(`\`${type}\` has no \`${member}\``);
    const known = isItem ? undefined : this.#locate(event, keys);
    const seen = new Seen(place);
    walk({ ...bodySpot(place, type), entry: 0 }, shape, this.#context, seen);
    const isQuiet = this.#readRest(event, [member]);
    const { item, path } = known ?? { item: this.#itemOf(event, place, isEnd), path: [] };
    const before = isEnd ? placeAt(openPlace(item.snapshot()), path) : undefined;
    item.values.push({ path, place, isWhole: isEnd, type });
    const isKnown = before === undefined ? isEmptyText(seen) : missing(place, before, 'present').length === 0;
    return { kind: isQuiet && isKnown ? 'echo' : 'held' };
  }

  #itemOf({ root, type }: ReadEvent, place: Place, isEnd: boolean): StreamedItem {
    const id = place.at('id')?.text;
    const named = this.#items.entries().find(([, { id: own }]) => isEnd && own !== '' && own === id)?.[0];
    const index =
      root.at('output_index') === undefined
        ? (named ?? Math.max(-1, ...this.#items.keys()) + 1)
        : requireIndex(root, 'output_index');
    const known = this.#items.get(index);
    if (!isEnd && known !== undefined) throw invalidAnswer(`\`${type}\` repeats an item`);
    const item = known ?? new StreamedItem(isEnd ? undefined : place);
    this.#items.set(index, item);
    if (isEnd) item.check(place);
    return item;
  }

  #takeDelta(event: ReadEvent, { path: keys, channel: member, members }: Of<'delta'>): StreamPart {
    const { root, type } = event;
    const { item, path, index } = this.#locate(event, keys);
    const isQuiet = this.#readRest(event, ['delta']);
    if (members !== undefined) {
      const delta = root.at('delta');
      if (delta?.kind !== 'object') throw invalidAnswer(`\`${type}\` has no \`delta\``);
      const texts = members.filter((key) => delta.at(key)?.kind === 'string');
      this.#readMembers(delta, `${type}.delta`, {}, texts);
      for (const key of texts) item.addText([...path, key], delta.at(key)?.text ?? '');
      return { kind: 'held' };
    }
    const text = requireText(root, 'delta');
    item.addText(path, text);
    if (member === undefined || !isQuiet) return { kind: 'held' };
    const channel = { key: formatChannel(index, path, item.id), choice: 0, member };
    return { kind: 'text', deltas: [{ channel, text }] };
  }

  #takeText(event: ReadEvent, { path: keys, member }: Of<'text'>): StreamPart {
    const { item, path } = this.#locate(event, keys);
    const isQuiet = this.#readRest(event, [member]);
    const isNew = item.endText(path, requireText(event.root, member));
    return { kind: isNew || !isQuiet ? 'held' : 'echo' };
  }

  #locate({ root, type }: ReadEvent, keys: readonly string[]) {
    const index = requireIndex(root, 'output_index');
    const item = this.#items.get(index);
    if (item === undefined) throw invalidAnswer(`\`${type}\` is about an item that was not added`);
    const id = root.at('item_id')?.text;
    if (id !== undefined && item.id !== '' && id !== item.id)
      throw invalidAnswer(`\`${type}\` is about another item`);
    const path: ItemPath = keys.map((key) => (key.endsWith('_index') ? requireIndex(root, key) : key));
    return { item, path, index };
  }

  /** Shows hooks the event's other members. Returns whether there were none. */
  #readRest({ root, type }: ReadEvent, read: readonly string[], members: Members = {}): boolean {
    return this.#readMembers(root, type, { ...eventMembers, ...members }, ['type', ...read]);
  }

  #readMembers(place: Place, path: string, members: Members, read: readonly string[]): boolean {
    const seen = new Seen(place);
    walkMembers(bodySpot(place, path), members, this.#context, seen, read);
    const { json } = seen.other;
    for (const [name, value] of json === undefined ? [] : exactMembers(json)) this.#addExtra(name, value);
    return json === undefined;
  }

  #addExtras(name: string, found: readonly (readonly [string, Place])[]): void {
    for (const [path, { json }] of found) this.#addExtra(name + path, json);
  }

  #addExtra(name: string, json: Json): void {
    let own = `stream.${name}`;
    for (let count = 2; this.#extras.has(own) && this.#extras.get(own)?.text !== json.text; count += 1)
      own = `stream.${name}#${count}`;
    this.#extras.set(own, json);
  }
}

function assemble(end: Place, items: readonly StreamedItem[]): string {
  const root = openPlace(end.json.text);
  const output = root.at('output');
  if (items.length === 0 || (output !== undefined && !isNoList(output))) return root.source;
  const list = `[${items.map((item) => item.done?.json.text ?? item.snapshot()).join(',')}]`;
  const edits = new Edits(root.source);
  if (output === undefined) edits.addMember(root, 'output', list);
  else edits.replace(output, list);
  return edits.apply();
}

function isNoList({ kind, items }: Place): boolean {
  return kind === 'null' || (kind === 'array' && items.length === 0);
}

function isEmptyText({ body, reasoning, refusals, calls, results, citations, other }: Seen): boolean {
  return (
    other.isEmpty &&
    [calls, results, citations].every((list) => list.length === 0) &&
    [...body, ...reasoning, ...refusals].every((facet) => facet.kind === 'text' && facet.place.text === '')
  );
}

function requireText(root: Place, key: string): string {
  const text = root.at(key)?.text;
  if (text === undefined) throw invalidAnswer(`an event of its stream has no text \`${key}\``);
  return text;
}

function requireIndex(root: Place, key: string): number {
  const index = numberAt(root, key) ?? -1;
  if (Number.isSafeInteger(index) && index >= 0 && index < maxIndex) return index;
  throw invalidAnswer(`an event of its stream has no \`${key}\``);
}

const maxIndex = 100_000;

// --- items ---

type ItemPath = readonly (string | number)[];

interface EarlyValue {
  readonly path: ItemPath;
  readonly place: Place;
  /** Whether the value was complete, so that its texts must not grow. */
  readonly isWhole: boolean;
  readonly type: string;
}

class StreamedItem {
  readonly added: Place | undefined;
  readonly values: EarlyValue[] = [];
  readonly #texts = new Map<string, { readonly path: ItemPath; readonly pieces: string[] }>();

  constructor(added: Place | undefined) {
    this.added = added;
  }

  get id(): string {
    return (this.added ?? this.done)?.at('id')?.text ?? '';
  }

  get done(): Place | undefined {
    return this.values.findLast(({ path, isWhole }) => path.length === 0 && isWhole)?.place;
  }

  addText(path: ItemPath, text: string): void {
    this.#piecesOf(path).push(text);
  }

  /** Returns whether the text is new. Throws RefusedCall (502) if it differs from its pieces. */
  endText(path: ItemPath, text: string): boolean {
    const sent = this.#piecesOf(path).join('');
    if (sent === text) return false;
    if (sent !== '') throw contradiction(path);
    this.addText(path, text);
    return true;
  }

  /** Throws RefusedCall (502) if a text of the whole item differs from its pieces. */
  check(whole: Place): void {
    for (const { path, pieces } of this.#texts.values())
      if ((placeAt(whole, path)?.text ?? '') !== pieces.join('')) throw contradiction(path);
  }

  snapshot(): string {
    const item = parseLossless(this.added?.json.text ?? '{}');
    for (const { path, place } of this.values)
      if (path.length > 0) setAt(item, path, parseLossless(place.json.text));
    for (const { path, pieces } of this.#texts.values()) setAt(item, path, pieces.join(''));
    return stringifyJson(item);
  }

  #piecesOf(path: ItemPath): string[] {
    const key = path.join('/');
    const known = this.#texts.get(key);
    if (known !== undefined) return known.pieces;
    const begun = this.values.findLast(
      ({ path: above, isWhole }) => !isWhole && above.every((each, index) => each === path[index]),
    );
    const text = placeAt(begun?.place ?? this.added, path.slice(begun?.path.length ?? 0))?.text;
    const pieces = text === undefined ? [] : [text];
    this.#texts.set(key, { path, pieces });
    return pieces;
  }
}

function contradiction(path: ItemPath): Error {
  return invalidAnswer(
    `its stream gives \`${path.map((key) => (typeof key === 'number' ? 'n' : key)).join('.')}\` in two ways`,
  );
}

function placeAt(place: Place | undefined, path: ItemPath): Place | undefined {
  return path.reduce<Place | undefined>(
    (at, key) => (typeof key === 'number' ? at?.items[key] : at?.at(key)),
    place,
  );
}

function setAt(target: unknown, path: ItemPath, value: unknown): void {
  let at = target;
  for (const [index, key] of path.entries()) {
    if (!isObject(at) && !Array.isArray(at)) return;
    if (index === path.length - 1) Reflect.set(at, key, value);
    else {
      const below: unknown = Reflect.get(at, key);
      if (!isObject(below) && !Array.isArray(below))
        Reflect.set(at, key, typeof path[index + 1] === 'number' ? [] : {});
      at = Reflect.get(at, key);
    }
  }
}

/**
 * Lists what the later value lacks, by path. Texts must be equal; with `begin`, the later may continue the earlier.
 * With `whole`, different texts throw RefusedCall (502).
 */
function missing(
  early: Place,
  late: Place | undefined,
  relation: 'begin' | 'whole' | 'present',
  at = { key: '', path: '' },
): (readonly [path: string, early: Place])[] {
  const { key, path } = at;
  if (late === undefined) return [[path, early]];
  if (early.json.text === late.json.text || isChangeable(key, early)) return [];
  if (early.kind === 'object' && late.kind === 'object')
    return [...early.members].flatMap(([name, member]) =>
      missing(member, late.at(name), relation, { key: name, path: `${path}.${name}` }),
    );
  if (early.kind === 'array' && late.kind === 'array')
    return early.items.flatMap((item, index) =>
      missing(item, late.items[index], relation, { key, path: `${path}[${index}]` }),
    );
  if (early.text === undefined || late.text === undefined)
    return isSameToTheDigit(early.json, late.json) ? [] : [[path, early]];
  if (relation === 'begin' ? late.text.startsWith(early.text) : early.text === late.text) return [];
  // APIs encrypt the same content differently each time.
  if (relation === 'whole' && key !== 'encrypted_content') throw contradiction([key]);
  return [[path, early]];
}

function isChangeable(key: string, place: Place): boolean {
  return ['number', 'boolean', 'null'].includes(place.kind) || isShaped(place, key, changeable);
}
