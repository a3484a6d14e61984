import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { type Contender, defineWay, spread } from '../run/line.ts';
import { openSpec } from '../workspace.ts';

export interface GuardStream {
  /** Tokens per stream, one per part. */
  readonly tokens: number;
  /** How a guard releases the stream, and the `spec` with its hooks. Without it, the model has no guard. */
  readonly guard?: { readonly stream: 'hold' | 'windowed'; readonly spec: object };
}

/** Streams of a model in this process, read to the end. */
export const guardStream = defineWay<GuardStream>(import.meta.url);

export async function open({ tokens, guard }: GuardStream): Promise<Contender> {
  const bare = new MockLanguageModelV4({
    doStream: async () => ({ stream: ReadableStream.from(listParts(tokens)) }),
  });
  const runtime = guard === undefined ? undefined : await openSpec(guard.spec);
  const middleware = guard === undefined ? [] : (runtime?.guard({ stream: guard.stream }) ?? []);
  const model = wrapLanguageModel({ model: bare, middleware });
  const read = async () => {
    // The mock records every call for use in tests.
    bare.doStreamCalls.length = 0;
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Tell me.' }] }];
    const { stream } = await model.doStream({ prompt });
    let seen = 0;
    for await (const part of stream) if (part.type === 'text-delta') seen += part.delta.length;
    if (seen !== tokens * 6) throw new Error(`${seen} characters came through`);
  };
  return {
    run: (count) => spread(count, 1, read),
    close: async () => await runtime?.close(),
  };
}

function listParts(tokens: number): LanguageModelV4StreamPart[] {
  const total = { total: tokens, noCache: tokens, cacheRead: 0, cacheWrite: 0 };
  const usage = { inputTokens: total, outputTokens: { total: tokens, text: tokens, reasoning: 0 } };
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '0' },
    ...Array.from({ length: tokens }, () => ({ type: 'text-delta' as const, id: '0', delta: 'words ' })),
    { type: 'text-end', id: '0' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'end_turn' }, usage },
  ];
}
