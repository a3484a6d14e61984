import { RuntimeError } from '../../../../src/base/errors.ts';
import { isObject, Json } from '../../../../src/base/json/json.ts';
import type { Decision } from '../../../../src/contract/hook.ts';
import type { ChatMessage } from '../../../../src/contract/provider.ts';
import { openStream } from '../../../../src/gateway/call/stream.ts';
import type { AnswerJudge } from '../../../../src/gateway/judge/provider-hooks.ts';
import { HeldBytes } from '../../../../src/gateway/stream/stream-call.ts';
import type { EndpointCodec, WireRequest, WireRules } from '../../../../src/gateway/wire/codec.ts';
import { codecs } from '../../../../src/gateway/wire/codecs.ts';
import { RefusedCall } from '../../../../src/gateway/wire/refusal.ts';
import { SseParser } from '../../../../src/gateway/wire/sse.ts';
import type { SampleDocument } from './documents.ts';
import { type Mutant, markerCore } from './mutate.ts';

export interface Way {
  readonly action: 'deny' | 'redact';
  readonly mode: 'hold' | 'windowed';
}

export const ways: readonly [Way, ...Way[]] = [
  { action: 'deny', mode: 'windowed' },
  { action: 'deny', mode: 'hold' },
  { action: 'redact', mode: 'windowed' },
  { action: 'redact', mode: 'hold' },
];

/**
 * Passes a mutant through the gateway's codecs and streams, with a filter in this process that denies or replaces the
 * marker. Undefined: nothing was sent on.
 */
export async function passMutant(
  { document, text }: Mutant,
  way: Way,
  codec: EndpointCodec = codecs[document.endpoint],
): Promise<string | undefined> {
  const sent = { ...way, document, text, codec };
  try {
    switch (document.side) {
      case 'request':
        return passRequest(sent);
      case 'stream':
        return await passStream(sent);
      default:
        return passAnswer(sent);
    }
  } catch (error) {
    // Only the client that sent the request sees the error.
    if (error instanceof RefusedCall) return document.side === 'request' ? undefined : error.message;
    if (error instanceof RuntimeError && error.code === 'REPLY_MALFORMED') return undefined;
    throw error;
  }
}

export function isLeaked(out: string | undefined): boolean {
  return out?.includes(markerCore) === true;
}

const rules: WireRules = {
  opaque: new Set(['image', 'audio', 'video', 'file']),
  references: new Set(['file_id', 'previous_response_id', 'conversation', 'container', 'audio']),
  redactsEmbeddings: true,
};

interface Sent extends Way {
  readonly document: SampleDocument;
  readonly text: string;
  readonly codec: EndpointCodec;
}

function passRequest({ text, codec, action }: Sent): string | undefined {
  const request = codec.readRequest(text, rules);
  const { messages, system_prompt, other, tools } = request.payload;
  if (!says({ messages, system_prompt, other }))
    return request.write({ messages, system_prompt, other, tools }, 'upstream-model');
  if (action === 'deny') return undefined;
  return request.write(
    {
      messages: messages.map(redactMessage),
      system_prompt: redactText(system_prompt),
      other: Json.from(redact(other)),
      tools,
    },
    'upstream-model',
  );
}

function passAnswer({ document, text, codec, action }: Sent): string | undefined {
  const answer =
    document.side === 'error' ? codec.readError(text) : codec.readAnswer(text, rules, requestFor(document));
  if (!answer.messages.some(says)) return answer.write(answer.messages);
  return action === 'deny' ? undefined : answer.write(answer.messages.map(redactMessage));
}

const requests = new Map<string, WireRequest>();

function requestFor({ endpoint, request: asked }: SampleDocument): WireRequest {
  const known = requests.get(asked);
  if (known !== undefined) return known;
  const request = codecs[endpoint].readRequest(asked, rules);
  requests.set(asked, request);
  return request;
}

const heldBytes = new HeldBytes({ perStream: 1e9, inTotal: 1e9 });
const encoder = new TextEncoder();

const windowChars = 20;

async function passStream({ document, text, codec, action, mode }: Sent): Promise<string> {
  const { signal } = new AbortController();
  const opened = await openStream(
    {
      codec,
      rules,
      request: requestFor(document),
      model: 'm',
      events: parse(text),
      judge: judges[action],
      signal,
      abandon: () => {},
    },
    {
      windowChars: mode === 'windowed' ? windowChars : undefined,
      onDeny: 'error',
      waitMs: 60_000,
      heldBytes,
    },
  );
  if (opened.kind === 'refused') return opened.refusal.message;
  let out = '';
  for await (const chunk of opened.chunks) out += chunk;
  return out;
}

async function* parse(text: string) {
  const parser = new SseParser(1e9);
  yield* parser.push(encoder.encode(text));
  yield* parser.end();
}

const decided = {
  hook: 'marks',
  metadata: new Json('{}'),
  result: null,
  reason: 'no',
  enforced: false,
  abort: null,
} as unknown as Decision;
const allowed = { ...decided, verdict: 'allow' } as Decision;
const modified = { ...decided, verdict: 'modify' } as Decision;
const denied = { ...decided, verdict: 'deny' } as Decision;

type Outcome = Awaited<ReturnType<AnswerJudge['ask']>>;

const judges: Readonly<Record<Way['action'], AnswerJudge>> = {
  deny: judgeBy(() => ({ kind: 'refuse', error: new RuntimeError('DENIED', 'no'), decision: denied })),
  redact: judgeBy((message) => passing(redactMessage(message), modified)),
};

function judgeBy(found: (message: ChatMessage) => Outcome): AnswerJudge {
  const ask = (message: ChatMessage) =>
    Promise.resolve(says(message) ? found(message) : passing(message, allowed));
  return { ask, askAboutPiece: ask, judgeCalls: undefined };
}

function passing(message: ChatMessage, decision: Decision): Outcome {
  return { kind: 'pass', event: { response: { message } }, decision } as unknown as Outcome;
}

function says(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(markerCore);
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Json) return value.text.includes(markerCore);
  if (Array.isArray(value)) return value.some(says);
  for (const key of Object.keys(value))
    if (key.includes(markerCore) || says(Reflect.get(value, key))) return true;
  return false;
}

const core = new RegExp(`(z|\\\\u007a)?${markerCore}z?`, 'g');

function redactText(text: string): string {
  return text.replaceAll(core, 'gone');
}

function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (value instanceof Json) return new Json(redactText(value.text));
  if (Array.isArray(value)) return value.map(redact);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [redactText(key), redact(member)]));
}

function redactMessage(message: ChatMessage): ChatMessage {
  return says(message) ? (redact(message) as ChatMessage) : message;
}
