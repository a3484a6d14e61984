import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openaiProvider } from '../open-gateway.ts';
import type { UpstreamServer } from '../upstream-server.ts';
import {
  called,
  type ResponsesReply,
  said,
  startResponsesUpstream,
  thought,
} from '../upstreams/responses-upstream.ts';
import { codexHeaders, codexRequest } from '../wire/responses/codex-samples.ts';
import { eventsOf } from '../wire/responses/streamed.ts';
import { serveTestGateway, type TestServer } from './serve-gateway.ts';

const hook = `#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
after = event["phase"] == "after_call"
told = event["response"]["message"] if after else {key: event["request"][key] for key in ("messages", "system_prompt", "other")}
text = json.dumps(told)
if "forbidden" in text:
    print(json.dumps({"allow": False, "reason": "that word"}))
elif "ann" in text:
    changed = json.loads(text.replace("ann", "[name]"))
    print(json.dumps({"allow": True, "replace": {"message": changed} if after else changed}))
else:
    print(json.dumps({"allow": True}))
`;

const spec = (url: string, settings: string) => `
state_store: {type: memory}
providers: [${openaiProvider(url)}]
hooks:
  words: {command: ./words.py, hook: provider}
gateway: {${settings}}
`;

let upstream: UpstreamServer;
let answering: TestServer;
let failing: TestServer;
let windowed: TestServer;
let reply: ResponsesReply = { output: [] };

beforeAll(async () => {
  upstream = await startResponsesUpstream(() => reply);
  const serve = (settings: string) => serveTestGateway(spec(upstream.url, settings), { 'words.py': hook });
  answering = await serve('on_deny: answer');
  failing = await serve('on_deny: error');
  windowed = await serve('stream: windowed, window: 16');
});

afterAll(async () => {
  await Promise.all([answering, failing, windowed].map((server) => server[Symbol.asyncDispose]()));
  await upstream[Symbol.asyncDispose]();
});

async function ask(server: TestServer, input: string) {
  const message = { type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] };
  const body = { ...codexRequest, model: 'm', input: [...codexRequest.input, message] };
  const response = await fetch(`${server.url}/v1/responses`, {
    method: 'POST',
    headers: {
      ...codexHeaders,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: 'Bearer sk',
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const events =
    response.status === 200
      ? eventsOf(text).flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data)]))
      : [];
  const added = new Set<number>();
  let said = '';
  for (const event of events) {
    if (event.type === 'response.output_item.added') added.add(event.output_index);
    if (event.type !== 'response.output_text.delta') continue;
    expect(added.has(event.output_index)).toBe(true);
    said += event.delta;
  }
  return {
    status: response.status,
    text,
    said,
    types: events.map(({ type }) => type),
    items: events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item),
    completed: events.find(({ type }) => type === 'response.completed'),
    failed: events.find(({ type }) => type === 'response.failed'),
    error: response.status === 200 ? undefined : JSON.parse(text).error,
    sent: upstream.seen.at(-1)?.body,
    body: JSON.stringify(body),
  };
}

describe('Codex behind the gateway', () => {
  it('finds the list of models that it requests', async () => {
    const response = await fetch(`${answering.url}/v1/models?client_version=0.98.0`, {
      headers: codexHeaders,
    });
    const { models, data } = (await response.json()) as { models: unknown; data: { id: string }[] };
    expect([response.status, Array.isArray(models), data.map(({ id }) => id)]).toEqual([200, true, ['m']]);
  });

  it('gets text, reasoning and calls in the form that it accepts', async () => {
    reply = {
      output: [thought('Looking.'), said('I will run it.'), called('shell_command', { command: 'ls' })],
    };
    const got = await ask(answering, 'Go on');
    expect([got.said, got.items.map(({ type }) => type), got.completed?.response.id]).toEqual([
      'I will run it.',
      ['reasoning', 'message', 'function_call'],
      'resp_68a1f0c2',
    ]);
    expect(JSON.parse(got.sent ?? '')).toEqual(JSON.parse(got.body.replaceAll('ann', '[name]')));
  });

  it('gets texts and arguments as a hook has changed them', async () => {
    reply = { output: [said('It is in /home/ann.'), called('shell_command', { command: 'ls /home/ann' })] };
    const got = await ask(answering, 'Go on');
    expect(got.text).not.toContain('/ann');
    expect([got.said, got.items[1]?.arguments, got.completed?.response.status]).toEqual([
      'It is in /home/[name].',
      '{"command":"ls /home/[name]"}',
      'completed',
    ]);
  });

  it('gets a denial as an answer that it shows, where the config says so', async () => {
    reply = { output: [said('a forbidden word')] };
    for (const input of ['Go on', 'say forbidden things']) {
      const got = await ask(answering, input);
      expect([got.status, got.completed?.response.status, got.types.includes('response.incomplete')]).toEqual(
        [200, 'completed', false],
      );
      expect(got.said).toContain('that word');
      expect(got.text).not.toContain('a forbidden');
    }
  });

  it('gets a denial as an error that it does not retry', async () => {
    reply = { output: [said('a forbidden word')] };
    const got = await ask(failing, 'Go on');
    expect([got.status, got.error?.code]).toEqual([400, 'content_filter']);
  });

  it('gets a final error for a denial in the middle of an answer', async () => {
    reply = { output: [said('It begins well and goes on for a while, and then it is forbidden.')] };
    const got = await ask(windowed, 'Go on');
    expect(got.said).toMatch(/^It begins well/);
    expect([got.failed?.response.error.code, got.completed, got.types.at(-1)]).toEqual([
      'invalid_prompt',
      undefined,
      'error',
    ]);
    expect(got.text).not.toContain('forbidden');
  });
});
