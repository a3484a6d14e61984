import { stringifyJson } from '../../../json/json.ts';
import { openPlace, type Place } from '../place.ts';
import { isPlainId } from '../plain-id.ts';
import type { Members } from '../shape.ts';
import { isShaped } from '../walk.ts';
import { deltaKinds, endMembers, usageMembers } from './shapes.ts';

/** The member of a block whose text grows; undefined for kinds that have none. */
export function textKey(type: string | undefined): 'text' | 'thinking' | undefined {
  return type === 'text' || type === 'thinking' ? type : undefined;
}

/** A content block of a stream, as far as it has come. */
export class AssembledBlock {
  readonly type: string;
  /** The block as it was begun. */
  readonly begun: Place;
  isOpen = true;
  /** The text of a text or thinking block. */
  text: string;
  /** What deltas added, by the block's member: the text of a string, else JSON. */
  readonly #pieces = new Map<string, string[]>();
  readonly #members = new Map<string, string>();

  constructor(begun: Place) {
    this.begun = begun;
    this.type = begun.at('type')?.text ?? '';
    this.text = begun.at(textKey(this.type) ?? '')?.text ?? '';
  }

  /** Adds a delta as the accumulator of @anthropic-ai/sdk does. False when it does not belong to such a block, or contradicts it. */
  add(delta: Place): boolean {
    const type = delta.at('type')?.text ?? '';
    const kind = Object.hasOwn(deltaKinds, type) ? deltaKinds[type] : undefined;
    if (kind?.of.includes(this.type) !== true) return false;
    const place = delta.at(kind.from);
    const begun = this.begun.at(kind.to);
    switch (kind.how) {
      case 'grows':
        if (place?.text === undefined || !(isBlank(begun) || begun?.kind === 'string')) return false;
        this.text += place.text;
        return true;
      case 'once': {
        const known = this.#pieces.get(kind.to)?.[0] ?? begun?.text ?? '';
        if (place?.text === undefined || !(isBlank(begun) || begun?.kind === 'string')) return false;
        if (known !== '' && known !== place.text) return false;
        this.#pieces.set(kind.to, [place.text]);
        this.#members.set(kind.to, stringifyJson(place.text));
        return true;
      }
      case 'list':
        if (place?.kind !== 'object' || !(isBlank(begun) || begun?.kind === 'array')) return false;
        this.#piecesOf(kind.to, begun?.items.map(({ json }) => json.text) ?? []).push(place.json.text);
        return true;
      case 'json':
        if (place?.text === undefined || !isBlank(begun)) return false;
        this.#piecesOf(kind.to, []).push(place.text);
        return true;
      case 'all':
        return this.#addAll(delta);
    }
  }

  /** The block as the unstreamed endpoint gives it. */
  get json(): string {
    const changes = new Map(this.#members);
    const key = textKey(this.type);
    if (key !== undefined && this.text !== (this.begun.at(key)?.text ?? ''))
      changes.set(key, stringifyJson(this.text));
    for (const { to, how } of Object.values(deltaKinds)) {
      const pieces = this.#pieces.get(to);
      if (pieces !== undefined && how === 'list') changes.set(to, `[${pieces.join(',')}]`);
      if (pieces !== undefined && how === 'json') changes.set(to, inputJson(pieces.join('')));
    }
    return withMembers(this.begun, changes);
  }

  #piecesOf(key: string, begun: string[]): string[] {
    const known = this.#pieces.get(key) ?? begun;
    this.#pieces.set(key, known);
    return known;
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

/** Whether a value says nothing, so that a stream may replace it: hooks see what stands there at the end. */
function isBlank(place: Place | undefined): boolean {
  if (place === undefined || place.kind === 'null' || place.text === '') return true;
  return ['[]', '{}'].includes(place.json.text.replaceAll(/\s/g, ''));
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

/** An object with some members changed, added or taken out; its own text when none is. */
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

/**
 * A streamed message, put together as the accumulators of @anthropic-ai/sdk 1.12 do (lib/MessageStream.ts and
 * lib/BetaMessageStream.ts).
 */
export class AssembledMessage {
  readonly blocks: AssembledBlock[] = [];
  isComplete = false;
  #begun: Place | undefined;
  /** The members of the message that came at its end. */
  readonly #ended = new Map<string, string | undefined>();
  readonly #usage = new Map<string, Place>();

  get isBegun(): boolean {
    return this.#begun !== undefined;
  }

  /** Whether the reason of its end has come. */
  get isEnded(): boolean {
    return this.#ended.size > 0;
  }

  /** The block that is open; at most one is. */
  get openBlock(): AssembledBlock | undefined {
    const last = this.blocks.at(-1);
    return last?.isOpen === true ? last : undefined;
  }

  /** Adds an event. False for one that contradicts what came before; other types tell nothing of the message. */
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

  /** What comes at the end; it comes once, but for counts. */
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

  /** Counts grow; what else stands among them must not become something else. */
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

  /** The body as the unstreamed endpoint gives it. */
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

/** Members of the end that replace those of the beginning when they are there. */
const lateMembers = new Set(['container', 'context_management', 'input_transformations']);

/** What hooks need not see, so that a later value may replace it. */
const counted: Members = { fallback_credit: 'number', ...usageMembers };

/** Counts of the whole message; others are those of the beginning. */
const countedMembers = new Set([
  ...['output_tokens', 'input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
  ...['server_tool_use', 'iterations', 'fallback_credit', 'output_tokens_details'],
]);
