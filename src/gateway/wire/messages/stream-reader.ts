import { isSealed } from '../../../text/sealed.ts';
import type { StreamPart, StreamReader, WireAnswer, WireRules } from '../codec.ts';
import { invalidAnswer, unknownEvent } from '../faults.ts';
import { bodySpot, memberSpot, openPlace, type Place } from '../place.ts';
import { Seen } from '../seen.ts';
import type { WalkContext } from '../shape.ts';
import type { SseEvent } from '../sse.ts';
import { withExtras } from '../stream-extras.ts';
import { openStrictly } from '../strict-json.ts';
import { passesUnread, walk, walkMembers } from '../walk.ts';
import { readMessagesAnswer } from './answer.ts';
import { AssembledMessage, textKey } from './assembly.ts';
import { answeredBlock, answerShape, deltaKinds, endMembers, eventKinds } from './shapes.ts';

/** Reads the events of `POST /v1/messages` with `stream: true`. */
export function createStreamReader(rules: WireRules): StreamReader {
  return new MessagesStreamReader(rules);
}

class MessagesStreamReader implements StreamReader {
  readonly #message = new AssembledMessage();
  readonly #context: WalkContext;
  /** What events have that the whole answer has not: clients may read it. */
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
    const delta = data.at('delta');
    const isDelta = type === 'content_block_delta';
    if (isDelta && !this.#isKnown(deltaKinds, delta?.at('type')?.text ?? '')) return { kind: 'free' };
    const isPlain = this.#readRest(data, type);
    if (!this.#message.add(data)) throw invalidAnswer(`a ${type} of its stream does not belong there`);
    const part = isDelta ? this.#partOfDelta(delta) : this.#partOf(type, data);
    return isPlain || part.kind === 'end' ? part : { kind: 'held' };
  }

  answer(): WireAnswer {
    if (!this.#message.isComplete) throw invalidAnswer('its stream broke off');
    return withExtras(readMessagesAnswer(this.#message.json, this.#context.rules), this.#rest.other.members);
  }

  /** False: it passes unread. Throws RefusedCall (502). */
  #isKnown(kinds: Readonly<Record<string, unknown>>, type: string): boolean {
    if (Object.hasOwn(kinds, type)) return true;
    if (passesUnread(type, this.#context.rules)) return false;
    throw unknownEvent(type);
  }

  /** Shows hooks the members that no other facet exposes. Returns whether there were none. */
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

  #partOf(type: string, data: Place): StreamPart {
    switch (type) {
      case 'message_start': {
        const seen = new Seen(data);
        const message = memberSpot(bodySpot(data), 'message');
        if (message !== undefined) walk(message, answerShape, this.#context, seen);
        return seen.isEmpty ? { kind: 'free' } : { kind: 'held' };
      }
      case 'content_block_start':
        return this.#partOfBlock();
      case 'content_block_stop':
        return { kind: 'echo' };
      case 'message_delta':
        return { kind: 'held' };
      case 'message_stop':
        return { kind: 'end' };
      default:
        return { kind: 'free' };
    }
  }

  /** A block that begins must be one that an answer could have. */
  #partOfBlock(): StreamPart {
    const block = this.#message.openBlock;
    const place = openPlace(block?.json ?? 'null');
    const seen = new Seen(place);
    const path = `content[${this.#message.blocks.length - 1}]`;
    walk({ ...bodySpot(place, path), entry: 0 }, answeredBlock, this.#context, seen);
    const isText = textKey(block?.type) !== undefined || seen.sealed.length > 0;
    return isText && seen.citations.length === 0 && seen.other.isEmpty
      ? this.#textPart(block?.text ?? '')
      : { kind: 'held' };
  }

  #partOfDelta(delta: Place | undefined): StreamPart {
    const { how, from = '', channel } = deltaKinds[delta?.at('type')?.text ?? ''] ?? {};
    const text = delta?.at(from)?.text ?? '';
    if (channel !== undefined) return this.#textPart(text);
    return how === 'once' && (text === '' || isSealed(text))
      ? { kind: 'text', deltas: [] }
      : { kind: 'held' };
  }

  /** Text of the open block; without any, the event goes out with what is around it. */
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

/** The data of an event; undefined for one that clients do not read. Throws RefusedCall (502). */
function readData({ event, data }: SseEvent): Place | undefined {
  if (data === undefined || data === '') {
    if (event === undefined || event === 'ping') return undefined;
    throw invalidAnswer('an event of its stream has no data');
  }
  const place = openStrictly(data, (problem) => invalidAnswer(`an event of its stream ${problem}`));
  // Clients go by the name, by the type, or by both.
  if (place.kind !== 'object' || place.at('type')?.text !== event || event === undefined)
    throw invalidAnswer('an event of its stream has another name than type');
  return place;
}
