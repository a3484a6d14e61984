import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { fitsAnything } from '../../../src/base/yaml/schema-check.ts';
import { compileApproval } from '../../../src/calls/tool-call/approvals.ts';
import { answering, openBench } from '../../calls/capability/bench.ts';
import { openGuardLink } from '../memo/scripts.ts';
import { answerWith, asking, openJudgeBench, toolCall } from './judge-bench.ts';

const guard = `#!/usr/bin/env python3
import json, os, sys
request = json.load(sys.stdin)["request"]
with open(os.environ["SHOWN"], "a") as shown:
    shown.write(json.dumps(request) + "\\n")
text = json.dumps(request["args"])
if request["name"] == "rm": reply = {"allow": False, "reason": "no deleting"}
elif request["name"] == "pay": reply = {"allow": False, "ask": True, "reason": "money"}
elif "secret" in text: reply = {"allow": True, "replace": {"args": json.loads(text.replace("secret", "[x]"))}}
else: reply = {"allow": True}
print(json.dumps(reply))
`;

const guardLink = () => openGuardLink(guard, 'before_execution');

const read = toolCall('c1', 'read', { path: '/etc/hosts', big: 1 });

test('a call that hooks allow passes byte for byte', async () => {
  const { link, hook } = guardLink();
  const { call } = await openJudgeBench({ links: [link] });
  const spaced = toolCall('c1', 'read', '{ "n": 12345678901234567890 }');
  const answer = answerWith([spaced, toolCall('c2', 'list', '')], 'Looking.');
  expect((await call(asking, answer)).body).toEqual(answer);
  expect(hook.shown()).toContainEqual({ name: 'list', args: {}, call_id: 'c2' });
});

test('a denied call is removed and mentioned in the text, and other calls stay', async () => {
  const { link } = guardLink();
  const { call, decisions } = await openJudgeBench({ links: [link] });
  const { body } = await call(asking, answerWith([toolCall('c0', 'rm', {}), read], 'Let me see.'));
  const [choice] = body.choices;
  expect(choice.message).toEqual({
    role: 'assistant',
    content: 'Let me see.\n\nTool "rm" was blocked by hook "guard": no deleting',
    tool_calls: [read],
  });
  expect(choice.finish_reason).toBe('tool_calls');
  expect(decisions.map(([phase, { verdict, hook }]) => [phase, verdict, hook])).toEqual([
    ['before_execution', 'deny', 'guard'],
    ['before_execution', 'allow', null],
  ]);
});

test('an answer whose calls are all denied becomes a text that ends the turn', async () => {
  const { link } = guardLink();
  const { call } = await openJudgeBench({ links: [link] });
  const { body } = await call(asking, answerWith([toolCall('c0', 'rm', {})]));
  expect(body.choices[0]).toEqual({
    index: 0,
    message: { role: 'assistant', content: 'Tool "rm" was blocked by hook "guard": no deleting' },
    finish_reason: 'stop',
  });
});

test('changed arguments replace the old ones', async () => {
  const { link } = guardLink();
  const { call } = await openJudgeBench({ links: [link] });
  const { body } = await call(
    asking,
    answerWith([read, toolCall('c2', 'send', { text: 'my secret', id: 7 })]),
  );
  expect(body.choices[0].message.tool_calls).toEqual([
    read,
    toolCall('c2', 'send', { text: 'my [x]', id: 7 }),
  ]);
});

test.each([
  ['are no JSON', '{"path": '],
  ['have a key twice', '{"path": "/a", "path": "/b"}'],
])('a call whose arguments %s is withheld', async (_, args) => {
  const { link, hook } = guardLink();
  const { call } = await openJudgeBench({ links: [link] });
  const { body } = await call(asking, answerWith([toolCall('c1', 'read', args)]));
  expect(body.choices[0].message).not.toHaveProperty('tool_calls');
  expect(hook.shown()).toEqual([]);
});

test('the text of a custom tool is judged as its input, and changed there', async () => {
  const { link, hook } = guardLink();
  const { call } = await openJudgeBench({ links: [link] });
  const patch = (input: string) => ({ id: 'c1', type: 'custom', custom: { name: 'patch', input } });
  const { body } = await call(asking, answerWith([patch('*** add secret')]));
  expect(hook.shown()).toEqual([{ name: 'patch', args: { input: '*** add secret' }, call_id: 'c1' }]);
  expect(body.choices[0].message.tool_calls).toEqual([patch('*** add [x]')]);
});

test('a failing hook withholds the call, without any of its output', async () => {
  const link = openBench().links.filter({
    ...answering('oneshot', 'secret words'),
    name: 'broken',
    phases: ['before_execution'],
  });
  const { call } = await openJudgeBench({ links: [link] });
  const { body } = await call(asking, answerWith([read]));
  expect(body.choices[0].message.tool_calls).toBeUndefined();
  expect(JSON.stringify(body)).not.toContain('secret words');
});

test('arguments that do not fit the schema of a declared tool are withheld', async () => {
  const checkArgs = (value: unknown) => (JSON.stringify(value).includes('bad') ? ['/x must not be bad'] : []);
  const tool = { name: 'read', port: undefined, checkArgs, checkResult: fitsAnything, links: [] };
  const { link } = guardLink();
  const { call } = await openJudgeBench({ links: [link], tools: [tool] });
  const { body } = await call(
    asking,
    answerWith([toolCall('c1', 'read', { x: 'bad' }), toolCall('c2', 'read', { x: 'good' })]),
  );
  expect(body.choices[0].message.tool_calls).toEqual([toolCall('c2', 'read', { x: 'good' })]);
});

test('a config with only approval rules asks only for those approvals', async () => {
  const approval = compileApproval('pay', { when: '${args.amount > 100}', message: 'Pay ${args.amount}?' });
  const tool = {
    name: 'pay',
    port: undefined,
    checkArgs: fitsAnything,
    checkResult: fitsAnything,
    links: [],
    approval,
  };
  const { call, store } = await openJudgeBench({ tools: [tool] });
  const small = answerWith([toolCall('c1', 'pay', { amount: 5 })]);
  expect((await call(asking, small)).body).toEqual(small);
  expect(await store.listPendings({}, Date.now())).toEqual([]);
  const { refusal } = await call(asking, answerWith([toolCall('c1', 'pay', { amount: 500 })]));
  const [pending] = await store.listPendings({}, Date.now());
  expect(pending).toMatchObject({
    tool: 'pay',
    args: new Json('{"amount":500}'),
    message: 'Pay 500?',
    origin: 'approval',
  });
  expect(refusal).toMatchObject({ status: 400, code: 'pending_approval', isRetryable: false });
  expect(refusal?.message).toContain(pending?.id);
});
