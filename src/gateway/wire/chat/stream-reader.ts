import type { Channel, StreamPart, StreamReader, WireAnswer, WireRules } from '../codec.ts';
import { invalidAnswer, unknownEvent } from '../faults.ts';
import type { SseEvent } from '../sse.ts';
import { passesUnread } from '../walk.ts';
import { readChatAnswer } from './answer.ts';
import { ChatAssembly } from './assembly.ts';
import { type ChunkChoice, readChunk } from './chunk.ts';

/** The names of events that clients of this endpoint read as chunks, or as an error. */
const eventNames = new Set(['', 'message', 'chat.completion.chunk', 'error']);

/** Whether an event is one of a kind that no client of this endpoint reads, and that the config lets pass. */
export function isForeignEvent({ event }: SseEvent): boolean {
  return event !== undefined && !eventNames.has(event);
}

/** Reads the stream of `POST /v1/chat/completions`. */
export class ChatStreamReader implements StreamReader {
  readonly #rules: WireRules;
  readonly #assembly = new ChatAssembly();
  readonly #channels = new Map<string, Channel>();
  #isDone = false;

  constructor(rules: WireRules) {
    this.#rules = rules;
  }

  push(event: SseEvent): StreamPart {
    const { event: name, data } = event;
    if (isForeignEvent(event)) {
      if (!passesUnread(name, this.#rules)) throw unknownEvent(name);
      return { kind: 'held' };
    }
    if (this.#isDone) throw invalidAnswer('its stream goes on after its end');
    if (data.trim() === '[DONE]') {
      this.#isDone = true;
      return { kind: 'end' };
    }
    const chunk = readChunk(event);
    const error = chunk.members.get('error');
    if (name === 'error' || (error !== undefined && error !== null)) return { kind: 'error' };
    const deltas = chunk.choices.flatMap((choice) => this.#textsOf(choice));
    this.#assembly.add(chunk);
    for (const choice of chunk.choices) this.#requireOneReasoning(choice);
    if (chunk.isHeld) return { kind: 'held' };
    return deltas.length === 0 ? { kind: 'free' } : { kind: 'text', deltas };
  }

  answer(): WireAnswer {
    if (this.#assembly.isEmpty) throw invalidAnswer('its stream has no answer');
    if (!this.#isDone && !this.#assembly.isFinished) throw invalidAnswer('its stream broke off');
    if (!this.#assembly.isGapless) throw invalidAnswer('a choice of its stream is missing');
    return readChatAnswer(this.#assembly.toBody(), this.#rules);
  }

  #textsOf({ index, texts }: ChunkChoice) {
    return texts.map(({ member, key, text }) => ({
      channel: this.#channel({ key: `${index}.${key}`, choice: index, member }),
      text,
    }));
  }

  /** Servers have one of two names for it, or both with the same text. */
  #requireOneReasoning({ index }: ChunkChoice): void {
    const choice = this.#assembly.choice(index);
    const [one, other] = [choice.text('reasoning_content'), choice.text('reasoning')];
    if (one !== '' && other !== '' && one !== other)
      throw invalidAnswer('its stream tells its reasoning in two ways');
  }

  #channel(channel: Channel): Channel {
    const known = this.#channels.get(channel.key);
    if (known === undefined) this.#channels.set(channel.key, channel);
    return known ?? channel;
  }
}
