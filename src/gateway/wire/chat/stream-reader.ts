import type { Channel, StreamPart, StreamReader, WireAnswer, WireRules } from '../codec.ts';
import { invalidAnswer, unknownInAnswer } from '../faults.ts';
import type { SseEvent } from '../sse.ts';
import { readChatAnswer } from './answer.ts';
import { ChatAssembly } from './assembly.ts';
import { type Chunk, type ChunkChoice, readChunk } from './chunk.ts';
import type { Members } from './merge.ts';
import { isQuietMember } from './quiet-members.ts';
import { reasoningKeys } from './reasoning.ts';

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
    if (name !== undefined && !eventNames.has(name)) throw unknownInAnswer('an event of its stream');
    if (data === undefined) return { kind: 'free' };
    if (this.#isDone) throw invalidAnswer('its stream goes on after its end');
    if (data.trim() === '[DONE]') {
      this.#isDone = true;
      return { kind: 'end' };
    }
    const chunk = readChunk(event);
    if (name === 'error' || isThere(chunk.members.get('error'))) return { kind: 'error' };
    const deltas = chunk.choices.flatMap((choice) => this.#textsOf(choice));
    this.#assembly.add(chunk);
    if (!isQuietFrame(chunk) || !chunk.choices.every(isQuietChoice)) return { kind: 'held' };
    return deltas.length === 0 ? { kind: 'free' } : { kind: 'text', deltas };
  }

  answer(): WireAnswer {
    if (this.#assembly.isEmpty) throw invalidAnswer('its stream has no answer');
    if (!this.#isDone && !this.#assembly.isFinished) throw invalidAnswer('its stream broke off');
    if (!this.#assembly.isGapless) throw invalidAnswer('a choice of its stream is missing');
    return readChatAnswer(this.#assembly.toBody(), this.#rules);
  }

  #textsOf({ index, delta }: ChunkChoice) {
    const reasoning = this.#reasoningOf(index, delta);
    const found = [
      ['content', 'content', delta.get('content')],
      ['refusal', 'refusal', delta.get('refusal')],
      ['reasoning', reasoning?.key ?? '', reasoning?.text],
    ] as const;
    return found.flatMap(([member, key, text]) => {
      if (text === undefined || text === null || text === '') return [];
      if (typeof text !== 'string') throw unknownInAnswer(`choices[${index}].delta.${key}`);
      return [{ channel: this.#channel({ key: `${index}.${key}`, choice: index, member }), text }];
    });
  }

  /** Servers have one of two names for it, or both with the same text. */
  #reasoningOf(index: number, delta: Members): { readonly key: string; readonly text: string } | undefined {
    const given = reasoningKeys.flatMap((key) => {
      const text = delta.get(key);
      return typeof text === 'string' && text !== '' ? [{ key, text }] : [];
    });
    const [first, second] = given;
    if (first === undefined) return undefined;
    const other = first.key === 'reasoning' ? 'reasoning_content' : 'reasoning';
    const isOneText = second === undefined || second.text === first.text;
    const choice = this.#assembly.choice(index);
    const isConsistent =
      second === undefined ? choice.text(other) === '' : choice.text(other) === choice.text(first.key);
    if (!isOneText || !isConsistent) throw invalidAnswer('its stream tells its reasoning in two ways');
    return first;
  }

  #channel(channel: Channel): Channel {
    const known = this.#channels.get(channel.key);
    if (known === undefined) this.#channels.set(channel.key, channel);
    return known ?? channel;
  }
}

/** Clients of this endpoint look at no other. */
const eventNames = new Set(['', 'message', 'chat.completion.chunk', 'error']);

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Whether all that stands beside the choices of a frame is ids, figures and the like. */
function isQuietFrame({ members }: Chunk): boolean {
  return members.entries().every(([key, value]) => isQuietMember(key, value));
}

const textKeys = new Set<string>(['content', 'refusal', ...reasoningKeys]);

/** Whether a choice of a frame has nothing but texts, and its role. */
function isQuietChoice({ delta, finishReason, members }: ChunkChoice): boolean {
  return (
    finishReason === undefined &&
    members.values().every((value) => !isThere(value)) &&
    delta.entries().every(([key, value]) => {
      if (!isThere(value)) return true;
      if (textKeys.has(key)) return typeof value === 'string';
      return key === 'role' && (value === 'assistant' || value === '');
    })
  );
}
