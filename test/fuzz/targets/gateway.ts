import fc from 'fast-check';
import { Json, stringifyJson } from '../../../src/base/json/json.ts';
import { parseMessage } from '../../../src/calls/hooks/replace.ts';
import { chatCodec } from '../../../src/gateway/wire/chat/codec.ts';
import type { EndpointCodec, WireAnswer, WireRequest, WireRules } from '../../../src/gateway/wire/codec.ts';
import { responsesCodec } from '../../../src/gateway/wire/codecs.ts';
import { embeddingsCodec } from '../../../src/gateway/wire/embeddings/codec.ts';
import { messagesCodec } from '../../../src/gateway/wire/messages/codec.ts';
import { SseParser } from '../../../src/gateway/wire/sse.ts';
import { tellMessage } from '../../gateway/upstreams/message-events.ts';
import { streamOf as chatStreamOf, streams } from '../../gateway/wire/chat/streams.ts';
import { answerBody, requestBody } from '../../gateway/wire/messages/arbitrary-bodies.ts';
import { codexRequest } from '../../gateway/wire/responses/codex-samples.ts';
import { fullAnswer, fullRequest, textAnswer } from '../../gateway/wire/responses/samples.ts';
import { streamOf } from '../../gateway/wire/responses/streamed.ts';
import { coded, holds, isSame, type Target } from '../target.ts';

const rules: WireRules = {
  opaque: new Set(['image', 'audio', 'file']),
  references: new Set(),
  redactsEmbeddings: true,
};

/** Text that a filter removes everywhere. */
const MARK = 'QZX';
const redact = (text: string) => text.replaceAll(MARK, 'gone');

const common = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    'null',
    'true',
    '1',
    `"${MARK}"`,
    MARK,
    `"x":"${MARK}"`,
    '\\u0051ZX',
    '{}',
    '[]',
    '""',
  ],
  ...[
    '"role":',
    '"content":',
    '"type":',
    '"text":',
    '"name":',
    '"id":',
    '"model":',
    '"tools":',
    '"system":',
    '"index":',
  ],
  ...[
    '"user"',
    '"assistant"',
    '"tool"',
    '"text"',
    '"function"',
    '"arguments":',
    '"stream":true',
    '"usage":',
    '"metadata":',
  ],
  ...[
    '"__proto__":',
    '"annotations":',
    '"refusal":',
    '"reasoning":',
    '"input":',
    '"output":',
    '"data: "',
    '\n\n',
    'data: ',
  ],
];

function targetOf(
  codec: EndpointCodec,
  plain: string,
  seeds: readonly string[],
  tokens: readonly string[],
): Target {
  const asked = codec.readRequest(plain, rules);
  return {
    seeds: [`q${plain}`, 'e{"error":{"message":"bad","type":"x","code":null}}', 'etext', ...seeds],
    tokens: [...common, ...tokens],
    maxLength: 6_000,
    run: (input) => {
      const body = input.slice(1);
      if (input.startsWith('q')) checkRequest(codec, body);
      if (input.startsWith('a')) checkAnswer(coded(() => codec.readAnswer(body, rules, asked)));
      if (input.startsWith('e')) checkAnswer(coded(() => codec.readError(body)));
      if (input.startsWith('s')) checkStream(codec, asked, body);
    },
  };
}

function isMarked(value: unknown): boolean {
  return stringifyJson(JSON.parse(stringifyJson(value))).includes(MARK);
}

function fromHook(message: unknown) {
  return parseMessage(stringifyJson(message));
}

function redacted(value: unknown): unknown {
  return JSON.parse(redact(stringifyJson(JSON.parse(stringifyJson(value)))));
}

function checkRequest(codec: EndpointCodec, body: string): void {
  const request = coded(() => codec.readRequest(body, rules));
  if (request === undefined) return;
  const { messages, system_prompt, other, tools } = request.payload;
  // The model's name is matched against the config.
  const isTold = isMarked({ messages, system_prompt, other: other.value });
  holds(isTold || !isMarked({ ...JSON.parse(body), model: '' }), 'a text of the request is not told');
  holds(request.write(request.payload, request.model) === body, 'it is written as it came');
  const read = { messages: messages.map(fromHook), system_prompt, other, tools };
  holds(request.write(read, request.model) === body, 'it is written as a hook gave it back');
  holds(request.places.length === messages.length, 'a place for each message');
  const changed = {
    messages: messages.map((message) => fromHook(redacted(message))),
    system_prompt: redact(system_prompt),
    other: Json.from(redacted(other.value)),
    tools,
  };
  const written = coded(() => request.write(changed, 'm'));
  if (written !== undefined)
    holds(!isMarked(JSON.parse(written)), 'what was redacted is still there', written);
}

function checkAnswer(answer: WireAnswer | undefined): void {
  if (answer === undefined) return;
  const { body, messages } = answer;
  holds(isMarked(messages) || !isMarkedBody(body), 'a text of the answer is not told');
  holds(answer.write(messages) === body, 'it is written as it came');
  const changed = messages.map((message) => fromHook(redacted(message)));
  const written = coded(() => answer.write(changed));
  if (written !== undefined) holds(!isMarkedBody(written), 'what was redacted is still there', written);
}

function isMarkedBody(body: string): boolean {
  try {
    return isMarked(JSON.parse(body));
  } catch {
    return body.includes(MARK);
  }
}

function checkStream(codec: EndpointCodec, asked: WireRequest, text: string): void {
  const { stream } = codec;
  if (stream === undefined) return;
  const read = (sent: string) =>
    coded(() => {
      const parser = new SseParser(100_000);
      const events = [...parser.push(Buffer.from(sent)), ...parser.end()];
      const reader = stream.reader(rules, asked);
      const parts = events.map((event) => reader.push(event));
      return { events, parts, answer: reader.answer() };
    });
  const whole = read(text);
  if (whole === undefined) return;
  checkAnswer(whole.answer);
  const writer = stream.writer(asked);
  // A held part leaves with its decision, before the parts that follow.
  const held = whole.parts.findIndex(({ kind }) => kind === 'held');
  const passed = whole.events.slice(0, Math.min(held === -1 ? 3 : held, 3));
  const sent = passed.map((event) => writer.verbatim(event)).join('');
  const rest = coded(() => writer.finish(whole.answer.body));
  if (rest === undefined) return;
  const again = read(sent + rest);
  holds(again !== undefined, 'what is sent can be read', sent, rest);
  const said = (answer: WireAnswer | undefined) => answer?.messages.map(({ content }) => content);
  isSame(said(again?.answer), said(whole.answer), 'what is sent says the same');
}

const weather = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: `{"city":"${MARK}"}` },
};
const chatRequest = {
  model: 'm',
  temperature: 0.5,
  stop: ['x'],
  metadata: { a: MARK },
  tools: [
    { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } },
  ],
  messages: [
    { role: 'system', content: 'Be kind.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: MARK },
        { type: 'image_url', image_url: { url: 'https://a/b.png' } },
      ],
    },
    { role: 'assistant', content: 'Hm', refusal: null, reasoning_content: 'why', tool_calls: [weather] },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
  ],
};
const chatAnswer = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'gpt',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: MARK, tool_calls: [weather] },
      finish_reason: 'tool_calls',
    },
    {
      index: 1,
      message: { role: 'assistant', content: null, refusal: 'No' },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
};

export const chat = targetOf(
  chatCodec,
  '{"model":"m","messages":[]}',
  [
    `q${JSON.stringify(chatRequest)}`,
    `a${JSON.stringify(chatAnswer)}`,
    ...Object.values(streams).map((frames) => `s${chatStreamOf(frames)}`),
  ],
  [
    ...[
      '"messages":',
      '"tool_calls":',
      '"tool_call_id":',
      '"image_url":',
      '"url":',
      '"choices":',
      '"message":',
      '"delta":',
    ],
    ...[
      '"finish_reason":',
      '"logprobs":',
      '"function_call":',
      '"audio":',
      '"[DONE]"',
      '"developer"',
      '"n":',
      '"functions":',
    ],
  ],
);

export const responses = targetOf(
  responsesCodec,
  '{"model":"m","input":"Hello"}',
  [
    ...[fullRequest, codexRequest].map((request) => `q${JSON.stringify(request)}`),
    ...[fullAnswer, textAnswer(MARK)].map((answer) => `a${JSON.stringify(answer)}`),
    `s${streamOf(textAnswer(`Hello ${MARK}`))}`,
  ],
  [
    ...[
      '"input_text"',
      '"output_text"',
      '"message"',
      '"function_call"',
      '"function_call_output"',
      '"call_id":',
      '"instructions":',
    ],
    ...[
      '"summary":',
      '"encrypted_content":',
      '"status":',
      '"sequence_number":',
      '"item_id":',
      '"delta":',
      '"part":',
      '"item":',
    ],
    ...[
      '"response.completed"',
      '"response.output_text.delta"',
      '"response.output_item.done"',
      '"local_shell_call"',
      '"action":',
    ],
  ],
);

const messageBodies = fc.sample(answerBody, { numRuns: 6, seed: 3 });
export const messages = targetOf(
  messagesCodec,
  '{"model":"m","max_tokens":1,"messages":[]}',
  [
    ...fc.sample(requestBody, { numRuns: 8, seed: 5 }).map((body) => `q${JSON.stringify(body)}`),
    ...messageBodies.map((body) => `a${JSON.stringify(body)}`),
    ...messageBodies.map((body) => `s${tellMessage(body, { cut: (text) => [text] })}`),
  ],
  [
    ...[
      '"tool_use"',
      '"tool_result"',
      '"tool_use_id":',
      '"thinking"',
      '"signature":',
      '"image"',
      '"source":',
      '"base64"',
    ],
    ...[
      '"media_type":',
      '"cache_control":',
      '"citations":',
      '"stop_reason":',
      '"max_tokens":',
      '"content_block":',
      '"delta":',
    ],
    ...[
      '"content_block_delta"',
      '"text_delta"',
      '"input_json_delta"',
      '"partial_json":',
      '"message_stop"',
      '"document"',
    ],
  ],
);

export const embeddings = targetOf(
  embeddingsCodec,
  '{"model":"m","input":"a"}',
  [
    `q{"model":"e","input":["a","${MARK}"],"user":"ann","encoding_format":"float","dimensions":3}`,
    'q{"model":"e","input":[1,2,3]}',
    'a{"object":"list","model":"e","data":[{"object":"embedding","index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":1,"total_tokens":1}}',
  ],
  ['"embedding":', '"data":', '"object":', '"dimensions":', '"encoding_format":', '"list"', '[1,2]'],
);
