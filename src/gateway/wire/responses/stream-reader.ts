import { Json } from '../../../json/json.ts';
import { exactMembers } from '../../../json/scan.ts';
import type { StreamPart, StreamReader, WireAnswer, WireRequest, WireRules } from '../codec.ts';
import { Edits } from '../edits.ts';
import { invalidAnswer, unknownEvent } from '../faults.ts';
import { openPlace, type Place } from '../place.ts';
import { Seen } from '../seen.ts';
import type { Members, Shape } from '../shape.ts';
import type { SseEvent } from '../sse.ts';
import { withExtras } from '../stream-extras.ts';
import { openStrictly } from '../strict-json.ts';
import { passesUnread, walk, walkMembers } from '../walk.ts';
import { isSettled, readAnswer, sentBody } from './answer.ts';
import { outputItem } from './shapes.ts';
import { type EventKind, eventKindOf, eventMembers } from './stream-kinds.ts';
import { formatChannel, type ItemPath, placeAt, StreamedItem, untold } from './streamed-item.ts';

type Of<Is extends EventKind['is']> = Extract<EventKind, { readonly is: Is }>;

/** An event that was read. */
interface Told<Kind = EventKind> {
  readonly root: Place;
  readonly type: string;
  readonly kind: Kind;
}

/** Puts a streamed response together. */
export class ResponsesStreamReader implements StreamReader {
  readonly #rules: WireRules;
  readonly #request: WireRequest;
  readonly #items = new Map<number, StreamedItem>();
  /** The response as events before the end told it. */
  readonly #responses: Place[] = [];
  readonly #extras = new Map<string, Json>();
  #end: Place | undefined;
  #transcript: string[] = [];

  constructor(rules: WireRules, request: WireRequest) {
    this.#rules = rules;
    this.#request = request;
  }

  push(event: SseEvent): StreamPart {
    if (event.data === undefined || event.data.trim() === '[DONE]') return { kind: 'free' };
    const root = openStrictly(event.data, (problem) => invalidAnswer(`an event of its stream ${problem}`));
    const type = root.at('type')?.text;
    if (type === 'error' || event.event === 'error') return { kind: 'error' };
    if (type === undefined && root.at('error') !== undefined) return { kind: 'error' };
    const kind = type === undefined ? undefined : eventKindOf(type);
    if (type === undefined || kind === undefined) {
      if (!passesUnread(type, this.#rules) || (event.event ?? type) !== type)
        throw unknownEvent(type ?? event.event);
      return { kind: 'free' };
    }
    if (event.event !== undefined && event.event !== type)
      throw invalidAnswer('an event of its stream has two names');
    if (this.#end !== undefined && kind.is !== 'nothing')
      throw invalidAnswer('its stream goes on behind its end');
    return this.#take({ root, type, kind });
  }

  answer(): WireAnswer {
    if (this.#end === undefined) throw invalidAnswer('its stream ends before its response');
    const body = this.#assemble(this.#end);
    const whole = openStrictly(body, (problem) => invalidAnswer(`its response ${problem}`));
    this.#checkItems(whole);
    this.#checkResponses(whole);
    if (this.#transcript.length > 0)
      this.#extras.set('stream.transcript', Json.from(this.#transcript.join('')));
    return withExtras(readAnswer(body, this.#rules, this.#request), this.#extras);
  }

  #take(told: Told): StreamPart {
    const { root, type, kind } = told;
    switch (kind.is) {
      case 'response':
        return this.#takeResponse({ root, type, kind });
      case 'item':
        return this.#takeItem({ root, type, kind });
      case 'part':
        return this.#takePart({ root, type, kind });
      case 'delta':
        return this.#takeDelta({ root, type, kind });
      case 'text':
        return this.#takeText({ root, type, kind });
      case 'status':
        this.#readRest(told);
        return { kind: 'held' };
      case 'bytes':
        this.#readRest(told, { [kind.member]: { bytes: kind.bytes } });
        return { kind: 'held' };
      case 'transcript':
        this.#transcript.push(requireText(root, 'delta'));
        this.#readRest(told, {}, ['delta']);
        return { kind: 'held' };
      case 'nothing':
        return this.#readRest(told) ? { kind: 'free' } : { kind: 'held' };
    }
  }

  #takeResponse(told: Told<Of<'response'>>): StreamPart {
    const response = told.root.at('response');
    if (response?.kind !== 'object') throw invalidAnswer(`\`${told.type}\` has no \`response\``);
    const isQuiet = this.#readRest(told, {}, ['response']);
    if (told.kind.isEnd) {
      this.#end = response;
      return { kind: 'end' };
    }
    const isFree = [...response.members].every(([key, place]) => this.#isHarmless(key, place));
    if (!isFree) this.#responses.push(response);
    return isFree && isQuiet ? { kind: 'free' } : { kind: 'held' };
  }

  #isHarmless(key: string, place: Place): boolean {
    if (key === 'output')
      return place.kind === 'null' || (place.kind === 'array' && place.items.length === 0);
    return isSettled(key, place, sentBody(this.#request));
  }

  #takeItem(told: Told<Of<'item'>>): StreamPart {
    const { root, type, kind } = told;
    const place = root.at('item');
    if (place?.kind !== 'object') throw invalidAnswer(`\`${type}\` has no \`item\``);
    const showsNothing = this.#showsNothing(place, outputItem, type);
    const isQuiet = this.#readRest(told, {}, ['item']);
    const index = this.#indexOf(root, place, kind.isEnd);
    if (!kind.isEnd && this.#items.has(index)) throw invalidAnswer(`\`${type}\` tells an item again`);
    const item = this.#items.get(index) ?? new StreamedItem(kind.isEnd ? undefined : place);
    this.#items.set(index, item);
    if (kind.isEnd) item.check(place);
    const snapshot = openPlace(item.snapshot());
    item.tell({ path: [], place, isWhole: kind.isEnd, type });
    const isTold = kind.isEnd ? untold(place, snapshot, 'told').length === 0 : showsNothing;
    return { kind: isQuiet && isTold ? 'echo' : 'held' };
  }

  /** Whether hooks see nothing but empty texts in a value. Throws RefusedCall for a kind that they cannot read. */
  #showsNothing(place: Place, shape: Shape, path: string): boolean {
    const seen = new Seen(place);
    const spot = { place, owner: place, entry: 0, path };
    walk(spot, shape, { rules: this.#rules, isAnswer: true, at: '' }, seen);
    const { body, reasoning, refusals, calls, results, citations, other } = seen;
    const lists = [calls, results, citations, body.filter((facet) => facet.kind === 'media')];
    const texts = [...body, ...reasoning, ...refusals].filter((facet) => facet.kind === 'text');
    return (
      other.isEmpty &&
      lists.every((list) => list.length === 0) &&
      texts.every((facet) => facet.place.text === '')
    );
  }

  /** The index of an item; some APIs leave it out. */
  #indexOf(root: Place, item: Place, isEnd: boolean): number {
    const index = root.at('output_index');
    if (index !== undefined) return requireIndex(root, 'output_index');
    const id = item.at('id')?.text;
    const known = [...this.#items].find(([, { id: other }]) => isEnd && other !== '' && other === id);
    return known?.[0] ?? Math.max(-1, ...this.#items.keys()) + 1;
  }

  #takePart(told: Told<Of<'part'>>): StreamPart {
    const { root, type, kind } = told;
    const place = root.at(kind.member);
    if (place === undefined) throw invalidAnswer(`\`${type}\` has no \`${kind.member}\``);
    const { item, path } = this.#locate(told);
    const showsNothing = this.#showsNothing(place, kind.shape, type);
    const isQuiet = this.#readRest(told, {}, [kind.member]);
    const before = kind.isEnd ? placeAt(openPlace(item.snapshot()), path) : undefined;
    item.tell({ path, place, isWhole: kind.isEnd, type });
    const isTold = before === undefined ? showsNothing : untold(place, before, 'told').length === 0;
    return { kind: isQuiet && isTold ? 'echo' : 'held' };
  }

  #takeDelta(told: Told<Of<'delta'>>): StreamPart {
    const { root, kind } = told;
    const { item, path, index } = this.#locate(told);
    const { members } = kind;
    const isQuiet = this.#readRest(told, {}, ['delta']);
    if (members !== undefined) {
      const delta = root.at('delta');
      if (delta?.kind !== 'object') throw invalidAnswer(`\`${told.type}\` has no \`delta\``);
      const texts = members.filter((member) => delta.at(member)?.kind === 'string');
      this.#readMembers(delta, { path: `${told.type}.delta`, members: {}, read: texts });
      for (const member of texts) item.addText([...path, member], delta.at(member)?.text ?? '');
      return { kind: 'held' };
    }
    const text = requireText(root, 'delta');
    item.addText(path, text);
    if (kind.channel === undefined || !isQuiet) return { kind: 'held' };
    const channel = { key: formatChannel({ index, path, itemId: item.id }), choice: 0, member: kind.channel };
    return { kind: 'text', deltas: [{ channel, text }] };
  }

  #takeText(told: Told<Of<'text'>>): StreamPart {
    const { root, kind } = told;
    const { item, path } = this.#locate(told);
    const isQuiet = this.#readRest(told, {}, [kind.member]);
    const isNew = item.endText(path, requireText(root, kind.member));
    return { kind: isNew || !isQuiet ? 'held' : 'echo' };
  }

  /** The item that an event is about, and where in it. */
  #locate({ root, type, kind }: Told<Of<'part' | 'delta' | 'text'>>) {
    const index = requireIndex(root, 'output_index');
    const item = this.#items.get(index);
    if (item === undefined) throw invalidAnswer(`\`${type}\` is about an item that was not added`);
    const id = root.at('item_id')?.text;
    if (id !== undefined && item.id !== '' && id !== item.id)
      throw invalidAnswer(`\`${type}\` is about another item`);
    const path: ItemPath = kind.path.map((key) => (key.endsWith('_index') ? requireIndex(root, key) : key));
    return { item, path, index };
  }

  /** Shows hooks the members of an event but those in `read`, unless they are of their shape. Whether all are. */
  #readRest({ root, type }: Told, members: Members = {}, read: readonly string[] = []): boolean {
    return this.#readMembers(root, {
      path: type,
      members: { ...eventMembers, ...members },
      read: ['type', ...read],
    });
  }

  #readMembers(
    place: Place,
    {
      path,
      members,
      read,
    }: { readonly path: string; readonly members: Members; readonly read: readonly string[] },
  ): boolean {
    const seen = new Seen(place);
    const spot = { place, owner: place, entry: 0, path };
    walkMembers(spot, members, { rules: this.#rules, isAnswer: true, at: '' }, seen, read);
    const { json } = seen.other;
    for (const [name, value] of json === undefined ? [] : exactMembers(json)) this.#extra(name, value);
    return json === undefined;
  }

  #extra(name: string, json: Json): void {
    let own = `stream.${name}`;
    for (let count = 2; this.#extras.has(own) && this.#extras.get(own)?.text !== json.text; count += 1)
      own = `stream.${name}#${count}`;
    this.#extras.set(own, json);
  }

  /** The response; where it leaves its items out, with those of the stream. */
  #assemble(end: Place): string {
    const text = end.json.text;
    const output = end.at('output');
    const isLeftOut =
      output === undefined ||
      output.kind === 'null' ||
      (output.kind === 'array' && output.items.length === 0);
    if (!isLeftOut || this.#items.size === 0) return text;
    const items = [...this.#items].toSorted(([one], [other]) => one - other);
    const list = `[${items.map(([, item]) => item.done?.json.text ?? item.snapshot()).join(',')}]`;
    const root = openStrictly(text, (problem) => invalidAnswer(`its response ${problem}`));
    const edits = new Edits(text);
    const place = root.at('output');
    if (place === undefined) edits.addMember(root, 'output', list);
    else edits.replace(place, list);
    return edits.apply();
  }

  #checkItems(whole: Place): void {
    const items = [...this.#items].toSorted(([one], [other]) => one - other);
    const finals = whole.at('output')?.items ?? [];
    const byId = new Map(finals.map((final) => [final.at('id')?.text ?? '', final]));
    for (const [position, [, item]] of items.entries()) {
      const final = (item.id === '' ? undefined : byId.get(item.id)) ?? finals[position];
      if (final === undefined) throw invalidAnswer('its response lacks an item that its stream told');
      item.check(final);
      for (const { path, place, isWhole, type } of item.tellings) {
        const late = placeAt(final, path);
        for (const [name, extra] of untold(place, late, isWhole ? 'whole' : 'begin'))
          this.#extra(`${type}${name}`, extra.json);
      }
    }
  }

  #checkResponses(whole: Place): void {
    for (const response of this.#responses) {
      for (const [key, place] of response.members) {
        if (this.#isHarmless(key, place)) continue;
        for (const [name, extra] of untold(place, whole.at(key), 'begin'))
          this.#extra(`response.${key}${name}`, extra.json);
      }
    }
  }
}

/** Throws RefusedCall (502). */
function requireText(root: Place, key: string): string {
  const text = root.at(key)?.text;
  if (text === undefined) throw invalidAnswer(`an event of its stream has no text \`${key}\``);
  return text;
}

/** Throws RefusedCall (502). */
function requireIndex(root: Place, key: string): number {
  const index = root.at(key)?.value;
  if (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 && index < maxIndex)
    return index;
  throw invalidAnswer(`an event of its stream has no \`${key}\``);
}

const maxIndex = 100_000;
