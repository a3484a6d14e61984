import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { startCallDeadline } from '../../../src/models/open/call-deadline.ts';
import { openCheckedStream } from '../../../src/models/open/call-limits.ts';
import { collect, errorOf, outline } from '../bench.ts';

const peer = { id: 'main', secrets: [] };

/** What becomes of a stream that consists of these parts. */
async function settle(parts: readonly LanguageModelV4StreamPart[]): Promise<LanguageModelV4StreamPart[]> {
  const clock = startCallDeadline('main', 60_000, undefined);
  return await collect(await openCheckedStream(ReadableStream.from(parts), { deadline: clock, peer }));
}

function finish(unified: LanguageModelV4FinishReason['unified'], raw?: string): LanguageModelV4StreamPart {
  return {
    type: 'finish',
    finishReason: { unified, raw },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
  };
}

const text: readonly LanguageModelV4StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: 'a' },
];

const call: LanguageModelV4StreamPart = { type: 'tool-call', toolCallId: '1', toolName: 'b', input: '{}' };

const complete = [
  finish('stop'),
  finish('stop', 'end_turn'),
  finish('other', 'odd'),
  finish('length', 'length'),
];

test.each(complete)('a stream that ends with %j is given on as it is', async (end) => {
  const parts = [...text, end];
  expect(await settle(parts)).toStrictEqual(parts);
});

const broken: readonly { readonly title: string; readonly end: readonly LanguageModelV4StreamPart[] }[] = [
  { title: 'nothing', end: [] },
  { title: 'a finish that the wire never gave a reason for', end: [finish('other')] },
  { title: 'a finish that says that it was cut off', end: [finish('interrupted')] },
  { title: 'a finish that says error', end: [finish('error', 'error')] },
  { title: 'an error, and more after it', end: [{ type: 'error', error: 'oops' }, call, finish('stop')] },
  { title: 'a tool call and nothing', end: [call] },
  { title: 'a tool call and an error', end: [call, { type: 'error', error: new Error('oops') }] },
];

test.each(broken)(
  'a stream that ends with $title ends with an error, and has no tool call',
  async ({ end }) => {
    const parts = await settle([...text, ...end]);
    expect(outline(parts)).toStrictEqual(['stream-start', 'text-start', 'text-delta a', 'error']);
    expect(errorOf(parts).code).toBe('PROVIDER_FAILED');
  },
);

test('what follows a tool call waits with it, in its order', async () => {
  const parts = [
    ...text,
    call,
    { type: 'text-end', id: '0' } as const,
    { ...call, toolCallId: '2' },
    finish('tool-calls'),
  ];
  expect(await settle(parts)).toStrictEqual(parts);
});

test('what comes after the finish is not given on', async () => {
  expect(await settle([...text, finish('stop'), call])).toStrictEqual([...text, finish('stop')]);
});

test('a stream is read no further than its reader asks', async () => {
  let read = 0;
  const endless = async function* (): AsyncGenerator<LanguageModelV4StreamPart> {
    yield* text;
    for (;;) {
      read += 1;
      yield { type: 'text-delta', id: '0', delta: 'a' };
    }
  };
  const clock = startCallDeadline('main', 60_000, undefined);
  const reader = (
    await openCheckedStream(ReadableStream.from(endless()), { deadline: clock, peer })
  ).getReader();
  for (let count = 0; count < 10; count += 1) await reader.read();
  await reader.cancel();
  expect(read).toBeLessThan(15);
});
