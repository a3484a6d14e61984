import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { expect, onTestFinished, test } from 'vitest';
import { folderOf } from '../../cli/command-line.ts';
import { openaiProvider } from '../open-gateway.ts';
import { startUpstream } from '../upstream-server.ts';
import { answerWith, toolCall } from './judge-bench.ts';
import { command, serve } from './served.ts';

type Message = OpenAI.ChatCompletionMessageParam;

const guard = `#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
request = event["request"]
if event["phase"] == "after_execution":
    content = event["response"]["content"]
    print(json.dumps({"allow": True, "replace": {"content": content.replace("secret", "[x]")}} if "secret" in content else {"allow": True}))
    sys.exit()
text = json.dumps(request["args"])
if request["name"] == "rm": reply = {"allow": False, "reason": "no deleting"}
elif request["name"] == "pay": reply = {"allow": False, "ask": True, "reason": "money"}
elif "secret" in text: reply = {"allow": True, "replace": {"args": json.loads(text.replace("secret", "[x]"))}}
else: reply = {"allow": True}
print(json.dumps(reply))
`;

const specOf = (url: string, gateway: string) => `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  providers: [${openaiProvider(url)}]
  hooks:
    guard: {command: ./guard.py, hook: tool}
  gateway: {${gateway}}
`;

async function startModel(calls: readonly object[]) {
  const upstream = await startUpstream((request, response) => {
    const { messages, stream } = JSON.parse(request.body);
    const last = messages.at(-1);
    const results = messages.flatMap((message: { role: string; content: string }) =>
      message.role === 'tool' ? [message.content] : [],
    );
    const answer =
      last.role === 'user' ? answerWith(calls, 'Working.') : answerWith([], `Results: ${results.join(', ')}`);
    response.writeHead(200, { 'content-type': stream === true ? 'text/event-stream' : 'application/json' });
    response.end(stream === true ? toStream(answer) : JSON.stringify(answer));
  });
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  return upstream;
}

function toStream(answer: ReturnType<typeof answerWith>): string {
  const [choice] = answer.choices;
  if (choice === undefined) return '';
  const { tool_calls: calls = [], content } = choice.message as {
    tool_calls?: readonly object[];
    content: string | null;
  };
  const head = { id: answer.id, object: 'chat.completion.chunk', created: 1, model: 'm' };
  const deltas = [
    { role: 'assistant', content: '' },
    { content },
    ...calls.map((call, index) => ({ tool_calls: [{ index, ...call }] })),
  ];
  const chunks = [
    ...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: choice.finish_reason }] },
  ];
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

async function open(calls: readonly object[], gateway = 'tools: {hooks: true, pending: refuse}') {
  const upstream = await startModel(calls);
  const folder = folderOf({ 'guard.py': guard });
  writeFileSync(join(folder, 'runtime.yaml'), specOf(upstream.url, gateway));
  return { upstream, folder, served: await serve(folder) };
}

async function work(
  url: string,
  isStreamed: boolean,
): Promise<{ readonly ran: string[]; readonly said: string }> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' });
  const messages: Message[] = [{ role: 'user', content: 'Do it.' }];
  const ran: string[] = [];
  for (;;) {
    const asked = { model: 'm', messages };
    const message = isStreamed
      ? await client.chat.completions.stream(asked).finalMessage()
      : (await client.chat.completions.create(asked)).choices[0]?.message;
    if (message === undefined) throw new Error('no message');
    messages.push(message);
    if (message.tool_calls === undefined || message.tool_calls.length === 0)
      return { ran, said: message.content ?? '' };
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue;
      ran.push(`${call.function.name} ${call.function.arguments}`);
      messages.push({ role: 'tool', tool_call_id: call.id, content: `the secret of ${call.function.name}` });
    }
  }
}

const refuse = 'tools: {hooks: true, pending: refuse}';

test.each([
  [false, refuse],
  [true, refuse],
  [true, `${refuse}, stream: windowed, window: 4`],
])(
  'an agent copes with denied and edited calls and results, streamed: %s, with %s',
  async (isStreamed, gateway) => {
    const calls = [
      toolCall('c1', 'rm', { path: '/' }),
      toolCall('c2', 'send', { text: 'secret' }),
      toolCall('c3', 'read', {}),
    ];
    const { served, upstream } = await open(calls, gateway);
    expect(await work(served.url, isStreamed)).toEqual({
      ran: ['send {"text":"[x]"}', 'read {}'],
      said: 'Results: the [x] of send, the [x] of read',
    });
    const [, second] = upstream.seen.map(({ body }) => JSON.parse(body).messages);
    expect(second[1].content).toBe('Working.\n\nTool "rm" was blocked by hook "guard": no deleting');
    expect(await served.stop()).toBe(0);
  },
);

const paying = [toolCall('c1', 'pay', { amount: 500 }), toolCall('c2', 'read', {})];

async function refusedIds(working: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await working.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error(`not refused: ${String(error)}`);
  expect({ status: error.status, code: error.code }).toEqual({ status: 400, code: 'pending_approval' });
  return [...new Set(error.message.match(/pending_[0-9a-f]{16}/g))];
}

async function pendingsOf(
  folder: string,
  ...more: readonly string[]
): Promise<readonly { readonly id: string; readonly run_id: string }[]> {
  const { pending } = (await command(folder, 'pending', 'list', ...more)) as {
    pending: { id: string; run_id: string }[];
  };
  return pending;
}

test.each([false, true])(
  'a refused call continues after a decision from another process, across kill -9, streamed: %s',
  async (isStreamed) => {
    const { served, upstream, folder } = await open(paying);
    const [id = ''] = await refusedIds(work(served.url, isStreamed));
    expect(await refusedIds(work(served.url, isStreamed))).toEqual([id]);
    await served.kill();
    expect(await command(folder, 'pending', 'list')).toMatchObject({
      pending: [{ id, tool: 'pay', args: { amount: 500 } }],
    });
    await command(folder, 'pending', 'approve', id, '--args', '{"amount": 20}', '--by', 'mara');
    const again = await serve(folder);
    const both = await Promise.all([work(again.url, isStreamed), work(again.url, !isStreamed)]);
    const expected = {
      ran: ['pay {"amount":20}', 'read {}'],
      said: 'Results: the [x] of pay, the [x] of read',
    };
    expect(both).toEqual([expected, expected]);
    // One request for the calls, and one for each agent's results.
    expect(upstream.seen).toHaveLength(3);
    const pendings = await pendingsOf(folder, '--all');
    expect(pendings).toHaveLength(1);
    const run = await command(folder, 'runs', 'show', pendings[0]?.run_id ?? '');
    expect(run).toMatchObject({
      name: 'gateway',
      status: 'completed',
      input: { endpoint: 'chat', model: 'm' },
    });
  },
);

test('a held call continues at once after the decision, and the answer reports a rejection', async () => {
  const { served, folder } = await open(paying, 'tools: {hooks: true, pending: hold, hold_ms: 60000}');
  const working = work(served.url, true);
  let id = '';
  while (id === '') {
    id = (await pendingsOf(folder))[0]?.id ?? '';
    await sleep(50);
  }
  await command(folder, 'pending', 'reject', id, '--reason', 'not today', '--by', 'mara');
  expect(await working).toEqual({ ran: ['read {}'], said: 'Results: the [x] of read' });
});

test('a call that waits at a gateway is not resumed as a run, and its tool does not run here', async () => {
  const { served, folder } = await open(paying);
  const [id = ''] = await refusedIds(work(served.url, false));
  await expect(command(folder, 'pending', 'approve', id, '--by', 'mara', '--resume')).rejects.toMatchObject({
    code: 2,
  });
  expect((await work(served.url, false)).ran).toEqual(['pay {"amount":500}', 'read {}']);
});
