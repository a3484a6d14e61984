import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { serveTestGateway } from '../http/serve-gateway.ts';
import { type MessagesReply, message, startMessagesUpstream, text } from '../upstreams/messages-upstream.ts';

const hook = `#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
def clean(value):
    return json.loads(json.dumps(value).replace("Jane", "[name]"))
if "forbidden" in json.dumps(event):
    print(json.dumps({"allow": False, "reason": "that word"}))
elif event["phase"] == "before_call":
    request = event["request"]
    replace = {name: clean(request[name]) for name in ("messages", "system_prompt", "other")}
    print(json.dumps({"allow": True, "replace": replace}))
else:
    print(json.dumps({"allow": True, "replace": {"message": clean(event["response"]["message"])}}))
`;

async function open(reply: MessagesReply, gateway = '{}') {
  const upstream = await startMessagesUpstream(() => reply);
  const server = await serveTestGateway(
    `
state_store: {type: memory}
providers: [{id: main, type: anthropic, model: claude-test, base_url: "${upstream.url}", credential: {api_key: sk-ant-test}}]
hooks:
  words: {command: ./words.py, hook: provider}
gateway: ${gateway}`,
    { 'words.py': hook },
  );
  const client = new Anthropic({ baseURL: server.url, apiKey: 'unused', maxRetries: 3, logLevel: 'off' });
  return {
    upstream,
    client,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const ask = (content: string) => ({
  model: 'claude-test',
  max_tokens: 100,
  system: 'You help Jane.',
  metadata: { user_id: 'Jane' },
  tools: [{ name: 'mail', description: 'Mails Jane.', input_schema: { type: 'object' as const } }],
  messages: [{ role: 'user' as const, content }],
});

const answer = [
  text('Dear Jane, '.repeat(30), [{ type: 'char_location', cited_text: 'Jane', document_index: 0 }]),
  { type: 'tool_use', id: 'toolu_1', name: 'mail', input: { to: 'Jane' } },
];
const cleaned = JSON.parse(JSON.stringify(answer).replaceAll('Jane', '[name]'));

test.each(['{}', '{stream: windowed}'])(
  'what hooks remove reaches neither the model nor the client: %s',
  async (gateway) => {
    await using opened = await open({ message: message(answer, { stop_reason: 'tool_use' }) }, gateway);
    const whole = await opened.client.messages.create(ask('I am Jane.'));
    const streamed = await opened.client.messages.stream(ask('I am Jane.')).finalMessage();
    expect([whole.content, whole.stop_reason]).toEqual([cleaned, 'tool_use']);
    expect(JSON.parse(JSON.stringify(streamed.content))).toEqual(cleaned);
    expect(opened.upstream.seen.map(({ body }) => JSON.parse(body))).toEqual([
      JSON.parse(JSON.stringify(ask('I am Jane.')).replaceAll('Jane', '[name]')),
      { ...JSON.parse(JSON.stringify(ask('I am Jane.')).replaceAll('Jane', '[name]')), stream: true },
    ]);
  },
);

async function errorOf(run: Promise<unknown>) {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Anthropic.APIError)) throw new Error('no error of the API');
  const { name, status, type, errorCode } = error;
  return { name, status, type, errorCode };
}

const denied = {
  name: 'BadRequestError',
  status: 400,
  type: 'invalid_request_error',
  errorCode: 'content_filter',
};

test('a denied request is an error that the SDK does not retry, and never goes upstream', async () => {
  await using opened = await open({ message: message([text('hi')]) });
  expect(await errorOf(opened.client.messages.create(ask('forbidden')))).toEqual(denied);
  expect(await errorOf(opened.client.messages.stream(ask('forbidden')).finalMessage())).toEqual(denied);
  expect(
    await errorOf(
      opened.client.messages.countTokens({ model: 'claude-test', messages: ask('forbidden').messages }),
    ),
  ).toEqual(denied);
  expect(opened.upstream.seen).toEqual([]);
});

test('a denied answer is withheld, streamed or not', async () => {
  await using opened = await open({ message: message([text('a forbidden word')]) });
  expect(await errorOf(opened.client.messages.create(ask('hi')))).toEqual(denied);
  expect(await errorOf(opened.client.messages.stream(ask('hi')).finalMessage())).toEqual(denied);
  expect(opened.upstream.seen).toHaveLength(2);
});

test('an answer that is denied midway ends in an error, and the denied text is not sent', async () => {
  const long = `${'All is well here. '.repeat(20)}forbidden`;
  await using opened = await open({ message: message([text(long)]) }, '{stream: windowed, window: 100}');
  let said = '';
  const stream = opened.client.messages.stream(ask('hi'));
  stream.on('text', (delta) => {
    said += delta;
  });
  expect(await errorOf(stream.finalMessage())).toMatchObject({
    type: 'invalid_request_error',
    errorCode: 'content_filter',
  });
  expect(said.length).toBeGreaterThan(50);
  expect(said).not.toContain('forb');
});

test('on_deny: answer returns the API’s own refusal', async () => {
  await using opened = await open({ message: message([text('a forbidden word')]) }, '{on_deny: answer}');
  const whole = await opened.client.messages.create(ask('hi'));
  const streamed = await opened.client.messages.stream(ask('hi')).finalMessage();
  for (const { stop_reason, content } of [whole, streamed])
    expect([stop_reason, JSON.stringify(content).includes('forbidden')]).toEqual(['refusal', false]);
});

test('an upstream error is judged, too', async () => {
  const error = (said: string) => ({ type: 'error', error: { type: 'api_error', message: said } });
  await using opened = await open({ status: 400, error: error('Jane has a forbidden word') });
  expect(await errorOf(opened.client.messages.create(ask('hi')))).toEqual(denied);
  await using told = await open({ status: 400, error: error('Jane is unknown') });
  await expect(told.client.messages.create(ask('hi'))).rejects.toMatchObject({
    apiMessage: '[name] is unknown',
  });
});

test('a client that disconnects ends the upstream call', async () => {
  const begun =
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n';
  await using opened = await open({ open: begun });
  const gone = new AbortController();
  const call = opened.client.messages.stream(ask('hi'), { signal: gone.signal }).finalMessage();
  const ended = expect(call).rejects.toThrow(Anthropic.APIUserAbortError);
  await expect.poll(() => opened.upstream.seen.length, { timeout: 30_000 }).toBe(1);
  gone.abort();
  await ended;
  await expect.poll(() => opened.upstream.connections(), { timeout: 30_000 }).toBe(0);
});
