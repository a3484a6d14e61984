import { RuntimeError } from '../../../src/base/errors.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import type {
  Channel,
  EndpointCodec,
  StreamPart,
  StreamReader,
  StreamWriter,
  WireAnswer,
  WireRequest,
} from '../../../src/gateway/wire/codec.ts';
import { RefusedCall } from '../../../src/gateway/wire/refusal.ts';
import { plainReplaced } from '../../../src/gateway/wire/replaced-messages.ts';
import { formatEvent, type SseEvent } from '../../../src/gateway/wire/sse.ts';

export type Delta = readonly [choice: number, member: Channel['member'], text: string, block?: number];

export type Said =
  | { readonly free: string }
  | { readonly text: readonly Delta[] }
  | { readonly echo: string }
  | { readonly call: string }
  | { readonly end: true; readonly tokens?: number }
  | { readonly error: string }
  | { readonly unknown: string };

export function say(said: Said): SseEvent {
  const data = JSON.stringify(said);
  return { event: undefined, data };
}

type Texts = Record<string, string>;

/** The smallest endpoint that has every kind of event. An answer is an object of texts with keys `CHOICE MEMBER`. */
export const smallCodec: EndpointCodec = {
  name: 'chat',
  readRequest: () => smallRequest,
  readAnswer: (body) => toAnswer(JSON.parse(body)),
  readError: (body) => ({ ...toAnswer({ '0 content': JSON.parse(body).error }), body }),
  substitute: ({ text, end }) => JSON.stringify({ '0 content': text, '0 end': end }),
  stream: { reader: () => readTexts(), writer: () => writeTexts() },
  refusal: ({ code, message }) => JSON.stringify({ code, message }),
};

export const smallRequest: WireRequest = {
  model: 'm',
  isStream: true,
  maxTokens: undefined,
  choices: 1,
  payload: { messages: [], system_prompt: '', round: 1, tools: [], options: {}, other: undefined as never },
  toolResults: [],
  places: [],
  write: () => '',
};

function toAnswer(texts: Texts, tokens?: number): WireAnswer {
  const choices = new Set(Object.keys(texts).map((key) => Number(key.split(' ')[0])));
  const messages = [...choices].toSorted().map((choice): ChatMessage => {
    const of = (member: string) => texts[`${choice} ${member}`];
    const calls = of('calls');
    return {
      role: 'assistant',
      content: of('content') ?? '',
      ...(of('reasoning') !== undefined && { reasoning: of('reasoning') }),
      ...(calls !== undefined && { tool_calls: [{ id: 'c', name: 'f', args: calls }] }),
    };
  });
  const body = JSON.stringify(texts);
  return {
    body,
    messages,
    usage: tokens === undefined ? undefined : { input: 1, output: tokens },
    toolCalls: [],
    write: (changed) => {
      const written: Texts = {};
      for (const [choice, { content, reasoning, tool_calls: calls }] of changed
        .map(plainReplaced)
        .entries()) {
        if (typeof content !== 'string') throw new RuntimeError('REPLY_MALFORMED', 'it has no text');
        if (content === 'UNWRITABLE') throw new RuntimeError('REPLY_MALFORMED', 'it cannot be written');
        if (typeof reasoning === 'string') written[`${choice} reasoning`] = reasoning;
        written[`${choice} content`] = content;
        if (Array.isArray(calls)) written[`${choice} calls`] = calls.map((call) => call.args).join('');
      }
      return JSON.stringify(written);
    },
  };
}

function readTexts(): StreamReader {
  const texts: Texts = {};
  let isComplete = false;
  let tokens: number | undefined;
  const add = (key: string, text: string) => {
    texts[key] = (texts[key] ?? '') + text;
  };
  return {
    push: ({ data }): StreamPart => {
      const said: Said = JSON.parse(data);
      if ('unknown' in said)
        throw new RefusedCall({
          status: 502,
          code: 'unknown_content',
          message: 'unknown',
          isRetryable: false,
        });
      if ('text' in said) {
        for (const [choice, member, text] of said.text) add(`${choice} ${member}`, text);
        return { kind: 'text', deltas: said.text.map(toDelta) };
      }
      if ('call' in said) add('0 calls', said.call);
      if ('end' in said) {
        isComplete = true;
        tokens = said.tokens;
      }
      if ('free' in said) return { kind: 'free' };
      if ('echo' in said) return { kind: 'echo' };
      if ('error' in said) return { kind: 'error' };
      return { kind: 'end' in said ? 'end' : 'held' };
    },
    answer: () => {
      if (isComplete) return toAnswer(texts, tokens);
      throw new RefusedCall({ status: 502, code: 'upstream_failed', message: 'broken', isRetryable: true });
    },
  };
}

function toDelta([choice, member, text, block = 0]: Delta) {
  return { channel: { key: `${choice} ${member} ${block}`, choice, member }, text };
}

function writeTexts(): StreamWriter {
  const sent: Texts = {};
  const note = (key: string, text: string) => {
    sent[key] = (sent[key] ?? '') + text;
  };
  return {
    verbatim: ({ data }) => {
      const said: Said = JSON.parse(data);
      if ('text' in said) for (const [choice, member, text] of said.text) note(`${choice} ${member}`, text);
      return formatEvent(data);
    },
    text: ({ choice, member }, text) => {
      note(`${choice} ${member}`, text);
      return formatEvent(JSON.stringify({ text: [[choice, member, text]] }));
    },
    finish: (body) => {
      const texts: Texts = JSON.parse(body);
      const contradicts = Object.entries(sent).some(([key, text]) => !(texts[key] ?? '').startsWith(text));
      if (contradicts) throw new RuntimeError('REPLY_MALFORMED', 'the client has something else already');
      const rest = Object.entries(texts).map(([key, text]) => [key, text.slice(sent[key]?.length ?? 0)]);
      return formatEvent(JSON.stringify({ rest: Object.fromEntries(rest) }));
    },
    fail: ({ code }) => formatEvent(JSON.stringify({ failed: code })),
    wait: () => formatEvent('{"wait":true}'),
  };
}
