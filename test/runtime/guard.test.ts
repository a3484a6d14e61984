import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { generateText, simulateReadableStream, streamText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expect, test } from 'vitest';
import type { GuardOptions, Runtime } from '../../src/index.ts';
import { open } from './open.ts';

const program = new URL('../../src/cli/pii/main.ts', import.meta.url).pathname;

async function openFiltered(action: string): Promise<Runtime> {
  const { runtime } = await open(`
hooks:
  pii: {hook: provider, runtime: server, command: ${process.execPath}, args: [${program}, --action, ${action}]}
`);
  return runtime;
}

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};
const finishReason = { unified: 'stop', raw: 'stop' } as const;

function modelThatSays(words: readonly string[]): LanguageModelV4 & { readonly asked: string[] } {
  const asked: string[] = [];
  const hear = ({ prompt }: LanguageModelV4CallOptions) => asked.push(JSON.stringify(prompt));
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'parrot',
    supportedUrls: {},
    asked,
    doGenerate: async (options) => {
      hear(options);
      return { content: [{ type: 'text', text: words.join('') }], finishReason, usage, warnings: [] };
    },
    doStream: async (options) => {
      hear(options);
      const deltas = words.map((delta) => ({ type: 'text-delta', id: '1', delta }) as const);
      return {
        stream: simulateReadableStream({
          chunks: [
            { type: 'stream-start', warnings: [] },
            { type: 'text-start', id: '1' },
            ...deltas,
            { type: 'text-end', id: '1' },
            { type: 'finish', finishReason, usage },
          ],
          initialDelayInMs: null,
          chunkDelayInMs: null,
        }),
      };
    },
  };
}

interface Said {
  readonly text: string;
  readonly finishReason: string;
  readonly errors: readonly unknown[];
}

const ways: readonly {
  way: string;
  say: (model: LanguageModelV4, prompt: string) => Promise<Said>;
  guard: GuardOptions;
}[] = [
  { way: 'generated', say: generate, guard: {} },
  { way: 'streamed and held', say: stream, guard: { stream: 'hold' } },
  { way: 'streamed behind a window', say: stream, guard: { stream: 'windowed', window: 40 } },
];

async function generate(model: LanguageModelV4, prompt: string): Promise<Said> {
  try {
    const { text, finishReason } = await generateText({ model, prompt, maxRetries: 0 });
    return { text, finishReason, errors: [] };
  } catch (error) {
    return { text: '', finishReason: 'thrown', errors: [error] };
  }
}

async function stream(model: LanguageModelV4, prompt: string): Promise<Said> {
  const errors: unknown[] = [];
  const result = streamText({
    model,
    prompt,
    maxRetries: 0,
    onError: ({ error }) => {
      errors.push(error);
    },
  });
  let text = '';
  for await (const delta of result.textStream) text += delta;
  return { text, finishReason: await result.finishReason, errors };
}

const card = '4111 1111 1111 1111';
/** The card number is split into chunks, far enough from both ends for a window to miss it. */
const leaky = [
  ...`${'Well, let me see what I have here. '.repeat(4)}It is `,
  '4111 1',
  '111 1111 11',
  '11, and ',
  ...'that is all that I know about it. '.repeat(4),
];

test.each(ways)('a filter blocks an answer that is $way', async ({ say, guard }) => {
  const runtime = await openFiltered('block');
  const model = wrapLanguageModel({ model: modelThatSays(leaky), middleware: runtime.guard(guard) });
  const { text, finishReason, errors } = await say(model, 'Which card do I have?');
  expect(text).not.toMatch(/1111/);
  expect({ finishReason, errors }).toEqual({
    finishReason: guard.stream === undefined ? 'thrown' : 'content-filter',
    errors: [expect.objectContaining({ code: 'DENIED' })],
  });
});

test.each(ways)('a filter hides a prompt from the model, $way', async ({ say, guard }) => {
  const runtime = await openFiltered('block');
  const parrot = modelThatSays(['Hello.']);
  const model = wrapLanguageModel({ model: parrot, middleware: runtime.guard(guard) });
  const { text, errors } = await say(model, `My card is ${card}.`);
  expect({ text, errors, asked: parrot.asked }).toEqual({
    text: '',
    errors: [expect.objectContaining({ code: 'DENIED' })],
    asked: [],
  });
});

test.each(ways)('a filter redacts both sides of an answer that is $way', async ({ say, guard }) => {
  const runtime = await openFiltered('redact');
  const parrot = modelThatSays(leaky);
  const model = wrapLanguageModel({ model: parrot, middleware: runtime.guard(guard) });
  const { text, errors } = await say(model, `Is ${card} mine?`);
  expect(errors).toEqual([]);
  expect(text).toBe(leaky.join('').replace(card, '[CREDIT_CARD]'));
  expect(parrot.asked).toEqual([expect.stringContaining('Is [CREDIT_CARD] mine?')]);
});

test.each(ways)('a filter restores real values in an answer that is $way', async ({ say, guard }) => {
  const runtime = await openFiltered('pseudonymise');
  const lead = 'I have looked into it, and as far as I can tell ';
  const parrot = modelThatSays([
    ...lead,
    'I will write to <EMAIL_',
    'ADDRESS_1> ',
    ...'before the day is over. '.repeat(3),
  ]);
  const model = wrapLanguageModel({ model: parrot, middleware: runtime.guard(guard) });
  const { text, errors } = await say(model, 'I am ada@example.org. What do you do?');
  expect(errors).toEqual([]);
  expect(text).toBe(`${lead}I will write to ada@example.org ${'before the day is over. '.repeat(3)}`);
  expect(parrot.asked.join()).toContain('<EMAIL_ADDRESS_1>');
  expect(parrot.asked.join()).not.toContain('ada@example.org');
});

test('a model of another generation of the AI SDK is refused when it is wrapped, and again when it is called', async () => {
  await using runtime = await openFiltered('redact');
  const middleware = runtime.guard();
  const model: LanguageModelV4 = modelThatSays(['hi']);
  const older: LanguageModelV4 = Object.assign(Object.create(model), { specificationVersion: 'v3' });
  const { overrideSupportedUrls, wrapGenerate, wrapStream } = middleware;
  const call = { model: older, params: { prompt: [] }, doGenerate: () => older.doGenerate({ prompt: [] }) };
  const doStream = () => older.doStream({ prompt: [] });
  const refusals = await Promise.allSettled([
    (async () => overrideSupportedUrls?.({ model: older }))(),
    (async () => wrapGenerate?.({ ...call, doStream }))(),
    (async () => wrapStream?.({ ...call, doStream }))(),
  ]);
  const refused = { status: 'rejected', reason: expect.objectContaining({ code: 'USAGE' }) };
  expect(refusals).toEqual([refused, refused, refused]);
  expect(String(refusals.map((refusal) => refusal.status === 'rejected' && refusal.reason.message)[0])).toBe(
    'the guard needs models of specification v4 of the AI SDK; "parrot" is one of v3',
  );
});

test('a model of an older package that the AI SDK converts to v4 is guarded', async () => {
  await using runtime = await openFiltered('redact');
  const older = new MockLanguageModelV3({
    doGenerate: async () => ({
      content: [{ type: 'text', text: 'my card is 4111 1111 1111 1111' }],
      finishReason,
      usage,
      warnings: [],
    }),
  });
  const model = wrapLanguageModel({ model: older, middleware: runtime.guard() });
  expect((await generateText({ model, prompt: 'hi' })).text).toBe('my card is [CREDIT_CARD]');
});
