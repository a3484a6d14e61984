import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../../src/base/errors.ts';
import { Json, stringifyJson } from '../../../../src/base/json/json.ts';
import { parseMessage } from '../../../../src/calls/hooks/replace.ts';
import type { ChatMessage } from '../../../../src/contract/provider.ts';
import { chatCodec } from '../../../../src/gateway/wire/chat/codec.ts';
import { ChatStreamReader } from '../../../../src/gateway/wire/chat/stream-reader.ts';
import type { WireAnswer, WireRequest } from '../../../../src/gateway/wire/codec.ts';
import { embeddingsCodec } from '../../../../src/gateway/wire/embeddings/codec.ts';
import { RefusedCall } from '../../../../src/gateway/wire/refusal.ts';
import { isMarked, marks, markValue, redact } from '../marked-json.ts';
import { media } from './rules.ts';
import { eventsOf, streamOf, streams } from './streams.ts';

const rules = { ...media, redactsEmbeddings: true };

const weather = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city": "Rome", "n": [1, "x"]}' },
};

const requests: readonly object[] = [
  {
    model: 'm',
    temperature: 0.5,
    stream: true,
    stream_options: { include_usage: true },
    user: 'ann',
    stop: ['x'],
    metadata: { a: 'b' },
    tools: [
      {
        type: 'function',
        function: { name: 'weather', description: 'd', parameters: { type: 'object', properties: {} } },
      },
    ],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } },
    messages: [
      { role: 'system', content: 'Be kind.' },
      {
        role: 'developer',
        content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      },
      { role: 'user', content: 'Hello', name: 'ann' },
      {
        role: 'assistant',
        content: 'Hm',
        refusal: null,
        reasoning_content: 'why',
        reasoning_details: [{ text: 'why' }],
        tool_calls: [weather, { id: 'c', type: 'custom', custom: { name: 'g', input: 'x' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'ok' }] },
      { role: 'system', content: 'Later.' },
    ],
  },
  {
    model: 'm',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look: ' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
          { type: 'text', text: 'end' },
          { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGVsbG8=' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'done' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'refusal', refusal: 'b' },
        ],
      },
    ],
  },
];

const answers: readonly object[] = [
  {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt',
    service_tier: 'default',
    system_fingerprint: 'fp_1',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hello',
          refusal: null,
          reasoning: 'why',
          annotations: [
            {
              type: 'url_citation',
              url_citation: { start_index: 0, end_index: 1, url: 'https://a', title: 't' },
            },
          ],
          tool_calls: [weather],
        },
        logprobs: {
          content: [{ token: 'Hello', logprob: -1, bytes: [72], top_logprobs: [] }],
          refusal: null,
        },
        finish_reason: 'tool_calls',
      },
      {
        index: 1,
        message: { role: 'assistant', content: null, refusal: 'No' },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
      completion_tokens_details: { reasoning_tokens: 1 },
    },
  },
  {
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          audio: { id: 'a', data: 'AAAA', transcript: 'hi', expires_at: 1 },
        },
        finish_reason: 'stop',
      },
    ],
  },
  {
    choices: [
      {
        message: {
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
          function_call: { name: 'f', arguments: '{"a":1}' },
        },
      },
    ],
  },
];

const errors: readonly object[] = [
  { error: { message: 'bad', type: 'invalid_request_error', param: 'messages[0]', code: null } },
  { error: 'bad', hint: 'x' },
  { detail: [{ msg: 'bad' }] },
  { message: 'bad', status: 400 },
];

const embeddings = { model: 'e', input: ['a', 'b'], user: 'ann', encoding_format: 'float', dimensions: 3 };
const vectors = {
  object: 'list',
  model: 'e',
  data: [{ object: 'embedding', index: 0, embedding: [1, 2] }],
  usage: { prompt_tokens: 1, total_tokens: 1 },
};

/** The value that the read gives; undefined when it refuses, as it may. */
function unlessRefused<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RefusedCall) return undefined;
    throw error;
  }
}

/** The body that the write gives; undefined when it denies, as it may. */
function unlessDenied(write: () => string): string | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'REPLY_MALFORMED') return undefined;
    throw error;
  }
}

/** A message as it comes back from a process. */
function fromHook(message: unknown): ChatMessage {
  return parseMessage(stringifyJson(message));
}

function checkRequest(
  request: WireRequest | undefined,
  body: string,
  model: string,
): 'refused' | 'denied' | 'written' {
  if (request === undefined) return 'refused';
  const { messages, system_prompt, other, tools } = request.payload;
  // The name of the model is matched with those of the config.
  const beside = isMarked({ ...JSON.parse(body), model });
  expect(isMarked({ messages, system_prompt, other: other.value }), body).toBe(beside);
  expect(
    request.write({ messages: messages.map(fromHook), system_prompt, other, tools }, request.model),
  ).toBe(body);
  const redacted = {
    messages: messages.map((message) => fromHook(redact(message))),
    system_prompt: String(redact(system_prompt)),
    other: Json.from(redact(other)),
    tools,
  };
  const written = unlessDenied(() => request.write(redacted, model));
  if (written === undefined) return 'denied';
  expect(isMarked(JSON.parse(written)), body).toBe(false);
  return 'written';
}

function checkAnswer(answer: WireAnswer | undefined): 'refused' | 'denied' | 'written' {
  if (answer === undefined) return 'refused';
  const { body, messages } = answer;
  expect(isMarked(messages), body).toBe(isMarked(JSON.parse(body)));
  expect(answer.write(messages.map(fromHook))).toBe(body);
  const written = unlessDenied(() => answer.write(messages.map((message) => fromHook(redact(message)))));
  if (written === undefined) return 'denied';
  expect(isMarked(JSON.parse(written)), body).toBe(false);
  return 'written';
}

const spaces = fc.constantFrom(undefined, 1, '\t');

function checkAll<Value>(values: readonly Value[], check: (body: string) => string): Map<string, number> {
  const outcomes = new Map<string, number>();
  fc.assert(
    fc.property(
      fc.constantFrom(...values),
      fc.array(marks, { minLength: 1, maxLength: 3 }),
      spaces,
      (value, places, space) => {
        const body = JSON.stringify(places.reduce<unknown>(markValue, value), null, space);
        const outcome = check(body);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      },
    ),
    { numRuns: 600 },
  );
  return outcomes;
}

describe('a text anywhere in a body of chat completions', () => {
  it('of a request is shown to hooks, and is gone when they redact it', () => {
    const outcomes = checkAll(requests, (body) =>
      checkRequest(
        unlessRefused(() => chatCodec.readRequest(body, rules)),
        body,
        'm',
      ),
    );
    expect(outcomes.get('written')).toBeGreaterThan(100);
  });

  it('of an answer is shown to hooks, and is gone when they redact it', () => {
    const request = chatCodec.readRequest('{"model":"m","messages":[]}', rules);
    const outcomes = checkAll(answers, (body) =>
      checkAnswer(unlessRefused(() => chatCodec.readAnswer(body, rules, request))),
    );
    expect(outcomes.get('written')).toBeGreaterThan(100);
  });

  it('of an error is shown to hooks, and is gone when they redact it', () => {
    const outcomes = checkAll(errors, (body) => checkAnswer(unlessRefused(() => chatCodec.readError(body))));
    expect(outcomes.get('written')).toBeGreaterThan(100);
  });

  it('of a stream is shown to hooks, or is in no frame that goes out before they decide', () => {
    const outcomes = checkAll(Object.values(streams), (body) => {
      const reader = new ChatStreamReader(rules);
      const told: string[] = [];
      const answer = unlessRefused(() => {
        for (const event of eventsOf(streamOf(JSON.parse(body)))) {
          const part = reader.push(event);
          if (part.kind === 'error') return undefined;
          if (part.kind === 'free') expect(isMarked(event.data)).toBe(false);
          if (part.kind === 'text')
            for (const { channel, text } of part.deltas)
              told.push(`${channel.choice} ${channel.member} ${text}`);
          if (part.kind === 'text' && isMarked(event.data))
            expect(part.deltas.some(({ text }) => isMarked(text))).toBe(true);
        }
        return reader.answer();
      });
      if (answer !== undefined && isMarked(JSON.parse(body)))
        expect(isMarked(answer.messages), body).toBe(true);
      return checkAnswer(answer);
    });
    expect(outcomes.get('written')).toBeGreaterThan(50);
  });
});

describe('a text anywhere in a body of embeddings', () => {
  it('is shown to hooks, and is gone when they redact it', () => {
    const asked = checkAll([embeddings], (body) =>
      checkRequest(
        unlessRefused(() => embeddingsCodec.readRequest(body, rules)),
        body,
        'e',
      ),
    );
    expect(asked.get('written')).toBeGreaterThan(100);
    const request = embeddingsCodec.readRequest('{"model":"e","input":"a"}', rules);
    const answered = checkAll([vectors], (body) =>
      checkAnswer(unlessRefused(() => embeddingsCodec.readAnswer(body, rules, request))),
    );
    expect(answered.get('written')).toBeGreaterThan(100);
  });
});
