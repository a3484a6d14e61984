import { stringifyJson } from '../../../base/json/json.ts';
import { isSealed } from '../../../base/text/sealed.ts';
import { withExtras } from '../bodies.ts';
import type { StreamPart, StreamReader, WireAnswer, WireRules } from '../codec.ts';
import { bodySpot, isPlainId, memberSpot, openPlace, openStrictly, type Place } from '../place.ts';
import { invalidAnswer, unknownEvent } from '../refusal.ts';
import { Seen } from '../seen.ts';
import type { Members, WalkContext } from '../shape.ts';
import type { SseEvent } from '../sse.ts';
import { isShaped, passesUnread, walk, walkMembers } from '../walk.ts';
import { readMessagesAnswer } from './answer.ts';
import { answeredBlock, answerShape, deltaKinds, endMembers, eventKinds, usageMembers } from './shapes.ts';

export class MessagesStreamReader implements StreamReader {
  readonly #message = new AssembledMessage();
  readonly #context: WalkContext;
  /** Members of events that the complete response lacks. Clients may read them. */
  readonly #rest = new Seen(openPlace('{}'));
  #count = 0;

  constructor(rules: WireRules) {
    this.#context = { rules, isAnswer: true, at: '' };
  }

  push(event: SseEvent): StreamPart {
    this.#count += 1;
    const data = readData(event);
    if (data === undefined) return { kind: 'free' };
    const type = data.at('type')?.text ?? '';
    if (type === 'error') return { kind: 'error' };
    if (!this.#isKnown(eventKinds, type)) return { kind: 'free' };
    const delta = type === 'content_block_delta' ? data.at('delta') : undefined;
    if (type === 'content_block_delta' && !this.#isKnown(deltaKinds, delta?.at('type')?.text ?? ''))
      return { kind: 'free' };
    const isPlain = this.#readRest(data, type);
    if (!this.#message.add(data)) throw invalidAnswer(`a ${type} of its stream does not belong there`);
    const part = this.#partOf(type, data, delta);
    return isPlain || part.kind === 'end' ? part : { kind: 'held' };
  }

  answer(): WireAnswer {
    if (!this.#message.isComplete) throw invalidAnswer('its stream ended early');
    return withExtras(readMessagesAnswer(this.#message.json, this.#context.rules), this.#rest.other.members);
  }

  #isKnown(kinds: Readonly<Record<string, unknown>>, type: string): boolean {
    if (Object.hasOwn(kinds, type)) return true;
    if (passesUnread(type, this.#context.rules)) return false;
    throw unknownEvent(type);
  }

  #readRest(data: Place, type: string): boolean {
    const { read = [], members = {} } = eventKinds[type] ?? {};
    const own = new Seen(data);
    const spot = bodySpot(data, `event[${this.#count}]`);
    walkMembers(spot, members, this.#context, own, read);
    const delta = memberSpot(spot, 'delta');
    if (delta !== undefined && type === 'message_delta')
      walkMembers(delta, {}, this.#context, own, endMembers);
    if (delta !== undefined && type === 'content_block_delta') {
      const kind = deltaKinds[delta.place.at('type')?.text ?? ''];
      const told = kind?.how === 'all' ? ['content', 'encrypted_content'] : [kind?.from ?? ''];
      walkMembers(delta, kind?.members ?? {}, this.#context, own, ['type', ...told]);
    }
    this.#rest.other.addAll(own.other, '');
    return own.other.isEmpty;
  }

  #partOf(type: string, data: Place, delta: Place | undefined): StreamPart {
    if (delta !== undefined) {
      const { how, from = '', channel } = deltaKinds[delta.at('type')?.text ?? ''] ?? {};
      const text = delta.at(from)?.text ?? '';
      if (channel !== undefined) return this.#textPart(text);
      return how === 'once' && (text === '' || isSealed(text)) ? this.#textPart('') : { kind: 'held' };
    }
    if (type === 'message_start') {
      const seen = new Seen(data);
      const message = memberSpot(bodySpot(data), 'message');
      if (message !== undefined) walk(message, answerShape, this.#context, seen);
      return { kind: seen.isEmpty ? 'free' : 'held' };
    }
    if (type !== 'content_block_start') return { kind: eventKinds[type]?.part ?? 'held' };
    // A new block must be one that a response may have.
    const { blocks, openBlock } = this.#message;
    const place = openPlace(openBlock?.json ?? 'null');
    const seen = new Seen(place);
    const spot = bodySpot(place, `content[${blocks.length - 1}]`);
    walk({ ...spot, entry: 0 }, answeredBlock, this.#context, seen);
    const isText = textKey(openBlock?.type) !== undefined || seen.sealed.length > 0;
    return isText && seen.citations.length === 0 && seen.other.isEmpty
      ? this.#textPart(openBlock?.text ?? '')
      : { kind: 'held' };
  }

  #textPart(text: string): StreamPart {
    if (text === '') return { kind: 'text', deltas: [] };
    const { blocks, openBlock } = this.#message;
    const member = openBlock?.type === 'thinking' ? 'reasoning' : 'content';
    return {
      kind: 'text',
      deltas: [{ channel: { key: `${blocks.length - 1}`, choice: 0, member }, text }],
    };
  }
}

/** Returns undefined for events that clients ignore. Throws RefusedCall (502). */
function readData({ event, data }: SseEvent): Place | undefined {
  if (data === '') {
    if (event === undefined || event === 'ping') return undefined;
    throw invalidAnswer('an event of its stream has no data');
  }
  const place = openStrictly(data, (problem) => invalidAnswer(`an event of its stream ${problem}`));
  // Clients use the event's name, its `type` or both, so they must agree.
  if (place.kind !== 'object' || place.at('type')?.text !== event || event === undefined)
    throw invalidAnswer('the name and the type of an event of its stream differ');
  return place;
}

// --- the message, assembled like the accumulators of @anthropic-ai/sdk 1.12 (MessageStream, BetaMessageStream) ---

export function textKey(type: string | undefined): 'text' | 'thinking' | undefined {
  return type === 'text' || type === 'thinking' ? type : undefined;
}

export class AssembledBlock {
  readonly type: string;
  readonly begun: Place;
  isOpen = true;
  text: string;
  readonly #members = new Map<string, string>();
  readonly #pieces = new Map<string, { readonly how: 'list' | 'json'; readonly pieces: string[] }>();

  constructor(begun: Place) {
    this.begun = begun;
    this.type = begun.at('type')?.text ?? '';
    this.text = begun.at(textKey(this.type) ?? '')?.text ?? '';
  }

  /** Returns false if the delta does not fit the block or contradicts it. */
  add(delta: Place): boolean {
    const type = delta.at('type')?.text ?? '';
    const kind = Object.hasOwn(deltaKinds, type) ? deltaKinds[type] : undefined;
    if (kind?.of.includes(this.type) !== true) return false;
    const { how, to } = kind;
    if (how === 'all') return this.#addAll(delta);
    const place = delta.at(kind.from);
    const begun = this.begun.at(to);
    const ofBegun = how === 'json' ? undefined : how === 'list' ? 'array' : 'string';
    if (place?.kind !== (how === 'list' ? 'object' : 'string')) return false;
    if (!isBlank(begun) && begun?.kind !== ofBegun) return false;
    if (how === 'grows') this.text += place.text ?? '';
    else if (how === 'once') {
      const json = stringifyJson(place.text);
      const known = this.#members.get(to) ?? stringifyJson(begun?.text ?? '');
      if (known !== '""' && known !== json) return false;
      this.#members.set(to, json);
    } else {
      const begunItems = how === 'list' ? (begun?.items ?? []) : [];
      const known = this.#pieces.get(to) ?? { how, pieces: begunItems.map((item) => item.json.text) };
      known.pieces.push(how === 'list' ? place.json.text : (place.text ?? ''));
      this.#pieces.set(to, known);
    }
    return true;
  }

  get json(): string {
    const changes = new Map(this.#members);
    const key = textKey(this.type);
    if (key !== undefined && this.text !== (this.begun.at(key)?.text ?? ''))
      changes.set(key, stringifyJson(this.text));
    for (const [to, { how, pieces }] of this.#pieces)
      changes.set(to, how === 'list' ? `[${pieces.join(',')}]` : inputJson(pieces.join('')));
    return withMembers(this.begun, changes);
  }

  #addAll({ members }: Place): boolean {
    const added = [...members].filter(([key]) => key !== 'type');
    const isNew = added.every(([key, { json }]) => {
      const begun = this.begun.at(key);
      return isBlank(begun) || begun?.json.text === json.text;
    });
    if (this.#members.size > 0 || !isNew) return false;
    for (const [key, { json }] of added) this.#members.set(key, json.text);
    return true;
  }
}

/** Whether a value is empty, so that a delta may replace it. Hooks see the final value. */
function isBlank(place: Place | undefined): boolean {
  if (place === undefined || place.kind === 'null' || place.text === '') return true;
  return ['[]', '{}'].includes(place.json.text.replaceAll(/\s/g, ''));
}

/** Incomplete JSON, such as the arguments of a cut-off call, becomes a string. */
function inputJson(text: string): string {
  if (text === '') return '{}';
  try {
    JSON.parse(text);
    return text.trim();
  } catch {
    return stringifyJson(text);
  }
}

/** Sets members of an object or removes those with undefined. Returns the original text if there are no changes. */
export function withMembers(object: Place, changes: ReadonlyMap<string, string | undefined>): string {
  if (changes.size === 0) return object.json.text;
  const members = new Map<string, string | undefined>(
    [...object.members].map(([key, { json }]) => [key, json.text]),
  );
  for (const [key, value] of changes) members.set(key, value);
  const texts = [...members].flatMap(([key, value]) =>
    value === undefined ? [] : [`${JSON.stringify(key)}:${value}`],
  );
  return `{${texts.join(',')}}`;
}

/** Works like the accumulators in lib/MessageStream.ts and lib/BetaMessageStream.ts. */
export class AssembledMessage {
  readonly blocks: AssembledBlock[] = [];
  isComplete = false;
  #begun: Place | undefined;
  readonly #ended = new Map<string, string | undefined>();
  readonly #usage = new Map<string, Place>();

  get isBegun(): boolean {
    return this.#begun !== undefined;
  }

  get isEnded(): boolean {
    return this.#ended.size > 0;
  }

  get openBlock(): AssembledBlock | undefined {
    const last = this.blocks.at(-1);
    return last?.isOpen === true ? last : undefined;
  }

  /** Returns false for an event that contradicts earlier ones. Events of other types are accepted. */
  add(event: Place): boolean {
    const index = event.at('index')?.value;
    const block = index === this.blocks.length - 1 ? this.openBlock : undefined;
    switch (event.at('type')?.text) {
      case 'message_start':
        return this.#begin(event.at('message'));
      case 'content_block_start':
        return this.#beginBlock(index, event.at('content_block'));
      case 'content_block_delta': {
        const delta = event.at('delta');
        return block !== undefined && delta?.kind === 'object' && block.add(delta);
      }
      case 'content_block_stop':
        if (block !== undefined) block.isOpen = false;
        return block !== undefined;
      case 'message_delta':
        return this.#end(event);
      case 'message_stop': {
        const isFirst = this.isEnded && !this.isComplete;
        this.isComplete ||= isFirst;
        return isFirst;
      }
      default:
        return true;
    }
  }

  #begin(message: Place | undefined): boolean {
    if (this.isBegun || message?.kind !== 'object') return false;
    const content = message.at('content');
    const usage = message.at('usage');
    if (content?.kind !== 'array' || content.items.length > 0) return false;
    if (usage !== undefined && usage.kind !== 'object') return false;
    if (endMembers.some((key) => key !== 'container' && (message.at(key)?.kind ?? 'null') !== 'null'))
      return false;
    this.#begun = message;
    return true;
  }

  #beginBlock(index: unknown, block: Place | undefined): boolean {
    if (!this.isBegun || this.isEnded || this.openBlock !== undefined) return false;
    if (index !== this.blocks.length || block?.kind !== 'object') return false;
    this.blocks.push(new AssembledBlock(block));
    return true;
  }

  /** Apart from counts, the values at the end must not change. */
  #end(event: Place): boolean {
    const delta = event.at('delta');
    const usage = event.at('usage');
    if (!this.isBegun || this.isComplete || this.openBlock !== undefined || delta?.kind !== 'object')
      return false;
    if (usage !== undefined && usage.kind !== 'object') return false;
    const isAgain = this.isEnded;
    for (const key of endMembers) {
      if (key === 'container') continue;
      const text = delta.at(key)?.json.text;
      if (isAgain && (text ?? 'null') !== (this.#ended.get(key) ?? 'null')) return false;
      this.#ended.set(key, text);
    }
    for (const [key, place] of [['container', delta.at('container')] as const, ...event.members]) {
      if (place === undefined || place.kind === 'null' || !lateMembers.has(key)) continue;
      const begun = this.#begun?.at(key);
      const known = this.#ended.get(key) ?? (begun?.kind === 'null' ? undefined : begun?.json.text);
      if (known !== undefined && known !== place.json.text) return false;
      this.#ended.set(key, place.json.text);
    }
    return this.#count(usage);
  }

  #count(usage: Place | undefined): boolean {
    for (const [key, place] of usage?.members ?? []) {
      if (place.kind === 'null' || !countedMembers.has(key)) continue;
      const before = this.#usage.get(key) ?? this.#begun?.at('usage')?.at(key);
      const isSame = before?.json.text === place.json.text;
      if (before !== undefined && !isSame && !isShaped(before, key, counted)) return false;
      this.#usage.set(key, place);
    }
    return true;
  }

  get json(): string {
    const begun = this.#begun;
    if (begun === undefined) return '';
    const changes = new Map<string, string | undefined>([
      ['content', `[${this.blocks.map(({ json }) => json).join(',')}]`],
      ...this.#ended,
    ]);
    if (this.#usage.size > 0) {
      const counts = new Map([...this.#usage].map(([key, place]) => [key, place.json.text]));
      changes.set('usage', withMembers(begun.at('usage') ?? openPlace('{}'), counts));
    }
    const fallback = this.blocks.findLast(({ type }) => type === 'fallback');
    const model = fallback?.begun.at('to')?.at('model');
    if (model !== undefined && isPlainId(begun.at('model')?.text ?? ' '))
      changes.set('model', model.json.text);
    return withMembers(begun, changes);
  }
}

const lateMembers = new Set(['container', 'context_management', 'input_transformations']);

/** Values that hooks need not see, so that later ones may replace them. */
const counted: Members = { fallback_credit: 'number', ...usageMembers };

/** Members that a `message_delta` may update. Others keep their initial value. */
const countedMembers = new Set([
  ...['output_tokens', 'input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
  ...['server_tool_use', 'iterations', 'fallback_credit', 'output_tokens_details'],
]);
