import { setTimeout as sleep } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { NewKey } from '../../../src/gateway/keys/manager.ts';
import { openTestGateway } from '../open-gateway.ts';
import { answerJson, chatAnswer, startUpstream } from '../upstream-server.ts';
import { manage } from './open.ts';

type Answer = Parameters<typeof startUpstream>[0];

interface Begin {
  readonly answer?: Answer;
  readonly key?: Partial<NewKey>;
  readonly spec?: string;
  readonly files?: Readonly<Record<string, string>>;
}

async function begin({ answer = answerJson(chatAnswer('hi')), key = {}, spec = '', files = {} }: Begin = {}) {
  const upstream = await startUpstream(answer);
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const provider = (id: string, type: string) =>
    `{id: ${id}, type: ${type}, model: ${id}, base_url: "${upstream.url}/v1", credential: {api_key: sk-upstream}, pricing: {input_cost_per_1k: 1, output_cost_per_1k: 2}}`;
  const gateway = await openTestGateway(
    `providers: [${provider('m', 'openai-compatible')}, ${provider('claude', 'anthropic')}]\n${spec}`,
    files,
  );
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  const keys = await manage({ type: 'sqlite', file: `${gateway.folder}/.signalbox/state.db` });
  const made = await keys.create({ name: 'team', ...key });
  const fetch = (input: string | URL | Request, init?: RequestInit) =>
    gateway.gateway.fetch(new Request(input, init));
  const openai = (apiKey = made.key) =>
    new OpenAI({ apiKey, baseURL: 'http://127.0.0.1/v1', fetch, maxRetries: 2 });
  const anthropic = (apiKey = made.key) =>
    new Anthropic({ apiKey, baseURL: 'http://127.0.0.1', fetch, maxRetries: 0 });
  const usage = async () => (await keys.show('team')).usage[2];
  return { upstream, gateway, keys, key: made.key, openai, anthropic, usage };
}

const ask = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'hi' }] };

async function errorOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('the call was not refused');
}

test('both SDKs throw an AuthenticationError for a wrong key, and do not retry', async () => {
  const { upstream, openai, anthropic, key } = await begin();
  const wrong = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  const told = await errorOf(openai(wrong).chat.completions.create(ask));
  expect(told).toBeInstanceOf(OpenAI.AuthenticationError);
  expect(told).toMatchObject({ status: 401, code: 'invalid_api_key' });
  const messages = await errorOf(anthropic(wrong).messages.create({ ...ask, model: 'claude' }));
  expect(messages).toBeInstanceOf(Anthropic.AuthenticationError);
  expect(messages).toMatchObject({ error: { type: 'error', error: { type: 'authentication_error' } } });
  expect(JSON.stringify([told, messages, String(told), String(messages)])).not.toContain(wrong.slice(8));
  expect(upstream.seen).toHaveLength(0);
});

test('a model that the key may not call is a PermissionDeniedError, and is not listed', async () => {
  const { upstream, openai } = await begin({ key: { models: ['claude'] } });
  const told = await errorOf(openai().chat.completions.create(ask));
  expect(told).toBeInstanceOf(OpenAI.PermissionDeniedError);
  expect(told).toMatchObject({ status: 403, code: 'model_not_allowed', param: 'model' });
  const listed = await openai().models.list();
  expect(listed.data.map(({ id }) => id)).toEqual(['claude']);
  expect(upstream.seen).toHaveLength(0);
});

test('a key that has expired is a PermissionDeniedError', async () => {
  const { openai, gateway } = await begin();
  const long = await manage({ type: 'sqlite', file: `${gateway.folder}/.signalbox/state.db` }, () => 0);
  const { key } = await long.create({ name: 'old', expiresAt: 1000 });
  const told = await errorOf(openai(key).chat.completions.create(ask));
  expect(told).toBeInstanceOf(OpenAI.PermissionDeniedError);
  expect(told).toMatchObject({ code: 'api_key_expired' });
});

test('an exhausted rate is a RateLimitError with retry-after, in each dialect', async () => {
  const { openai, anthropic } = await begin({ key: { requestsPerMinute: 1 } });
  await openai().chat.completions.create(ask);
  const told = await errorOf(openai().chat.completions.create(ask, { maxRetries: 0 }));
  expect(told).toBeInstanceOf(OpenAI.RateLimitError);
  expect(told).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  expect(Number(Object(told).headers.get('retry-after'))).toBeGreaterThan(50);
  const messages = await errorOf(anthropic().messages.create({ ...ask, model: 'claude' }));
  expect(messages).toBeInstanceOf(Anthropic.RateLimitError);
  expect(messages).toMatchObject({ error: { error: { type: 'rate_limit_error' } } });
  expect(Object(messages).headers.get('retry-after')).not.toBeNull();
});

test('the SDK waits for retry-after and gets its answer when a place is free', async () => {
  const answer: Answer = async (request, response) => {
    await sleep(300);
    await answerJson(chatAnswer('hi'))(request, response);
  };
  const { upstream, openai } = await begin({ answer, key: { concurrent: 1 } });
  const calls = [openai(), openai()].map((client) => client.chat.completions.create(ask));
  expect((await Promise.all(calls)).map(({ choices }) => choices[0]?.message.content)).toEqual(['hi', 'hi']);
  expect(upstream.seen).toHaveLength(2);
});

test('a spent budget is reported once and not retried; usage is what the upstream reports', async () => {
  // A call costs 1 + 2 * 2 thousandths of a dollar, and reserves more.
  const { upstream, openai, usage } = await begin({ key: { budget: { month: 0.3 } } });
  await openai().chat.completions.create(ask);
  expect(await usage()).toMatchObject({
    calls: 1,
    input_tokens: 1,
    output_tokens: 2,
    cost: 0.005,
    estimated: 0,
  });
  const dear = { ...ask, max_tokens: 100_000 };
  const told = await errorOf(openai().chat.completions.create(dear));
  expect(told).toBeInstanceOf(OpenAI.RateLimitError);
  expect(told).toMatchObject({ code: 'insufficient_quota' });
  expect(Object(told).headers.get('x-should-retry')).toBe('false');
  expect(upstream.seen).toHaveLength(1);
});

test('upstream errors and unreachable upstreams cost nothing', async () => {
  const error = { error: { message: 'busy', type: 'server_error', code: null } };
  const { openai, usage } = await begin({ answer: answerJson(error, 500), key: { budget: { total: 1 } } });
  await errorOf(openai().chat.completions.create(ask, { maxRetries: 0 }));
  expect(await usage()).toMatchObject({ calls: 1, cost: 0, estimated: 0 });
  const gone = await begin({ key: { budget: { total: 1 } } });
  await gone.upstream[Symbol.asyncDispose]();
  await errorOf(gone.openai().chat.completions.create(ask, { maxRetries: 0 }));
  expect(await gone.usage()).toMatchObject({ calls: 0, cost: 0 });
});

const sse = (...events: readonly unknown[]) =>
  events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('');
const delta = (content: string) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});

test('a stream is charged the usage at its end, and one that the client leaves the reserved amount', async () => {
  const answer: Answer = async (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse(delta('one')));
    // Anthropic's API reports one output token at the start.
    response.write(sse({ type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } }));
    if (request.body.includes('hang')) return;
    response.end(
      `${sse({ ...delta('two'), usage: { prompt_tokens: 3, completion_tokens: 4 } })}data: [DONE]\n\n`,
    );
  };
  const { openai, usage } = await begin({ answer, key: { budget: { total: 1 } } });
  const whole = await openai().chat.completions.create({ ...ask, stream: true });
  for await (const chunk of whole) void chunk;
  await vi.waitFor(async () =>
    expect(await usage()).toMatchObject({ calls: 1, output_tokens: 4, estimated: 0 }),
  );
  const left = await openai().chat.completions.create({ ...ask, user: 'hang', stream: true });
  for await (const chunk of left) {
    void chunk;
    break;
  }
  await vi.waitFor(async () =>
    expect(await usage()).toMatchObject({ calls: 2, output_tokens: 14, estimated: 1 }),
  );
});

test('revoking a key lets its current call end and be counted, and refuses all later ones', async () => {
  const gate = Promise.withResolvers<void>();
  const answer: Answer = async (request, response) => {
    await gate.promise;
    await answerJson(chatAnswer('late'))(request, response);
  };
  const { openai, keys, upstream, usage } = await begin({ answer, key: { concurrent: 2 } });
  const call = openai().chat.completions.create(ask);
  await Promise.all([call.then(() => {}), revoke()]);
  async function revoke() {
    await vi.waitFor(() => expect(upstream.seen).toHaveLength(1));
    await keys.revoke('team');
    expect(await errorOf(openai().chat.completions.create(ask))).toBeInstanceOf(OpenAI.AuthenticationError);
    gate.resolve();
  }
  expect((await call).choices[0]?.message.content).toBe('late');
  expect(await usage()).toMatchObject({ calls: 1, output_tokens: 2 });
  expect((await keys.list())[0]?.status).toBe('revoked');
});

const deny = '#!/bin/sh\ncat >/dev/null\necho \'{"allow": false, "reason": "no"}\'\n';

test('no request can change its hooks, and what they deny costs nothing', async () => {
  const { key, gateway, upstream, usage } = await begin({
    key: { hooks: 'strict', budget: { total: 1 } },
    spec: 'hooks: {guard: {command: ./deny.sh, hook: provider, phases: [before_call]}}\ngateway: {hooks: {strict: [guard], none: []}}',
    files: { 'deny.sh': deny },
  });
  const authorization = `Bearer ${key}`;
  const tries: [Record<string, string>, Record<string, unknown>, string][] = [
    [{}, {}, ''],
    [{ 'x-signalbox-hooks': 'none', 'x-hooks': 'none', 'x-signalbox-hook-set': 'none' }, {}, ''],
    [{}, { hooks: [], hook_set: 'none', guardrails: [], metadata: { hooks: 'none' } }, ''],
    [{}, {}, '?hooks=none'],
    [{ 'x-api-key': 'sk-other', 'x-forwarded-for': '127.0.0.1', 'api-key': 'sk-other' }, {}, ''],
    [{ 'x-signalbox-admin': '1', 'x-http-method-override': 'GET' }, {}, ''],
  ];
  for (const [headers, members, query] of tries) {
    const response = await gateway.post(
      `/v1/chat/completions${query}`,
      { ...ask, ...members },
      { authorization, ...headers },
    );
    expect(response.status).toBe(400);
  }
  for (const headers of [
    {},
    { authorization: 'Bearer sk-x' },
    { 'x-api-key': 'sk-x' },
    { cookie: `key=${key}` },
  ]) {
    const response = await gateway.post('/v1/chat/completions', ask, { ...headers });
    expect(response.status).toBe(401);
  }
  expect(upstream.seen).toHaveLength(0);
  expect(await usage()).toMatchObject({ calls: 0, cost: 0 });
});

test('a key never appears in what the upstream sees, in answers, errors or headers', async () => {
  const { key, openai, upstream, gateway } = await begin({ key: { requestsPerMinute: 1 } });
  const first = await openai().chat.completions.create(ask).withResponse();
  const refused = await gateway.post('/v1/chat/completions', ask, { 'x-api-key': key });
  const shown = [
    JSON.stringify(upstream.seen),
    JSON.stringify(first.data),
    JSON.stringify([...first.response.headers]),
    await refused.text(),
    JSON.stringify([...refused.headers]),
  ];
  expect(shown.join('\n')).not.toContain(key.slice(8, 40));
});
