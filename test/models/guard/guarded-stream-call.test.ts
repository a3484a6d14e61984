import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { JSONParseError, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { simulateReadableStream, streamText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import type { HookEvent } from '../../../src/contract/hook.ts';
import { answering, eventually, newRecord, openBench } from '../../calls/capability/bench.ts';
import {
  finish,
  fireHook,
  fireLinks,
  fireOnText,
  guarded,
  prompt,
  readParts,
  streamingModel,
  textOf,
  textParts,
  usage,
} from '../guard-bench.ts';

type Part = LanguageModelV4StreamPart;
const modes = [{ stream: 'hold' }, { stream: 'windowed', windowChars: 8 }] as const;

const spell = (value: unknown) => inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true });

const leaky: Part[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', id: 'r1', modelId: 'm-1' },
  { type: 'raw', rawValue: 'SECRET' },
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: 'SECRET' },
  { type: 'reasoning-end', id: 'r', providerMetadata: { acme: { signature: 'SECRET' } } },
  ...textParts(['SEC', 'RET', ' is the word']),
  { type: 'tool-input-start', id: 'c1', toolName: 'send' },
  { type: 'tool-input-delta', id: 'c1', delta: '{"to":"SECRET"}' },
  { type: 'tool-input-end', id: 'c1' },
  { type: 'tool-call', toolCallId: 'c1', toolName: 'send', input: '{"to":"SECRET"}' },
  { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.example/SECRET' },
  { type: 'file', mediaType: 'image/png', data: { type: 'data', data: btoa('SECRET') } },
  { type: 'custom', kind: 'acme.note', providerMetadata: { acme: { note: 'SECRET' } } },
  {
    ...finish,
    usage: { ...usage, raw: { note: 'SECRET' } },
    providerMetadata: { acme: { logprobs: 'SECRET' } },
  },
];

/** Without the report, which other tests cover. */
function bare(parts: readonly Part[]): Part[] {
  return parts.map((part) => {
    if (part.type !== 'finish') return part;
    const { providerMetadata: _, ...rest } = part;
    return rest;
  });
}

const denied = { unified: 'content-filter', raw: 'signalbox: denied by h' };

test.each(modes)(
  'a call denied before it is made streams the denial first, and ends ($stream)',
  async (mode) => {
    const { model } = streamingModel(leaky);
    const fire = fireHook(() => ({ verdict: 'deny', reason: 'no' }));
    const parts = await readParts(model, { fire, ...mode });
    expect(parts).toMatchObject([
      {
        type: 'error',
        error: { code: 'DENIED', details: { hook: 'h', reason: 'no', phase: 'before_call' } },
      },
      {
        type: 'finish',
        finishReason: denied,
        providerMetadata: { signalbox: { verdict: 'deny', after_call: null } },
      },
    ]);
    expect(model.doStreamCalls).toEqual([]);
  },
);

test.each(modes)('a replacement before the call is an ordinary stream ($stream)', async (mode) => {
  const { model } = streamingModel(leaky);
  const fire = fireHook(() => ({ verdict: 'deny', enforced: true, result: Json.from('Withheld.') }));
  const result = streamText({ model: guarded(model, { fire, ...mode }), prompt: 'hi' });
  expect(await result.text).toBe('Withheld.');
  expect(await result.finishReason).toBe('content-filter');
  expect(model.doStreamCalls).toEqual([]);
});

test.each(
  modes.flatMap((mode) => [
    { ...mode, title: 'denied', said: { verdict: 'deny', reason: 'no' } as const },
    { ...mode, title: 'asked about', said: { verdict: 'ask' } as const },
    {
      ...mode,
      title: 'replaced by a stand-in',
      said: { verdict: 'deny', enforced: true, result: Json.from('x') } as const,
    },
    {
      ...mode,
      title: 'replaced',
      said: {
        verdict: 'modify',
        replace: new Json('{"message":{"role":"assistant","content":"x"}}'),
      } as const,
    },
    {
      ...mode,
      title: 'replaced by what is no answer',
      said: {
        verdict: 'modify',
        replace: new Json('{"message":{"role":"assistant","content":"x","sources":[1]}}'),
      } as const,
    },
  ]),
)('nothing leaks of an answer that is $title ($stream)', async ({ title: _, said, ...mode }) => {
  const { model } = streamingModel(leaky);
  const fire = fireHook(({ phase }) => (phase === 'after_call' ? said : {}));
  const parts = await readParts(model, { fire, ...mode }, { ...prompt, includeRawChunks: true });
  expect(spell(parts)).not.toContain('SECRET');
  expect(parts.at(-1)?.type).toBe('finish');
  expect(parts.slice(0, 2)).toEqual([leaky[0], leaky[1]]);
});

test.each(modes)('a denial reaches the reader of streamText as an error ($stream)', async (mode) => {
  const { model } = streamingModel([...textParts(['a SECRET word, and then some more']), finish]);
  const errors: unknown[] = [];
  const result = streamText({
    model: guarded(model, {
      fire: fireOnText((text) => (text.includes('SECRET') ? undefined : text)),
      ...mode,
    }),
    prompt: 'hi',
    onError: ({ error }) => {
      errors.push(error);
    },
  });
  await result.consumeStream();
  expect(errors).toMatchObject([
    { code: 'DENIED', details: { phase: 'after_call', reason: 'no such text' } },
  ]);
  expect(errors[0]).toBeInstanceOf(RuntimeError);
  expect(await result.finishReason).toBe('content-filter');
  expect(await result.text).not.toContain('SECRET');
});

test('a held answer that all hooks allow is the model’s stream, without raw chunks', async () => {
  const { model } = streamingModel(leaky);
  const parts = await readParts(model, { fire: fireHook(() => ({})) });
  const { providerMetadata } = finishOf(parts);
  const original = leaky.filter(({ type }) => type !== 'raw');
  expect(bare(parts)).toEqual(bare(original));
  expect(providerMetadata).toMatchObject({ acme: { logprobs: 'SECRET' }, signalbox: { verdict: 'allow' } });
});

test('a windowed answer that all hooks allow has the same content, its text first', async () => {
  const { model } = streamingModel(leaky);
  const parts = await readParts(model, { fire: fireHook(() => ({})), stream: 'windowed', windowChars: 4 });
  const others = leaky.slice(2).filter(({ type }) => type !== 'raw' && !type.startsWith('text-'));
  expect(textOf(parts)).toBe('SECRET is the word');
  expect(bare(parts.filter(({ type }) => !type.startsWith('text-')))).toEqual([
    ...leaky.slice(0, 2),
    ...bare(others),
  ]);
  expect(finishOf(parts).providerMetadata).toMatchObject({ signalbox: { windows: 2 } });
});

function finishOf(parts: readonly Part[]): Extract<Part, { type: 'finish' }> {
  const last = parts.at(-1);
  if (last?.type === 'finish') return last;
  throw new Error('the stream has no finish part');
}

test('a replaced answer is streamed again, with its tool calls', async () => {
  const { model } = streamingModel(leaky);
  const replace = new Json(
    '{"message":{"role":"assistant","content":"x","reasoning":"y","tool_calls":[{"id":"c1","name":"send","args":{}}]}}',
  );
  const fire = fireHook(({ phase }) => (phase === 'after_call' ? { verdict: 'modify', replace } : {}));
  expect(bare(await readParts(model, { fire })).slice(2)).toEqual([
    { type: 'reasoning-start', id: 'signalbox-0' },
    { type: 'reasoning-delta', id: 'signalbox-0', delta: 'y' },
    { type: 'reasoning-end', id: 'signalbox-0' },
    { type: 'text-start', id: 'signalbox-1' },
    { type: 'text-delta', id: 'signalbox-1', delta: 'x' },
    { type: 'text-end', id: 'signalbox-1' },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'send', input: '{}' },
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
  ]);
});

test('parallel texts of a model are judged, and read, in order of arrival', async () => {
  const delta = (id: string, text: string): Part => ({ type: 'text-delta', id, delta: text });
  const { model } = streamingModel([
    { type: 'text-start', id: 'a' },
    { type: 'text-start', id: 'b' },
    delta('a', '1'),
    delta('b', '2'),
    delta('a', '3'),
    { type: 'text-end', id: 'a' },
    { type: 'text-end', id: 'b' },
    finish,
  ]);
  const asked: string[] = [];
  const fire = fireOnText((text) => {
    asked.push(text);
    return text;
  });
  const result = streamText({ model: guarded(model, { fire }), prompt: 'hi' });
  expect(await result.text).toBe('123');
  expect(asked).toEqual(['123']);
});

test('a tool’s input that no call repeats is omitted', async () => {
  const { model } = streamingModel([
    { type: 'tool-input-start', id: 'c1', toolName: 'send' },
    { type: 'tool-input-delta', id: 'c1', delta: '{"to":"SECRET' },
    finish,
  ]);
  expect(bare(await readParts(model, { fire: fireHook(() => ({})) }))).toEqual([finish]);
});

test('a held answer reveals nothing before its verdict', async () => {
  const seen: Part[] = [];
  let seenAtVerdict: string[] = [];
  const fire = fireHook((event) => {
    if (event.phase === 'after_call') seenAtVerdict = seen.map(({ type }) => type);
    return {};
  });
  const { stream } = await guarded(streamingModel(leaky).model, { fire }).doStream(prompt);
  for await (const part of stream) seen.push(part);
  expect(seenAtVerdict).toEqual(['stream-start', 'response-metadata']);
});

test('a windowed answer is sent while the model still streams, and is stopped where a filter denies', async () => {
  const words = Array.from({ length: 50 }, (_, index) => `word${index} `);
  words[20] = 'SECRET ';
  const told: string[] = [];
  const fire = fireHook((event, { filtersOnly }) => {
    if (event.phase !== 'after_call') return {};
    const { content } = event.response.message;
    if (filtersOnly !== true) told.push(content);
    return content.includes('SECRET') ? { verdict: 'deny', reason: 'no' } : {};
  });
  const streaming = streamingModel([...textParts(words), finish]);
  const parts = await readParts(streaming.model, { fire, stream: 'windowed', windowChars: 16 });
  const text = textOf(parts);
  expect(words.join('').startsWith(text)).toBe(true);
  expect(text).toContain('word15 ');
  expect(text).not.toContain('word19 S');
  expect(parts.slice(-3).map(({ type }) => type)).toEqual(['text-end', 'error', 'finish']);
  expect(finishOf(parts).finishReason).toEqual(denied);
  expect(streaming.isCancelled()).toBe(true);
  expect(streaming.pulled()).toBeLessThan(30);
  expect(streaming.model.doStreamCalls[0]).toMatchObject({ includeRawChunks: false });
  expect(streaming.model.doStreamCalls[0]?.abortSignal?.aborted).toBe(true);
  // An observer gets the answer once, as far as it came.
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('SECRET');
});

test('a replacement for a window follows the sent text', async () => {
  const fire = fireHook((event) =>
    event.phase === 'after_call' && event.response.message.content.includes('SECRET')
      ? { verdict: 'deny', enforced: true, result: Json.from('[withheld]') }
      : {},
  );
  const { model } = streamingModel([
    ...textParts(['some words go out ', 'and a SECRET and more words']),
    finish,
  ]);
  const parts = await readParts(model, { fire, stream: 'windowed', windowChars: 8 });
  expect(textOf(parts)).toBe('some words [withheld]');
  expect(finishOf(parts).finishReason).toEqual(denied);
});

test('windows are numbered for filters, and the whole answer is not one', async () => {
  const asked: unknown[] = [];
  const fire = fireHook((event, { filtersOnly }) => {
    if (event.phase !== 'after_call') return {};
    const { message } = event.response;
    asked.push({ ...event.request.metadata, text: message.content, filtersOnly });
    return {};
  });
  const { model } = streamingModel([...textParts(['abcdefg', 'hijklmn']), finish]);
  await readParts(
    model,
    { fire, stream: 'windowed', windowChars: 4 },
    {
      ...prompt,
      providerOptions: { signalbox: { metadata: { session_id: 's' } } },
    },
  );
  expect(asked).toEqual([
    { session_id: 's', signalbox_window: 1, text: 'abcdefg', filtersOnly: true },
    { session_id: 's', signalbox_window: 2, text: 'efghijklmn', filtersOnly: true },
    { session_id: 's', text: 'abcdefghijklmn', filtersOnly: undefined },
  ]);
});

test('an answer whose whole verdict contradicts its windows ends withheld', async () => {
  const fire = fireHook((event, { filtersOnly }) => {
    if (event.phase !== 'after_call' || filtersOnly === true) return {};
    const replace = new Json('{"message":{"role":"assistant","content":"something else"}}');
    return { verdict: 'modify', replace };
  });
  const { model } = streamingModel([...textParts(['some words go out, ', 'others do not']), finish]);
  const parts = await readParts(model, { fire, stream: 'windowed', windowChars: 4 });
  expect('some words go out, others do not').toContain(textOf(parts));
  expect(parts.slice(-2)).toMatchObject([
    { type: 'error', error: { code: 'DENIED', details: { phase: 'after_call' } } },
    { type: 'finish', finishReason: denied },
  ]);
});

const failing: { title: string; fails: Part | (() => never); told: object }[] = [
  {
    title: 'says that it failed',
    fails: { type: 'error', error: new Error('busy') },
    told: { message: 'busy' },
  },
  {
    title: 'quotes what it could not read',
    fails: { type: 'error', error: new JSONParseError({ text: 'SECRET', cause: 1 }) },
    told: { code: 'PROVIDER_FAILED' },
  },
  {
    title: 'breaks off',
    fails: () => {
      throw new Error('reset');
    },
    told: { message: 'reset' },
  },
];

test.each(modes.flatMap((mode) => failing.map((row) => ({ ...row, ...mode }))))(
  'of a model that $title nothing held is sent ($stream)',
  async ({ title: _, fails, told, ...mode }) => {
    const { model } = streamingModel([...textParts(['SECRET']).slice(0, 2), fails, finish]);
    const parts = await readParts(model, { fire: fireHook(() => ({})), ...mode });
    expect(parts).toMatchObject([
      { type: 'error', error: told },
      { type: 'finish', finishReason: { unified: 'error' } },
    ]);
    expect(spell(parts)).not.toContain('SECRET');
  },
);

test.each(modes)('a stream that ends without a finish is judged, and gets one ($stream)', async (mode) => {
  const { model } = streamingModel(textParts(['half a']));
  const parts = await readParts(model, { fire: fireHook(() => ({})), ...mode });
  expect(textOf(parts)).toBe('half a');
  expect(finishOf(parts).finishReason).toEqual({ unified: 'interrupted', raw: undefined });
});

const forever = () => new Promise<never>(() => {});

test.each(modes)('a reader that disconnects stops a silent model ($stream)', async (mode) => {
  const streaming = streamingModel([...textParts(['hello']).slice(0, 2), forever]);
  const fire = fireHook(() => ({}));
  const { stream } = await guarded(streaming.model, { fire, ...mode }).doStream(prompt);
  const reader = stream.getReader();
  const read = reader.read();
  await eventually(() => (streaming.pulled() > 2 ? [1] : []));
  await reader.cancel();
  expect(await read).toEqual({ done: true, value: undefined });
  expect(streaming.isCancelled()).toBe(true);
  expect(streaming.model.doStreamCalls[0]?.abortSignal?.aborted).toBe(true);
});

test.each(modes)('a reader that disconnects during hooks ends them ($stream)', async (mode) => {
  const signals: AbortSignal[] = [];
  const fire = fireHook(async (event, { signal }) => {
    if (event.phase !== 'after_call' || signal === undefined) return {};
    signals.push(signal);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw new Error('aborted');
  });
  const streaming = streamingModel([...textParts(['hello, hello, hello']), finish]);
  const { stream } = await guarded(streaming.model, { fire, ...mode }).doStream(prompt);
  const reader = stream.getReader();
  const read = reader.read();
  await eventually(() => signals);
  await reader.cancel();
  await read;
  expect(signals[0]?.aborted).toBe(true);
});

test.each(modes)('a caller’s abort ends the stream with its reason ($stream)', async (mode) => {
  const controller = new AbortController();
  const { model } = streamingModel([
    ...textParts(['hello']).slice(0, 2),
    () => {
      controller.abort(new Error('enough'));
      throw new Error('aborted');
    },
  ]);
  const call = { ...prompt, abortSignal: controller.signal };
  await expect(readParts(model, { fire: fireHook(() => ({})), ...mode }, call)).rejects.toThrow('enough');
});

test('a model is read no faster than its reader reads', async () => {
  const words = Array.from({ length: 100 }, (_, index) => `word${index} `);
  const streaming = streamingModel([...textParts(words), finish]);
  const options = { fire: fireHook(() => ({})), stream: 'windowed', windowChars: 8 } as const;
  const { stream } = await guarded(streaming.model, options).doStream(prompt);
  const reader = stream.getReader();
  await sleep(20);
  expect(streaming.pulled()).toBe(0);
  await reader.read();
  await sleep(20);
  expect(streaming.pulled()).toBeLessThan(8);
  await reader.cancel();
});

test('a model’s error at the start of a stream is thrown unchanged', async () => {
  const model = new MockLanguageModelV4({ doStream: () => Promise.reject(new Error('refused')) });
  await expect(readParts(model, { fire: fireHook(() => ({})) })).rejects.toThrow('refused');
});

test.each(modes)('real hooks redact a stream of the AI SDK ($stream)', async (mode) => {
  const bench = openBench();
  const record = newRecord();
  const asked: HookEvent[] = [];
  const links = [
    bench.links.filter({
      ...answering('server', '{"allow":true,"metadata":{"seen":true}}'),
      kind: 'provider',
    }),
    bench.links.observe({
      runs: ['record-event'],
      kind: 'provider',
      phases: ['after_call'],
      env: record.env,
    }),
  ];
  const chunks: Part[] = [...textParts(['hello ', 'there, ', 'how do you do']), finish];
  const model = new MockLanguageModelV4({ doStream: { stream: simulateReadableStream({ chunks }) } });
  const through = fireLinks(links);
  const fire = (event: HookEvent, options: Parameters<typeof through>[1]) => {
    asked.push(event);
    return through(event, options);
  };
  const result = streamText({ model: guarded(model, { fire, ...mode }), prompt: 'hi' });
  expect(await result.text).toBe('hello there, how do you do');
  expect(await result.providerMetadata).toMatchObject({
    signalbox: { verdict: 'allow', metadata: { seen: true } },
  });
  expect(asked.length).toBeGreaterThan(1);
  expect(await eventually(record.lines)).toHaveLength(1);
});
