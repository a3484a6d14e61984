import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { openBench } from '../../calls/capability/bench.ts';
import { writeJudgingHook } from '../memo/scripts.ts';
import { openJudgeBench } from './judge-bench.ts';

const guard = `#!/usr/bin/env python3
import json, os, sys
event = json.load(sys.stdin)
request = event["request"]
if event["phase"] == "after_execution":
    content = event["response"]["content"]
    if "forbidden" in content: reply = {"allow": False, "reason": "not for models"}
    elif "secret" in content: reply = {"allow": True, "replace": {"content": content.replace("secret", "[x]")}}
    else: reply = {"allow": True}
else:
    text = json.dumps(request["args"])
    if request["name"] == "rm": reply = {"allow": False, "reason": "no deleting"}
    elif "secret" in text: reply = {"allow": True, "replace": {"args": json.loads(text.replace("secret", "[x]"))}}
    else: reply = {"allow": True}
print(json.dumps(reply))
`;

async function open() {
  const hook = writeJudgingHook(guard);
  return await openJudgeBench({
    links: [openBench().links.filter({ name: 'guard', runs: hook.runs, env: hook.env })],
  });
}

const blocked = 'Tool "rm" was blocked by hook "guard": no deleting';

const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
const messagesAnswer = (content: readonly object[], stop_reason = 'tool_use') => ({
  ...{
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason,
    stop_sequence: null,
  },
  usage: { input_tokens: 1, output_tokens: 1 },
});
// Bytes, as in the API: base64 of a text would count as a copy of the changed text.
const signature = createHash('sha512').update('Hm.').digest('base64');
const thinking = { type: 'thinking', thinking: 'Hm.', signature };
const text = (words: string) => ({ type: 'text', text: words });

test.each([
  [
    'changed and denied calls',
    [thinking, text('Well.'), use('t1', 'rm', {}), use('t2', 'send', { a: 'secret' })],
    'tool_use',
  ],
  ['a denied call without a text', [use('t1', 'rm', {})], 'end_turn'],
  ['allowed calls', [text('Well.'), use('t2', 'read', { big: 1 })], 'tool_use'],
])('Messages: %s', async (_, content, stopReason) => {
  const { call, contextOf } = await open();
  const body = { max_tokens: 5, messages: [{ role: 'user', content: 'Do it.' }] };
  const result = await call(body, messagesAnswer(content), contextOf(body, 'key_1', 'messages'));
  const texts = (content as { type: string; text?: string }[]).flatMap((block) => block.text ?? []);
  const isDenied = JSON.stringify(content).includes('"rm"');
  const said = [...texts, ...(isDenied ? [blocked] : [])].join('\n\n');
  expect(result.body?.stop_reason).toBe(stopReason);
  expect(result.body?.content.filter((block: { type: string }) => block.type === 'text')).toEqual(
    said === '' ? [] : [expect.objectContaining(text(said))],
  );
  expect(result.body?.content.filter((block: { type: string }) => block.type === 'tool_use')).toEqual(
    content.flatMap((block) =>
      'name' in block && block.name !== 'rm'
        ? [JSON.parse(JSON.stringify(block).replace('secret', '[x]'))]
        : [],
    ),
  );
  expect(result.body?.content.filter((block: { type: string }) => block.type === 'thinking')).toEqual(
    content.filter((block) => block === thinking),
  );
});

test('Messages: results in a user message', async () => {
  const { judge, contextOf } = await open();
  const result = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content });
  const body = {
    max_tokens: 5,
    messages: [
      { role: 'user', content: 'Do it.' },
      { role: 'assistant', content: [use('t1', 'read', {}), use('t2', 'read', {}), use('t3', 'read', {})] },
      {
        role: 'user',
        content: [
          result('t1', 'fine'),
          result('t2', [text('a secret')]),
          result('t3', 'forbidden'),
          text('Go on.'),
        ],
      },
    ],
  };
  const context = contextOf(body, 'key_1', 'messages');
  const messages = await judge.judgeResults(context);
  const { payload } = context.request;
  const written = JSON.parse(context.request.write({ ...payload, messages }, 'm'));
  const [one, two, three, four] = written.messages[2].content;
  expect([one, four]).toEqual([body.messages[2]?.content[0], body.messages[2]?.content[3]]);
  expect(JSON.stringify(two)).toContain('a [x]');
  expect(JSON.stringify([two, three])).not.toMatch(/secret|forbidden/);
  expect(JSON.stringify(three)).toContain('was blocked by hook');
});

const functionCall = (id: string, name: string, args: object) => ({
  ...{
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  },
});
const said = (words: string) => ({
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: words, annotations: [], logprobs: [] }],
});
const response = (output: readonly object[]) => ({
  ...{
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output,
    error: null,
  },
  ...{
    incomplete_details: null,
    parallel_tool_calls: true,
    tools: [],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
});

test.each([
  ['beside a text', [said('Well.')]],
  ['without a text', []],
])('Responses: changed and denied calls %s', async (_, before) => {
  const { call, contextOf } = await open();
  const body = { input: 'Do it.' };
  const patch = {
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'c3',
    name: 'patch',
    input: '*** add secret',
  };
  const output = [
    ...before,
    functionCall('c1', 'rm', {}),
    functionCall('c2', 'send', { a: 'secret' }),
    patch,
  ];
  const result = await call(body, response(output), contextOf(body, 'key_1', 'responses'));
  const types = result.body?.output.map(({ type }: { type: string }) => type);
  expect(types?.toSorted()).toEqual(['custom_tool_call', 'function_call', 'message']);
  const find = (type: string) => result.body?.output.find((item: { type: string }) => item.type === type);
  expect(JSON.parse(find('function_call').arguments)).toEqual({ a: '[x]' });
  expect(find('custom_tool_call').input).toBe('*** add [x]');
  expect(find('message').content[0].text).toBe([...before.map(() => 'Well.'), blocked].join('\n\n'));
});

test('Responses: results among the input', async () => {
  const { judge, contextOf } = await open();
  const result = (id: string, output: string) => ({ type: 'function_call_output', call_id: id, output });
  const input = [
    { role: 'user', content: 'Do it.' },
    functionCall('c1', 'read', {}),
    functionCall('c2', 'read', {}),
    { type: 'custom_tool_call', call_id: 'c3', name: 'patch', input: 'free text' },
    result('c1', 'a secret'),
    result('c2', 'fine'),
    { type: 'custom_tool_call_output', call_id: 'c3', output: 'forbidden' },
  ];
  const context = contextOf({ input }, 'key_1', 'responses');
  const messages = await judge.judgeResults(context);
  const written = JSON.parse(context.request.write({ ...context.request.payload, messages }, 'm'));
  expect(written.input.slice(0, 4)).toEqual(input.slice(0, 4));
  expect(written.input.slice(4).map(({ output }: { output: unknown }) => output)).toEqual([
    ...['a [x]', 'fine'],
    'Tool "patch" was blocked by hook "guard": not for models',
  ]);
});
