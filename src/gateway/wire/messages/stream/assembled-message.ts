import { openPlace, type Place } from '../../place.ts';
import { isPlainId } from '../../plain-id.ts';
import { usageShape } from '../answer/answer-shape.ts';
import { isOfShape } from '../blocks/shapes.ts';
import { AssembledBlock, withMembers } from './assembled-block.ts';

/**
 * A streamed message, put together as the accumulators of @anthropic-ai/sdk 1.12 do (lib/MessageStream.ts and
 * lib/BetaMessageStream.ts). Its methods return false for what contradicts what came before.
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

  begin(message: Place | undefined): boolean {
    if (this.isBegun || message?.kind !== 'object') return false;
    const content = message.at('content');
    if (content?.kind !== 'array' || content.items.length > 0) return false;
    if (message.at('usage') !== undefined && message.at('usage')?.kind !== 'object') return false;
    if (['stop_reason', 'stop_sequence', 'stop_details'].some((key) => holdsText(message.at(key))))
      return false;
    this.#begun = message;
    return true;
  }

  /** The block that is open; at most one is. */
  get openBlock(): AssembledBlock | undefined {
    const last = this.blocks.at(-1);
    return last?.isOpen === true ? last : undefined;
  }

  beginBlock(index: unknown, block: Place | undefined): boolean {
    if (!this.isBegun || this.isEnded || this.openBlock !== undefined) return false;
    if (index !== this.blocks.length || block?.kind !== 'object') return false;
    const begun = new AssembledBlock(block);
    this.blocks.push(begun);
    return begun.hasText;
  }

  addDelta(index: unknown, delta: Place | undefined): boolean {
    const block = this.#openAt(index);
    return block !== undefined && delta?.kind === 'object' && block.add(delta);
  }

  endBlock(index: unknown): boolean {
    const block = this.#openAt(index);
    if (block === undefined) return false;
    block.isOpen = false;
    return true;
  }

  /** What comes at the end; it comes once, but for counts. */
  end(event: Place): boolean {
    const delta = event.at('delta');
    const usage = event.at('usage');
    if (!this.isBegun || this.isComplete || this.openBlock !== undefined || delta?.kind !== 'object')
      return false;
    if (usage !== undefined && usage.kind !== 'object') return false;
    const isAgain = this.isEnded;
    for (const key of endMembers) {
      const text = delta.at(key)?.json.text;
      if (isAgain && (text ?? 'null') !== (this.#ended.get(key) ?? 'null')) return false;
      this.#ended.set(key, text);
    }
    for (const [key, place] of [['container', delta.at('container')] as const, ...event.members]) {
      if (place === undefined || place.kind === 'null' || !lateMembers.has(key)) continue;
      const known = this.#ended.get(key) ?? this.#begunText(key);
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
      if (before !== undefined && !isSame && !isCount(key, before)) return false;
      this.#usage.set(key, place);
    }
    return true;
  }

  #begunText(key: string): string | undefined {
    const place = this.#begun?.at(key);
    return place === undefined || place.kind === 'null' ? undefined : place.json.text;
  }

  complete(): boolean {
    if (!this.isEnded || this.isComplete) return false;
    this.isComplete = true;
    return true;
  }

  /** The body as the unstreamed endpoint gives it. */
  get json(): string {
    const begun = this.#begun;
    if (begun === undefined) return '';
    const usage = begun.at('usage');
    const changes = new Map<string, string | undefined>([
      ['content', `[${this.blocks.map(({ json }) => json).join(',')}]`],
      ...this.#ended,
    ]);
    const counts = new Map([...this.#usage].map(([key, place]) => [key, place.json.text]));
    if (counts.size > 0)
      changes.set('usage', usage === undefined ? objectOf(counts) : withMembers(usage, counts));
    const fallback = this.blocks.findLast(({ type }) => type === 'fallback');
    const model = fallback?.begun.at('to')?.at('model');
    if (model !== undefined && isPlainId(begun.at('model')?.text ?? ' '))
      changes.set('model', model.json.text);
    return withMembers(begun, changes);
  }

  #openAt(index: unknown): AssembledBlock | undefined {
    return index === this.blocks.length - 1 ? this.openBlock : undefined;
  }
}

function holdsText(place: Place | undefined): boolean {
  return place !== undefined && place.kind !== 'null';
}

/** Whether hooks need not see a member of `usage`, so that a later one may replace it. */
function isCount(key: string, place: Place): boolean {
  const shape = usageShape.members[key] ?? 'figure';
  return isOfShape(openPlace(`{"count":${place.json.text}}`), { members: { count: shape } });
}

function objectOf(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

const endMembers = ['stop_reason', 'stop_sequence', 'stop_details'] as const;

/** Members of the end that replace those of the beginning when they are there. */
const lateMembers = new Set(['container', 'context_management', 'input_transformations']);

/** Counts of the whole message; others are those of the beginning. */
const countedMembers = new Set([
  'output_tokens',
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'server_tool_use',
  'iterations',
  'fallback_credit',
  'output_tokens_details',
]);
