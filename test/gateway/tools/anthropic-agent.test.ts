import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { openTestGateway } from '../open-gateway.ts';
import { startUpstream } from '../upstream-server.ts';

const guard = `#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
name = event["request"]["name"]
if event["phase"] == "after_execution":
    print(json.dumps({"allow": True, "replace": {"content": event["response"]["content"].replace("secret", "[x]")}}))
elif name == "rm": print(json.dumps({"allow": False, "reason": "no deleting"}))
elif name == "pay": print(json.dumps({"allow": False, "ask": True, "reason": "money"}))
else: print(json.dumps({"allow": True}))
`;

const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
const calls = [use('t1', 'rm', {}), use('t2', 'pay', { amount: 500 }), use('t3', 'read', {})];

async function startModel() {
  return await startUpstream((request, response) => {
    const { messages } = JSON.parse(request.body);
    const isFirst = messages.length === 1;
    const content = [{ type: 'text', text: isFirst ? 'Working.' : 'Done.' }, ...(isFirst ? calls : [])];
    const stop_reason = isFirst ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 1, output_tokens: 1 };
    const answer = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason,
      stop_sequence: null,
      usage,
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
}

test('an agent of Anthropic’s SDK is refused, retries after the decision, and sends results back', async () => {
  await using upstream = await startModel();
  await using opened = await openTestGateway(
    `providers: [{id: main, type: claude, model: m, base_url: "${upstream.url}", credential: {credential_env: DESK_KEY}}]
hooks: {guard: {command: ./guard.py, hook: tool}}
gateway: {tools: {hooks: true, pending: refuse}}`,
    { 'guard.py': guard },
  );
  const { gateway, runtime } = opened;
  const client = new Anthropic({
    ...{ apiKey: 'none', baseURL: 'http://127.0.0.1' },
    fetch: (input, init) => gateway.fetch(new Request(input, init)),
  });
  const asked = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Do it.' }] };
  await expect(client.messages.create(asked)).rejects.toMatchObject({
    status: 400,
    type: 'invalid_request_error',
  });
  const [pending] = await runtime.pending.list();
  await runtime.pending.approve(pending?.id ?? '', { by: 'mara', args: { amount: 20 } });
  const answer = await client.messages.create(asked);
  const streamed = await client.messages.stream(asked).finalMessage();
  const blocked = 'Working.\n\nTool "rm" was blocked by hook "guard": no deleting';
  const expected = [
    expect.objectContaining({ text: blocked }),
    use('t2', 'pay', { amount: 20 }),
    use('t3', 'read', {}),
  ];
  expect(
    [answer.content, streamed.content].map((content) =>
      content.map((block) => ('input' in block ? use(block.id, block.name, Object(block.input)) : block)),
    ),
  ).toEqual([expected, expected]);
  const results = ['t2', 't3'].map((tool_use_id) => ({
    type: 'tool_result' as const,
    tool_use_id,
    content: 'a secret',
  }));
  const messages = [
    ...asked.messages,
    { role: 'assistant' as const, content: answer.content },
    { role: 'user' as const, content: results },
  ];
  expect((await client.messages.create({ ...asked, messages })).content).toMatchObject([{ text: 'Done.' }]);
  expect(upstream.seen).toHaveLength(2);
  expect(
    JSON.parse(upstream.seen[1]?.body ?? '').messages[2].content.map(({ content }: { content: unknown }) =>
      JSON.stringify(content),
    ),
  ).toEqual([expect.stringContaining('a [x]'), expect.stringContaining('a [x]')]);
});
