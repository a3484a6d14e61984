import { randomUUID } from 'node:crypto';
import { isSameByValue } from '../../../base/json/equal.ts';
import { isObject, parseLossless, stringifyJson } from '../../../base/json/json.ts';
import type { Channel, EndpointCodec, StreamWriter, Substitute, WireRequest } from '../codec.ts';
import { formatOpenAiError, readOpenAiError } from '../error-body.ts';
import { type Refusal, unwritable } from '../refusal.ts';
import { isNothing } from '../replaced-messages.ts';
import { formatEvent, type SseEvent } from '../sse.ts';
import { readChatAnswer } from './answer.ts';
import { readChatRequest, wantsUsage } from './request.ts';
import {
  ChatAssembly,
  ChatStreamReader,
  type ChoiceAssembly,
  isForeignEvent,
  readChunk,
} from './stream-reader.ts';

/** Source: https://platform.openai.com/docs/api-reference/chat, and the additions of compatible servers. */
export const chatCodec: EndpointCodec = {
  name: 'chat',
  readRequest: readChatRequest,
  readAnswer: readChatAnswer,
  readError: readOpenAiError,
  substitute,
  stream: {
    reader: (rules) => new ChatStreamReader(rules),
    writer: (request) => new ChatStreamWriter(request),
  },
  refusal: formatOpenAiError,
};

function substitute({ text, end }: Substitute, model: string): string {
  return JSON.stringify({
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: Math.trunc(Date.now() / 1000),
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: null,
        finish_reason: end === 'refused' ? 'content_filter' : 'stop',
      },
    ],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  });
}

type PlainObject = Readonly<Record<string, unknown>>;

export class ChatStreamWriter implements StreamWriter {
  readonly #request: WireRequest;
  readonly #sent = new ChatAssembly();
  /** Sent events that are parsed only if the stream is rewritten. */
  #unread: SseEvent[] = [];
  #isDone = false;
  #head: PlainObject | undefined;

  constructor(request: WireRequest) {
    this.#request = request;
  }

  verbatim(event: SseEvent): string {
    if (isForeignEvent(event)) return formatEvent(event.data, event.event);
    this.#unread.push(event);
    return formatEvent(event.data, event.event === 'error' ? 'error' : undefined);
  }

  text({ key, choice }: Channel, text: string): string {
    const member = key.slice(key.indexOf('.') + 1);
    const role = this.#state().choice(choice).hasRole ? {} : { role: 'assistant' };
    return this.#frame({ choices: [choiceOf(choice, { ...role, [member]: text })] });
  }

  finish(body: string): string {
    const answer = parseLossless(body);
    const choices = isObject(answer) ? answer['choices'] : undefined;
    if (!isObject(answer) || !Array.isArray(choices))
      throw unwritable('an answer of a stream has no choices');
    const state = this.#state();
    this.#head ??= headOf((key) => answer[key]);
    const frames = choices
      .filter(isObject)
      .flatMap((choice) => restOf(choice, state.choice(Number(choice['index']))));
    const rest = restOfFrame(answer, state);
    if (rest !== undefined) frames.push({ choices: [], ...rest });
    if (isObject(answer['usage']) && wantsUsage(this.#request) && !isObject(state.member('usage'))) {
      frames.push({ choices: [], usage: answer['usage'] });
    }
    if (this.#isDone && frames.length > 0)
      throw unwritable('a stream has ended, but the answer would continue it');
    const written = frames.map((frame) => this.#frame(frame)).join('');
    if (this.#isDone) return written;
    this.#isDone = true;
    return `${written}data: [DONE]\n\n`;
  }

  fail(refusal: Refusal): string {
    return formatEvent(formatOpenAiError(refusal));
  }

  /** Before the first frame, sends a comment: clients take the message's role from the first frame. */
  wait(): string {
    const state = this.#state();
    if (this.#isDone || state.choices.size === 0 || !state.choice(0).hasRole) return ': ping\n\n';
    return this.#frame({ choices: [choiceOf(0, {})] });
  }

  #frame(frame: PlainObject): string {
    this.#head ??= headOf(
      (key) => this.#sent.member(key) ?? (key === 'model' ? this.#request.model : undefined),
    );
    const value = { ...this.#head, ...frame };
    const json = stringifyJson(value);
    this.#sent.add(readChunk({ event: undefined, data: json }));
    return formatEvent(json);
  }

  #state(): ChatAssembly {
    const unread = this.#unread;
    this.#unread = [];
    for (const event of unread) {
      const data = event.data.trim();
      if (data === '[DONE]') this.#isDone = true;
      else this.#sent.add(readChunk(event));
    }
    return this.#sent;
  }
}

function headOf(member: (key: string) => unknown): PlainObject {
  const fingerprint = member('system_fingerprint');
  return {
    id: member('id') ?? 'chatcmpl-signalbox',
    object: 'chat.completion.chunk',
    created: member('created') ?? 0,
    model: member('model') ?? '',
    ...(typeof fingerprint === 'string' && { system_fingerprint: fingerprint }),
  };
}

function choiceOf(index: number, delta: PlainObject, more: PlainObject = {}): PlainObject {
  return { index, delta, logprobs: null, finish_reason: null, ...more };
}

/** Returns the missing frames of a choice. Throws REPLY_MALFORMED if the client already has different content. */
function restOf(choice: PlainObject, sent: ChoiceAssembly): PlainObject[] {
  const { index } = sent;
  const { message } = choice;
  if (!isObject(message)) throw unwritable('a choice of an answer has no message');
  const had = sent.toValue();
  const hadMessage = isObject(had['message']) ? had['message'] : {};
  const deltas: PlainObject[] = sent.hasRole ? [] : [{ role: 'assistant' }];
  for (const key of new Set([...Object.keys(hadMessage), ...Object.keys(message)])) {
    if (key === 'role') continue;
    if (key === 'tool_calls') deltas.push(...restOfCalls(message[key], hadMessage[key]));
    else deltas.push(...restOfMember(key, message[key], hadMessage[key]));
  }
  const frames = deltas.map((delta) => ({ choices: [choiceOf(index, delta)] }));
  const more = restOfChoice(choice, had);
  const finish = choice['finish_reason'];
  const isEnded = sent.finishReason !== undefined;
  if (isEnded && finish !== sent.finishReason) throw changedToo('finish_reason');
  if (!isEnded || Object.keys(more).length > 0) {
    frames.push({ choices: [choiceOf(index, {}, { ...more, finish_reason: isEnded ? null : finish })] });
  }
  return frames;
}

/** Only a text can be continued. Other members must be equal or new to the client. */
function restOfMember(key: string, wanted: unknown, had: unknown): PlainObject[] {
  if (isSameByValue(wanted ?? null, had ?? null) || (isNothing(wanted) && isNothing(had))) return [];
  if (typeof wanted === 'string' && (isNothing(had) || typeof had === 'string')) {
    const before = typeof had === 'string' ? had : '';
    if (!wanted.startsWith(before)) throw changedToo(key);
    return [{ [key]: wanted.slice(before.length) }];
  }
  if (!isNothing(had)) throw changedToo(key);
  return [{ [key]: wanted }];
}

function restOfCalls(wanted: unknown, had: unknown): PlainObject[] {
  const calls: unknown[] = Array.isArray(wanted) ? wanted : [];
  const sent: unknown[] = Array.isArray(had) ? had : [];
  if (sent.some((call, index) => !isSameByValue(call, calls[index]))) throw changedToo('tool_calls');
  return calls.flatMap((call, index) => {
    if (index < sent.length || !isObject(call)) return [];
    return [{ tool_calls: [{ index, ...call }] }];
  });
}

function restOfChoice(choice: PlainObject, had: PlainObject): PlainObject {
  const keys = new Set([...Object.keys(choice), ...Object.keys(had)]);
  const rest = [...keys].flatMap((key) => {
    if (['index', 'message', 'finish_reason', 'message_so_far'].includes(key)) return [];
    return restOfMember(key, choice[key], had[key]).flatMap((member) => Object.entries(member));
  });
  return Object.fromEntries(rest);
}

function restOfFrame(answer: PlainObject, state: ChatAssembly): PlainObject | undefined {
  const rest = Object.entries(answer).filter(([key, value]) => {
    if (headKeys.has(key) || isNothing(value)) return false;
    return !isSameByValue(value, state.member(key));
  });
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

const headKeys = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'system_fingerprint',
  'service_tier',
]);

function changedToo(key: string): Error {
  return unwritable(`the client already has a \`${key}\` that the replaced answer does not begin with`);
}
