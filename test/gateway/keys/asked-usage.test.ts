import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { askForUsage, withoutUsage } from '../../../src/gateway/call/usage.ts';
import type { NewKey } from '../../../src/gateway/keys/manager.ts';
import { openTestGateway } from '../open-gateway.ts';
import { answerJson, type SeenRequest, startUpstream } from '../upstream-server.ts';
import { manage } from './open.ts';

interface Style {
  readonly lineEnd: string;
  /** Separators as in Python's `json.dumps`. */
  readonly isSpaced: boolean;
  /** The position of `usage: null` among the members. */
  readonly at: 'first' | 'middle' | 'last';
  readonly isLastCut?: boolean;
}

const figures = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const isAsked = (body: string) => JSON.parse(body).stream_options?.include_usage === true;

/** A stream of OpenAI's API, which has usage only if the request asks for it. */
function streamOf(texts: readonly string[], asked: boolean, style: Style): string {
  const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const frame = (choices: readonly object[], usage: object | null) => {
    const told = asked ? { usage } : {};
    const members = {
      first: { ...told, ...base, choices },
      middle: { ...base, ...told, choices },
      last: { ...base, choices, ...told },
    }[style.at];
    const json = JSON.stringify(members, undefined, style.isSpaced ? 1 : 0).replaceAll(/\n\s*/g, ' ');
    return `data: ${json}${style.lineEnd}${style.lineEnd}`;
  };
  const choice = (delta: object, finish_reason: string | null) => [{ index: 0, delta, finish_reason }];
  return [
    frame(choice({ role: 'assistant', content: '' }, null), null),
    `: ping${style.lineEnd}${style.lineEnd}`,
    ...texts.map((content) => frame(choice({ content }, null), null)),
    frame(choice({}, 'stop'), null),
    ...(asked ? [frame([], figures)] : []),
    `data: [DONE]${style.lineEnd}${style.isLastCut === true ? '' : style.lineEnd}`,
  ].join('');
}

const plain: Style = { lineEnd: '\n', isSpaced: false, at: 'last' };
const styles: fc.Arbitrary<Style> = fc.record({
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  isSpaced: fc.boolean(),
  at: fc.constantFrom('first', 'middle', 'last'),
  isLastCut: fc.boolean(),
});

async function* pieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('a stream without its usage equals, byte for byte, a stream that never had it, however it is split', async () => {
  const texts = fc.array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"usage": null', 'data: {"usage":null,"choices":[]}\n\n', 'é\r\n\r\n'),
    ),
    { maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(texts, styles, fc.integer({ min: 1, max: 600 }), async (said, style, size) => {
      const seen: unknown[] = [];
      const asked = pieces(Buffer.from(streamOf(said, true, style)), size);
      const options = { onUsage: (usage: unknown) => void seen.push(usage), maxBytes: 1e6 };
      const left = await Array.fromAsync(withoutUsage(asked, options));
      expect(Buffer.concat(left).toString()).toBe(streamOf(said, false, style));
      expect(seen).toEqual([{ input: 11, output: 7 }]);
    }),
  );
});

test('data that is no chat event passes unchanged: meaningless bytes, usage beside choices, an oversized event', async () => {
  const untouched = [
    Buffer.from([0xff, 0xfe, 0x0a, 0x0a, 0x80, 0x22]),
    Buffer.from('data: {"usage":null\n\ndata: "usage"\n\n'),
    Buffer.from('data: {"choices":[{}],"usage":{"prompt_tokens":1}}\n\n'),
    Buffer.from('data: {"choices":[],"usage":{"words":1}}\n\n'),
    Buffer.from(`data: {"choices":[{"text":"${'x'.repeat(3000)}"}],"usage":null}\n\n`),
    Buffer.alloc(0),
  ];
  for (const bytes of untouched) {
    const options = { onUsage: () => expect.unreachable(), maxBytes: 1000 };
    const left = await Array.fromAsync(withoutUsage(pieces(bytes, 7), options));
    expect(Buffer.concat(left)).toEqual(bytes);
  }
});

test.each([
  ['{"stream":true}', '{"stream":true,"stream_options":{"include_usage":true}}'],
  ['{"stream":true,"stream_options":null}', '{"stream":true,"stream_options":{"include_usage":true}}'],
  [
    '{ "stream_options": {}, "stream": true }',
    '{ "stream_options": {"include_usage":true}, "stream": true }',
  ],
  [
    '{"stream":true,"stream_options":{"include_obfuscation":false}}',
    '{"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true}}',
  ],
  [
    '{"stream":true,"stream_options":{"include_usage": false}}',
    '{"stream":true,"stream_options":{"include_usage": true}}',
  ],
  ['{"stream":true,"stream_options":{"include_usage":true}}', undefined],
  ['{"stream":true,"stream_options":{"include_usage":"yes"}}', undefined],
  ['{"stream":true,"stream_options":[]}', undefined],
  ['{"stream":false}', undefined],
  ['{}', undefined],
])('%s is sent as %s', (body, sent) => {
  expect(askForUsage(body)).toBe(sent);
});

const allow = '#!/bin/sh\ncat >/dev/null\necho \'{"allow": true}\'\n';
const redact = `#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
message = event.get("response", {}).get("message")
if message is None: print(json.dumps({"allow": True}))
else: print(json.dumps({"allow": True, "replace": {"message": json.loads(json.dumps(message).replace("ann", "[x]"))}}))
`;
const guarded = (hook: string, stream: string) =>
  `hooks: {guard: {command: ./${hook}, hook: provider}}\ngateway: {stream: ${stream}}`;

interface Begin {
  readonly spec?: string;
  readonly provider?: string;
  readonly isBusy?: boolean;
  readonly style?: Style;
}

async function begin({ spec = '', provider = '', isBusy = false, style = plain }: Begin = {}) {
  const answer = async (
    { body }: SeenRequest,
    response: Parameters<Parameters<typeof startUpstream>[0]>[1],
  ) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(streamOf(['Hi ', 'ann', ' – bye'], isAsked(body), style));
    for await (const piece of pieces(bytes, 100)) {
      response.write(piece);
      await sleep(1);
    }
    response.end();
  };
  const upstream = await startUpstream(isBusy ? answerJson({ error: { message: 'busy' } }, 503) : answer);
  const second = await startUpstream(answer);
  onTestFinished(async () => {
    await Promise.all([upstream, second].map((server) => server[Symbol.asyncDispose]()));
  });
  const entry = (id: string, url: string, more: string) =>
    `{id: ${id}, type: openai-compatible, model: ${id}, base_url: "${url}/v1", credential: {api_key: k}, pricing: {input_cost_per_1k: 1, output_cost_per_1k: 2}, ${more}}`;
  const gateway = await openTestGateway(
    `providers: [${entry('m', upstream.url, provider)}, ${entry('n', second.url, '')}]\n${spec}`,
    { 'allow.sh': allow, 'redact.py': redact },
  );
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  const keys = await manage({ type: 'sqlite', file: `${gateway.folder}/.signalbox/state.db` });
  const ask = async (limits: Partial<NewKey>, more: object = {}) => {
    const name = `key-${Math.random()}`;
    const { key } = await keys.create({ name, ...limits });
    const messages = [{ role: 'user', content: 'hi' }];
    const body = { model: 'm', stream: true, max_tokens: 1000, messages, ...more };
    const response = await gateway.post('/v1/chat/completions', body, { authorization: `Bearer ${key}` });
    const text = await response.text();
    return { text, usage: (await keys.show(name)).usage[2] };
  };
  return { upstream, second, ask };
}

const exact = { input_tokens: 11, output_tokens: 7, cost: 0.025, estimated: 0 };
const budget = { budget: { total: 50 } };
/** Every kind of budget, if no hook takes time. */
const limitsOf = ({ spec = '' }: Begin): readonly Partial<NewKey>[] =>
  spec === '' ? [budget, { budget: { day: 50 } }, { tokensPerMinute: 1e6 }] : [budget];

test.each([
  { title: 'no hooks', spec: '' },
  { title: 'a held stream', spec: guarded('allow.sh', 'hold') },
  { title: 'a windowed stream', spec: guarded('allow.sh', 'windowed') },
  { title: 'a filter that redacts', spec: guarded('redact.py', 'hold') },
  { title: 'a filter that redacts windows', spec: guarded('redact.py', 'windowed, window: 16') },
  { title: 'CRLF', spec: '', style: { ...plain, lineEnd: '\r\n', isSpaced: true } },
])('with $title, a budget is exact and its client gets the bytes of one without', async (settings) => {
  const { ask, upstream } = await begin(settings);
  for (const options of [{}, { stream_options: { include_usage: false } }, { stream_options: null }]) {
    const free = await ask({}, options);
    for (const limits of limitsOf(settings)) {
      const counted = await ask(limits, options);
      expect(counted.text).toBe(free.text);
      expect(counted.text).not.toContain('usage');
      expect(counted.usage).toMatchObject(exact);
    }
    expect(free.usage).toMatchObject({ estimated: 1 });
  }
  expect(upstream.seen.map(({ body }) => isAsked(body))).toEqual(
    [0, 1, 2].flatMap(() => [false, ...limitsOf(settings).map(() => true)]),
  );
});

test('a client that asks for usage itself gets it', async () => {
  for (const spec of ['', guarded('allow.sh', 'windowed')]) {
    const { ask } = await begin({ spec });
    const options = { stream_options: { include_usage: true } };
    const [free, counted] = [await ask({}, options), await ask(budget, options)];
    expect(counted.text).toBe(free.text);
    expect(counted.text).toContain('"usage":{');
    expect([free.usage, counted.usage]).toEqual([
      expect.objectContaining(exact),
      expect.objectContaining(exact),
    ]);
  }
});

test('a provider with `stream_usage: false` is not asked for usage, and each upstream of a chain uses its own setting', async () => {
  const off = await begin({ provider: 'stream_usage: false' });
  const { usage } = await off.ask(budget);
  expect([isAsked(off.upstream.seen[0]?.body ?? ''), usage]).toEqual([
    false,
    expect.objectContaining({ estimated: 1 }),
  ]);
  const chain = await begin({ provider: 'stream_usage: false, fallback: [n]', isBusy: true });
  const counted = await chain.ask(budget);
  expect([...chain.upstream.seen, ...chain.second.seen].map(({ body }) => isAsked(body))).toEqual([
    false,
    true,
  ]);
  expect(counted.usage).toMatchObject({ ...exact, calls: 1 });
  expect(counted.text).toBe((await chain.ask({})).text);
});
