import { expect, test } from 'vitest';
import { serveTestGateway } from '../http/serve-gateway.ts';
import { message, startMessagesUpstream, text } from '../upstreams/messages-upstream.ts';
import { accumulate } from '../wire/messages/sdk.ts';
import { claudeCodeHeaders, firstTurn, secondTurn } from './claude-code-requests.ts';

const hook = `#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
def clean(value):
    return json.loads(json.dumps(value).replace("jane@example.com", "[mail]"))
if event["phase"] == "before_call":
    request = event["request"]
    replace = {"messages": clean(request["messages"]), "system_prompt": clean(request["system_prompt"])}
    print(json.dumps({"allow": True, "replace": replace}))
elif "rm -rf" in json.dumps(event["response"]):
    print(json.dumps({"allow": False, "reason": "it removes"}))
else:
    print(json.dumps({"allow": True}))
`;

async function open(content: readonly Record<string, unknown>[], filter: string | null = hook) {
  const upstream = await startMessagesUpstream(() => ({
    message: message(content, { stop_reason: 'tool_use' }),
  }));
  const hooks = filter === null ? '' : 'hooks:\n  words: {command: ./words.py, hook: provider}';
  const server = await serveTestGateway(
    `
state_store: {type: memory}
providers: [{id: main, type: anthropic, model: claude-test, base_url: "${upstream.url}", credential: {api_key: sk-ant-test}}]
${hooks}`,
    { 'words.py': filter ?? '' },
  );
  const post = async (body: unknown, path = '/v1/messages?beta=true') =>
    await fetch(server.url + path, {
      method: 'POST',
      headers: { ...claudeCodeHeaders, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return {
    upstream,
    url: server.url,
    post,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const call = { type: 'tool_use', id: 'toolu_01A', name: 'Bash', input: { command: 'echo hello' } };

test.each([
  ['the first', firstTurn],
  ['the second', secondTurn],
])('%s turn of Claude Code goes upstream unchanged except for what a hook removes', async (_, body) => {
  await using opened = await open([text('Running.'), call]);
  const response = await opened.post(body);
  expect(response.status).toBe(200);
  expect(await accumulate(await response.text())).toEqual(
    message([text('Running.'), call], { stop_reason: 'tool_use' }),
  );
  const [seen] = opened.upstream.seen;
  expect(seen?.url).toBe('/v1/messages?beta=true');
  expect(seen?.body).toBe(JSON.stringify(body).replaceAll('jane@example.com', '[mail]'));
});

test('its beta and version headers arrive byte for byte', async () => {
  await using opened = await open([text('hi')]);
  await (await opened.post(firstTurn)).text();
  const headers = opened.upstream.seen[0]?.headers ?? {};
  for (const name of [
    'anthropic-beta',
    'anthropic-version',
    'anthropic-dangerous-direct-browser-access',
    'user-agent',
  ])
    expect(headers[name]).toBe(claudeCodeHeaders[name]);
});

test('without hooks its request and the answer pass byte for byte', async () => {
  await using opened = await open([text('hi')], null);
  await (await opened.post(secondTurn)).text();
  expect(opened.upstream.seen[0]?.body).toBe(JSON.stringify(secondTurn));
});

test('a denied answer is an error that Claude Code shows and does not retry', async () => {
  await using opened = await open([{ ...call, input: { command: 'rm -rf /' } }]);
  const response = await opened.post(firstTurn);
  expect([response.status, response.headers.get('x-should-retry'), await response.json()]).toEqual([
    400,
    'false',
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: expect.stringContaining('it removes'),
        details: { error_code: 'content_filter' },
      },
    },
  ]);
});

test('Claude Code counts tokens, lists the models and detects the gateway', async () => {
  await using opened = await open([text('hi')]);
  const { stream: _, max_tokens: __, ...counted } = firstTurn;
  const count = await opened.post(counted, '/v1/messages/count_tokens?beta=true');
  expect([count.status, await count.json()]).toEqual([200, { input_tokens: 42 }]);
  expect(opened.upstream.seen[0]?.body).not.toContain('jane@example.com');
  const models = await fetch(`${opened.url}/v1/models?limit=1000`, { headers: claudeCodeHeaders });
  expect([models.status, await models.json()]).toEqual([
    200,
    {
      data: [
        { type: 'model', id: 'claude-test', display_name: 'claude-test', created_at: expect.any(String) },
      ],
      ...{ has_more: false, first_id: 'claude-test', last_id: 'claude-test' },
    },
  ]);
  const head = await fetch(`${opened.url}/`, { method: 'HEAD' });
  expect(head.status).toBe(200);
});
