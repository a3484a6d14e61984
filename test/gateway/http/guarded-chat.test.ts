import { expect, test } from 'vitest';
import { openaiProvider, openTestGateway } from '../open-gateway.ts';
import { answerJson, chatAnswer, startUpstream } from '../upstream-server.ts';

const path = '/v1/chat/completions';

const hook = `#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
text = json.dumps(event)
if "forbidden" in text:
    print(json.dumps({"allow": False, "reason": "that word"}))
elif "crash" in text:
    sys.exit(3)
elif event["phase"] == "before_call" and "blue" in text:
    messages = json.loads(json.dumps(event["request"]["messages"]).replace("blue", "red"))
    print(json.dumps({"allow": True, "replace": {"messages": messages}}))
elif event["phase"] == "after_call" and "green" in event["response"]["message"]["content"]:
    message = json.loads(json.dumps(event["response"]["message"]).replace("green", "grey"))
    print(json.dumps({"allow": True, "replace": {"message": message}}))
else:
    print(json.dumps({"allow": True}))
`;

const spec = (url: string, more = '') => `
state_store: {type: memory}
providers: [${openaiProvider(url)}]
hooks:
  words: {command: ./words.py, hook: provider}
${more}`;

const ask = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }], temperature: 0.25 });

async function open(answer: string, more = '') {
  const upstream = await startUpstream(answerJson(chatAnswer(answer)));
  const gateway = await openTestGateway(spec(upstream.url, more), { 'words.py': hook });
  return {
    upstream,
    gateway,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

function verdictOf({ headers }: Response) {
  return ['verdict', 'hook', 'phase'].map((name) => headers.get(`x-signalbox-${name}`));
}

test('what hooks allow passes byte for byte', async () => {
  await using opened = await open('hi');
  const response = await opened.gateway.post(path, ask('hello'));
  expect([response.status, await response.json(), opened.upstream.seen[0]?.body]).toEqual([
    200,
    chatAnswer('hi'),
    JSON.stringify(ask('hello')),
  ]);
});

test('a denied request never goes upstream, and the refusal has the form of the endpoint', async () => {
  await using opened = await open('hi');
  const response = await opened.gateway.post(path, ask('forbidden'));
  expect([response.status, verdictOf(response), response.headers.get('x-should-retry')]).toEqual([
    400,
    ['deny', 'words', 'before_call'],
    'false',
  ]);
  expect(await response.json()).toMatchObject({ error: { code: 'content_filter', param: 'messages[0]' } });
  expect(opened.upstream.seen).toEqual([]);
});

test('a denied answer is withheld', async () => {
  await using opened = await open('a forbidden word');
  const response = await opened.gateway.post(path, ask('hello'));
  const text = await response.text();
  expect([response.status, verdictOf(response), text.includes('forbidden')]).toEqual([
    400,
    ['deny', 'words', 'after_call'],
    false,
  ]);
});

test('a hook that fails denies with 503', async () => {
  await using opened = await open('hi');
  const response = await opened.gateway.post(path, ask('crash'));
  expect([response.status, await response.json(), opened.upstream.seen.length]).toEqual([
    503,
    expect.objectContaining({ error: expect.objectContaining({ code: 'guard_failed' }) }),
    0,
  ]);
});

test('a hook’s change alters only its own place in the body', async () => {
  await using opened = await open('green tea');
  const response = await opened.gateway.post(path, ask('blue'));
  expect([await response.json(), opened.upstream.seen[0]?.body]).toEqual([
    chatAnswer('grey tea'),
    JSON.stringify(ask('red')),
  ]);
});

test('on_deny: answer returns the API’s own refusal', async () => {
  await using opened = await open('a forbidden word', 'gateway: {on_deny: answer}');
  const response = await opened.gateway.post(path, ask('hello'));
  expect([response.status, verdictOf(response), await response.json()]).toEqual([
    200,
    ['deny', 'words', 'after_call'],
    expect.objectContaining({
      choices: [expect.objectContaining({ finish_reason: 'content_filter' })],
    }),
  ]);
});
