import type { ProviderRequest } from '../../../src/contract/provider.ts';
import { openStream } from '../../../src/gateway/call/stream.ts';
import { type AnswerJudge, createAnswerJudge } from '../../../src/gateway/judge/provider-hooks.ts';
import {
  HeldBytes,
  type StreamedCall,
  type StreamSettings,
} from '../../../src/gateway/stream/stream-call.ts';
import { formatEvent, type SseEvent } from '../../../src/gateway/wire/sse.ts';
import type { Fire } from '../../../src/models/guard/guard-outcome.ts';
import { type Said, say, smallCodec, smallRequest } from './small-codec.ts';

const request: ProviderRequest = {
  provider_id: 'p',
  model: 'm',
  messages: [],
  system_prompt: '',
  round: 1,
  metadata: {},
};

const plentyOfBytes = () => new HeldBytes({ perStream: 1_000_000, inTotal: 10_000_000 });

export interface Case {
  readonly fire: Fire;
  /** A function is called in place of an event, and may wait or throw. */
  readonly said: readonly (Said | (() => unknown))[];
  readonly settings?: Partial<StreamSettings>;
  readonly signal?: AbortSignal;
  readonly judgeCalls?: AnswerJudge['judgeCalls'];
  readonly isJudged?: boolean;
}

export function streamedCall(one: Case) {
  const { fire, said, settings, signal = new AbortController().signal, judgeCalls, isJudged } = one;
  let read = 0;
  let isAbandoned = false;
  async function* events(): AsyncGenerator<SseEvent> {
    for (const one of said) {
      read += 1;
      if (typeof one === 'function') await one();
      else yield say(one);
    }
  }
  const judge = createAnswerJudge({ fire, request, latencyMs: () => 0, signal, judgeCalls });
  const call: StreamedCall = {
    codec: smallCodec,
    rules: { opaque: new Set(), references: new Set(), redactsEmbeddings: false },
    request: smallRequest,
    model: 'm',
    events: events(),
    judge,
    isJudged,
    signal,
    abandon: () => {
      isAbandoned = true;
    },
  };
  const all: StreamSettings = {
    windowChars: undefined,
    onDeny: 'error',
    waitMs: 60_000,
    heldBytes: plentyOfBytes(),
    ...settings,
  };
  return {
    open: () => openStream(call, all),
    read: () => read,
    isAbandoned: () => isAbandoned,
    heldBytes: all.heldBytes,
  };
}

export async function run(one: Case) {
  const call = streamedCall(one);
  const opened = await call.open();
  if (opened.kind === 'refused') return { ...call, ...opened, text: '', events: [] };
  const chunks: string[] = [];
  for await (const chunk of opened.chunks) chunks.push(chunk);
  const text = chunks.join('');
  return { ...call, refusal: undefined, text, events: eventsOf(text), report: await opened.report };
}

function eventsOf(text: string): unknown[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.replace('data: ', '')));
}

export const rawOf = (said: readonly Said[]) => said.map((one) => formatEvent(say(one).data)).join('');
