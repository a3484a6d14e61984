import { toRuntimeError } from '../../../base/errors.ts';
import { sleep } from '../../../base/time/deadline.ts';
import { once } from '../../../base/time/once.ts';
import type { ProviderConfig } from '../../../config/config.ts';
import { openScript, type ScriptedAnswer } from '../../../models/open/mock-answers.ts';
import type { EndpointCodec, EndpointName, WireRequest } from '../../wire/codec.ts';
import { RefusedCall } from '../../wire/refusal.ts';
import { decodeUtf8 } from '../../wire/strict-json.ts';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from '../upstream.ts';
import { chatRendering } from './chat.ts';
import { embed } from './embeddings.ts';
import { messagesRendering } from './messages.ts';
import { responsesRendering } from './responses.ts';
import type { Rendering, ScriptedReply } from './scripted.ts';

type Codecs = Readonly<Record<EndpointName, EndpointCodec>>;

/** A scripted provider that answers at every endpoint, within this process, in the endpoint's own form. */
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

/** Rules under which a scripted model takes whatever it is sent. */
const anything = {
  opaque: Object.assign(new Set<string>(), { has: () => true }),
  references: Object.assign(new Set<string>(), { has: () => true }),
  redactsEmbeddings: true,
};

const renderings: Readonly<Record<'chat' | 'responses' | 'messages', Rendering>> = {
  chat: chatRendering,
  responses: responsesRendering,
  messages: messagesRendering,
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
      .fail({ status: 500, code: 'scripted_error', message: failure?.message ?? '', isRetryable: true });
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

/** The events of a stream; one that fails does so behind its text. */
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
