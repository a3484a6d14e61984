import { toRuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/parse.ts';
import { once } from '../../base/time/async.ts';
import { sleep } from '../../base/time/deadline.ts';
import type { ProviderConfig } from '../../config/config.ts';
import {
  type MockResponse,
  openMockEmbeddings,
  openScript,
  type ScriptedAnswer,
} from '../../models/open/mock-script.ts';
import type { EndpointCodec, EndpointName, TokenUsage, WireRequest } from '../wire/codec.ts';
import { decodeUtf8 } from '../wire/place.ts';
import { RefusedCall, refusal } from '../wire/refusal.ts';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from './upstream.ts';

export function openMockUpstream(provider: ProviderConfig, codecs: Codecs): Upstream {
  const script = once(async () => openScript(provider));
  return {
    send: async (request) => {
      const codec = codecs[request.endpoint];
      const body = textOf(request.body);
      if (request.endpoint === 'embeddings') return await answerEmbeddings(body, provider, request);
      const read = codec.readRequest(body, anything);
      if (request.endpoint === 'count_tokens') return json(200, { input_tokens: countTokens(body) });
      try {
        const next = (await script.open())(scopeOf(read));
        return await answer(next, { provider, request, read, codec });
      } catch (thrown) {
        request.signal.throwIfAborted();
        throw toRefusal(thrown);
      }
    },
    findFault: async () => undefined,
    close: async () => {},
  };
}

const responsesRendering: Rendering = {
  whole: (reply) => toResponse(reply, statusOf(reply), outputOf(reply)),
  stream: streamResponses,
};

function* streamResponses(reply: ScriptedReply): Generator<ScriptedEvent> {
  let sequence = 0;
  const event = (name: string, data: object, isPiece = false) =>
    toEvent({ type: name, ...data, sequence_number: sequence++ }, { name, isPiece });
  const begun = toResponse(reply, 'in_progress', []);
  yield event('response.created', { response: begun });
  yield event('response.in_progress', { response: begun });
  const output = outputOf(reply);
  for (const [output_index, item] of output.entries()) {
    yield event('response.output_item.added', { output_index, item: emptied(item) });
    const at = { item_id: item.id, output_index };
    if (item.type === 'message') {
      const [part] = item.content;
      const place = { ...at, content_index: 0 };
      yield event('response.content_part.added', { ...place, part: { ...part, text: '' } });
      for (const delta of reply.pieces)
        yield event('response.output_text.delta', { ...place, delta, logprobs: [] }, true);
      yield event('response.output_text.done', { ...place, text: part?.text, logprobs: [] });
      yield event('response.content_part.done', { ...place, part });
    } else {
      for (const delta of inputPieces(item.arguments))
        yield event('response.function_call_arguments.delta', { ...at, delta }, true);
      const { name, arguments: told } = item;
      yield event('response.function_call_arguments.done', { ...at, name, arguments: told });
    }
    yield event('response.output_item.done', { output_index, item });
  }
  const status = statusOf(reply);
  yield event(`response.${status}`, { response: toResponse(reply, status, output) });
}

function outputOf({ id, pieces, calls }: ScriptedReply) {
  const text = pieces.join('');
  return [
    ...(pieces.length === 0
      ? []
      : [
          {
            ...{ id: `msg_${id}`, type: 'message' as const, status: 'completed', role: 'assistant' },
            content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
          },
        ]),
    ...calls.map((call, index) => ({
      ...{ id: `fc_${id}_${index}`, type: 'function_call' as const, status: 'completed' },
      ...{ arguments: call.input, call_id: call.id, name: call.name },
    })),
  ];
}

type Item = ReturnType<typeof outputOf>[number];

function emptied(item: Item) {
  const status = 'in_progress';
  return item.type === 'message' ? { ...item, status, content: [] } : { ...item, status, arguments: '' };
}

function statusOf({ finish }: ScriptedReply): 'completed' | 'incomplete' {
  return finish === 'length' || finish === 'content-filter' ? 'incomplete' : 'completed';
}

function toResponse(
  { id, model, finish, usage: { input, output: answered } }: ScriptedReply,
  status: string,
  output: readonly Item[],
) {
  const reason = finish === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    ...{ id: `resp_${id}`, object: 'response', created_at: 0, status, background: false, error: null },
    incomplete_details: status === 'incomplete' ? { reason } : null,
    ...{ instructions: null, max_output_tokens: null, metadata: {}, model, output },
    ...{ parallel_tool_calls: true, previous_response_id: null, store: false, temperature: 1, top_p: 1 },
    ...{ text: { format: { type: 'text' } }, tool_choice: 'auto', tools: [], truncation: 'disabled' },
    usage:
      status === 'in_progress'
        ? null
        : {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: answered,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + answered,
          },
  };
}

const messagesRendering: Rendering = {
  whole: (reply) => ({
    ...head(reply),
    content: [
      ...(reply.pieces.length === 0 ? [] : [{ type: 'text', text: reply.pieces.join('') }]),
      ...reply.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: JSON.parse(input) })),
    ],
    stop_reason: stopOf(reply),
    stop_sequence: null,
    usage: { input_tokens: reply.usage.input, output_tokens: reply.usage.output },
  }),
  stream: streamMessages,
};

function* streamMessages(reply: ScriptedReply): Generator<ScriptedEvent> {
  const { pieces, calls, usage } = reply;
  const event = (name: string, data: object, isPiece = false) =>
    toEvent({ type: name, ...data }, { name, isPiece });
  const message = { ...head(reply), content: [], stop_reason: null, stop_sequence: null };
  yield event('message_start', {
    message: { ...message, usage: { input_tokens: usage.input, output_tokens: 1 } },
  });
  let index = 0;
  function* block(start: object, deltas: readonly object[]): Generator<ScriptedEvent> {
    yield event('content_block_start', { index, content_block: start });
    for (const delta of deltas) yield event('content_block_delta', { index, delta }, true);
    yield event('content_block_stop', { index });
    index += 1;
  }
  if (pieces.length > 0) {
    const deltas = pieces.map((text) => ({ type: 'text_delta', text }));
    yield* block({ type: 'text', text: '' }, deltas);
  }
  for (const { id, name, input } of calls) {
    const deltas = inputPieces(input).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    yield* block({ type: 'tool_use', id, name, input: {} }, deltas);
  }
  const delta = { stop_reason: stopOf(reply), stop_sequence: null };
  yield event('message_delta', { delta, usage: { output_tokens: usage.output } });
  yield event('message_stop', {});
}

function head({ id, model }: ScriptedReply) {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model };
}

function stopOf({ finish }: ScriptedReply): string {
  switch (finish) {
    case 'length':
      return 'max_tokens';
    case 'tool-calls':
      return 'tool_use';
    case 'content-filter':
      return 'refusal';
    default:
      return 'end_turn';
  }
}

type Codecs = Readonly<Record<EndpointName, EndpointCodec>>;

const anything = {
  opaque: Object.assign(new Set<string>(), { has: () => true }),
  references: Object.assign(new Set<string>(), { has: () => true }),
  redactsEmbeddings: true,
};

interface AskedMock {
  readonly provider: ProviderConfig;
  readonly request: UpstreamRequest;
  readonly read: WireRequest;
  readonly codec: EndpointCodec;
}

async function answer(next: ScriptedAnswer, asked: AskedMock): Promise<UpstreamAnswer> {
  const { response } = next;
  const { request, read, codec } = asked;
  const { endpoint, signal } = request;
  const pause = async () => {
    if (response.delayMs > 0) await sleep(response.delayMs, signal);
    signal.throwIfAborted();
  };
  const reply = toReply(next, asked);
  const failure = response.error;
  const rendering = renderings[endpoint === 'responses' || endpoint === 'messages' ? endpoint : 'chat'];
  const isStream = read.isStream && (failure === undefined || reply.pieces.length > 0);
  if (!isStream) {
    await pause();
    if (failure === undefined) return json(200, rendering.whole(reply));
    const { status = 500, message } = failure;
    const refusal = { status, code: 'scripted_error', message, isRetryable: true };
    return { ...json(status, {}), body: toBytes([codec.refusal(refusal)]) };
  }
  const fail = () =>
    codec.stream
      ?.writer(read)
      .fail(refusal(500, 'scripted_error', failure?.message ?? '', { isRetryable: true }));
  const events = streamEvents(rendering.stream(reply), pause, failure === undefined ? undefined : fail);
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: encode(events),
    discard: () => {},
  };
}

async function answerEmbeddings(
  body: string,
  provider: ProviderConfig,
  { signal }: UpstreamRequest,
): Promise<UpstreamAnswer> {
  try {
    return json(200, await embed(body, provider, signal));
  } catch (thrown) {
    signal.throwIfAborted();
    throw toRefusal(thrown);
  }
}

async function* streamEvents(
  events: ReturnType<Rendering['stream']>,
  pause: () => Promise<void>,
  fail: (() => string | undefined) | undefined,
): AsyncGenerator<string> {
  let hasText = false;
  for (const { text, isPiece } of events) {
    if (isPiece) await pause();
    if (fail !== undefined && hasText && !isPiece) return yield fail() ?? '';
    hasText ||= isPiece;
    yield text;
  }
}

let replies = 0;

function toReply(
  { response, answer: said }: ScriptedAnswer,
  { provider, request, read }: AskedMock,
): ScriptedReply {
  const turn = read.payload.messages.filter(({ role }) => role === 'assistant').length + 1;
  const calls = said.calls.map((call, index) => ({ id: `call_${turn}_${index + 1}`, ...call }));
  const { input, output } = response.usage;
  const body = textOf(request.body);
  return {
    id: `mock${++replies}`,
    model: provider.model,
    pieces: said.chunks,
    calls,
    finish: response.finishReason ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
    usage: { input: input ?? countTokens(body), output: output ?? countTokens(said.chunks.join('')) },
    choices: request.endpoint === 'chat' ? read.choices : 1,
    tellsUsage: /"include_usage"\s*:\s*true/.test(body),
  };
}

function scopeOf({ payload: { messages, round, system_prompt, tools } }: WireRequest) {
  return { messages, round, system: system_prompt, tools: tools.map(({ name }) => name) };
}

function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : (decodeUtf8(body) ?? '');
}

function json(status: number, value: unknown): UpstreamAnswer {
  const body = toBytes([JSON.stringify(value)]);
  return { status, headers: { 'content-type': 'application/json' }, body, discard: () => {} };
}

async function* toBytes(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield encoder.encode(text);
}

async function* encode(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield encoder.encode(text);
}

const encoder = new TextEncoder();

function toRefusal(thrown: unknown): RefusedCall {
  if (thrown instanceof RefusedCall) return thrown;
  const { code, message } = toRuntimeError(thrown);
  const status = code === 'PROVIDER_UNUSABLE' ? 503 : 502;
  const name = code === 'PROVIDER_UNUSABLE' ? 'provider_unusable' : 'upstream_failed';
  return new RefusedCall({ status, code: name, message, isRetryable: false }, thrown);
}

/** Returns the script's vectors, or a deterministic vector for each text. Throws PROVIDER_FAILED. */
async function embed(body: string, provider: ProviderConfig, signal: AbortSignal): Promise<unknown> {
  const request = tryParse(body);
  const { input, encoding_format: format } = isObject(request) ? request : {};
  const texts = (Array.isArray(input) ? input : [input]).map(String);
  // The script of a chat mock has no embeddings.
  const script = provider.role === 'embedding' ? provider : { ...provider, additionalConfig: {} };
  const { vectors, tokens } = await openMockEmbeddings(script)(texts, signal);
  const data = vectors.map((vector, index) => {
    const embedding =
      format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector;
    return { object: 'embedding', index, embedding };
  });
  return {
    object: 'list',
    data,
    model: provider.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

const chatRendering: Rendering = {
  whole: (reply) => ({
    ...openAiHead(reply, 'chat.completion'),
    choices: indexes(reply).map((index) => ({
      index,
      message: {
        role: 'assistant',
        content: reply.pieces.length === 0 ? null : reply.pieces.join(''),
        refusal: null,
        ...(reply.calls.length > 0 && { tool_calls: reply.calls.map(toCall) }),
      },
      logprobs: null,
      finish_reason: finishOf(reply),
    })),
    usage: usageOf(reply),
  }),
  stream: streamChat,
};

function* streamChat(reply: ScriptedReply): Generator<ScriptedEvent> {
  const frame = (choices: unknown, more: object = {}, isPiece = false) =>
    toEvent({ ...openAiHead(reply, 'chat.completion.chunk'), choices, ...more }, { isPiece });
  const delta = (index: number, part: object, finish: string | null = null) => [
    { index, delta: part, logprobs: null, finish_reason: finish },
  ];
  for (const index of indexes(reply)) {
    yield frame(delta(index, { role: 'assistant', content: '', refusal: null }));
    for (const content of reply.pieces) yield frame(delta(index, { content }), {}, true);
    for (const [at, call] of reply.calls.entries()) {
      const begun = {
        index: at,
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: '' },
      };
      yield frame(delta(index, { tool_calls: [begun] }));
      for (const piece of inputPieces(call.input)) {
        const more = { index: at, function: { arguments: piece } };
        yield frame(delta(index, { tool_calls: [more] }), {}, true);
      }
    }
    yield frame(delta(index, {}, finishOf(reply)));
  }
  if (reply.tellsUsage) yield frame([], { usage: usageOf(reply) });
  yield { text: 'data: [DONE]\n\n', isPiece: false };
}

function openAiHead({ id, model }: ScriptedReply, object: string) {
  return { id: `chatcmpl-${id}`, object, created: 0, model };
}

function indexes({ choices }: ScriptedReply): number[] {
  return Array.from({ length: choices }, (_, index) => index);
}

function toCall({ id, name, input }: ScriptedReply['calls'][number]) {
  return { id, type: 'function', function: { name, arguments: input } };
}

function finishOf({ finish }: ScriptedReply): string {
  if (finish === 'other') return 'stop';
  return finish.replace('-', '_');
}

function usageOf({ usage: { input, output } }: ScriptedReply) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

interface ScriptedReply {
  readonly id: string;
  readonly model: string;
  readonly pieces: readonly string[];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  readonly finish: NonNullable<MockResponse['finishReason']>;
  readonly usage: TokenUsage;
  /** The requested number of choices. All have the same text. */
  readonly choices: number;
  readonly tellsUsage: boolean;
}

interface ScriptedEvent {
  readonly text: string;
  readonly isPiece: boolean;
}

interface Rendering {
  whole(reply: ScriptedReply): unknown;
  stream(reply: ScriptedReply): Iterable<ScriptedEvent>;
}

function toEvent(
  data: unknown,
  { name, isPiece = false }: { readonly name?: string; readonly isPiece?: boolean } = {},
): ScriptedEvent {
  const json = JSON.stringify(data);
  return { text: name === undefined ? `data: ${json}\n\n` : `event: ${name}\ndata: ${json}\n\n`, isPiece };
}

function inputPieces(input: string): readonly string[] {
  return input.match(/.{1,16}/gsu) ?? [];
}

const renderings: Readonly<Record<'chat' | 'responses' | 'messages', Rendering>> = {
  chat: chatRendering,
  responses: responsesRendering,
  messages: messagesRendering,
};
