import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { compileSchema } from '../../../src/base/yaml/schema-check.ts';
import { callTool } from '../../../src/calls/tool-call/call.ts';
import type { CallableTool, CallContext } from '../../../src/calls/tool-call/callable-tool.ts';
import { answers, type HookEvent } from '../../../src/contract/hook.ts';
import { ok } from '../../../src/contract/tool.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import { openCalls } from './played-calls.ts';

const json = (text: string) => new Json(text);
const done = ok(json('"done"'));
const call = (tool: CallableTool, context: CallContext = {}) =>
  callTool(tool, '{"n":1}', { callId: 'c1', ...context });
const setting = (text: string, beside = {}) => answers.modify({ args: json(text) }, beside);
const small = compileSchema({ properties: { n: { maximum: 5 } } });

test('approvers receive the call as the filters left it, with the real path that it names', async () => {
  const { tool, hooks, heard, at } = openCalls();
  const links = [
    hooks('p', { approval: answers.allow() }),
    hooks('a', { before_execution: setting('{"n":2}') }),
  ];
  const findPath = ({ text }: Json) => (text === '{"n":2}' ? '/real' : undefined);
  const plain = tool('w', done, { links });
  const pathed = tool('w', done, { links, findPath });
  await call(pathed);
  expect(heard.splice(0)).toEqual(['a before_execution', 'p approval', 'w runs']);
  expect(at('approval')).toMatchObject({ call: 'c1', context: { session_id: 'c1', realPath: '/real' } });
  expect(at('approval')?.event).toMatchObject({
    hook: 'tool',
    asked: null,
    request: { args: json('{"n":2}') },
  });
  await call(pathed, { hookContext: createHookContext('s1') });
  expect(at('approval')?.context).toMatchObject({ session_id: 's1', realPath: '/real' });
  await call(plain, { hookContext: createHookContext('s1') });
  expect(at('approval')?.context).toEqual(createHookContext('s1'));
});

test('an approver may change, deny or hold the call, and add a message', async () => {
  const { tool, hooks, ran, at } = openCalls();
  const answering = (approval: Parameters<typeof hooks>[1]['approval']) =>
    call(tool('w', done, { links: [hooks('p', { ...(approval && { approval }), blocked: 'told' })] }));
  const said = { metadata: json('{"p":1}') };
  expect(await answering(setting('{"n":3}', said))).toMatchObject({ outcome: done, ...said });
  expect(ran.splice(0).map(({ call }) => call.args.text)).toEqual(['{"n":3}']);
  expect((await answering(answers.deny('no'))).outcome).toMatchObject({ status: 'denied', hook: 'p' });
  expect(at('blocked')?.event).toMatchObject({ stage: 'approval', reason: 'no' });
  expect((await answering(answers.ask('sure?'))).outcome).toMatchObject({ status: 'pending', hook: 'p' });
  // Only a question before the call can be answered in its place.
  const { outcome } = await answering(answers.respond('mine'));
  expect(outcome).toMatchObject({ status: 'denied', reason: 'a hook cannot answer here' });
  expect(ran).toEqual([]);
});

test('a denied call is not approved', async () => {
  const { tool, hooks, heard } = openCalls();
  const links = [
    hooks('a', { before_execution: answers.deny('no') }),
    hooks('p', { approval: answers.allow() }),
  ];
  await call(tool('w', done, { links }));
  expect(heard).toEqual(['a before_execution']);
});

const asking = (event: HookEvent) =>
  event.phase === 'before_execution' ? answers.ask('sure?') : answers.allow();

test.each([
  { title: 'nobody', approval: () => null, outcome: { status: 'pending', hook: 'a', reason: 'sure?' } },
  { title: 'an allow', approval: answers.allow(), outcome: done },
  { title: 'a deny', approval: answers.deny('no'), outcome: { status: 'denied', hook: 'p', reason: 'no' } },
])(
  'a filter’s question goes to the approvers first, and $title answers it',
  async ({ approval, outcome }) => {
    const { tool, hooks, asked, ran, heard } = openCalls();
    const links = [hooks('a', { before_execution: asking }), hooks('p', { approval })];
    expect((await call(tool('w', done, { links, checkArgs: small }))).outcome).toMatchObject(outcome);
    expect(asked[1]).toMatchObject({
      call: 'c1',
      event: { hook: 'tool', phase: 'approval', asked: { hook: 'a', reason: 'sure?' } },
    });
    expect(asked[1]?.event).toMatchObject({ request: { name: 'w', args: json('{"n":1}'), call_id: 'c1' } });
    expect(ran).toHaveLength(outcome.status === 'ok' ? 1 : 0);
    // An allow changes nothing that others would have to check again.
    expect(heard.filter((each) => each === 'a before_execution')).toHaveLength(1);
  },
);

test('without approvers a question waits for a person', async () => {
  const { tool, hooks, heard } = openCalls();
  const { outcome } = await call(tool('w', done, { links: [hooks('a', { before_execution: asking })] }));
  expect(outcome).toMatchObject({ status: 'pending', origin: 'hook' });
  expect(heard).toEqual(['a before_execution']);
});

/** Answers each question with the next of these arguments. */
function changing(...texts: string[]) {
  return (event: HookEvent) => {
    const isAsked = event.phase === 'approval' && event.asked !== null;
    return isAsked ? setting(texts.shift() ?? '{}') : answers.allow();
  };
}

test('an approver’s new arguments pass all filters again, and are not asked about twice', async () => {
  const { tool, hooks, heard, ran } = openCalls();
  const links = [
    hooks('first', { before_execution: answers.allow({ context: ['seen'] }) }),
    hooks('a', { before_execution: asking }),
    hooks('p', { approval: changing('{"n":2}') }),
  ];
  const result = await call(tool('w', done, { links }));
  expect(result.outcome).toEqual(done);
  const round = ['first before_execution', 'a before_execution'];
  expect(heard).toEqual([...round, 'p approval', 'p approval', ...round, 'p approval', 'w runs']);
  expect(ran.map(({ call }) => call.args.text)).toEqual(['{"n":2}']);
});

test('arguments that an approver has changed may be denied by a filter that allowed others', async () => {
  const { tool, hooks, ran } = openCalls();
  const strict = (event: HookEvent) =>
    event.phase === 'before_execution' &&
    event.request.args instanceof Json &&
    event.request.args.text === '{"n":2}'
      ? answers.deny('not these')
      : answers.allow();
  const links = [
    hooks('first', { before_execution: strict }),
    hooks('a', { before_execution: asking }),
    hooks('p', { approval: changing('{"n":2}') }),
  ];
  const { outcome } = await call(tool('w', done, { links }));
  expect(outcome).toMatchObject({ status: 'denied', hook: 'first', reason: 'not these' });
  expect(ran).toEqual([]);
});

test('a call is changed only once in a person’s place', async () => {
  const { tool, hooks, ran, at } = openCalls();
  let count = 0;
  // Asks, and changes the arguments each time.
  const restless = (event: HookEvent) => {
    count += 1;
    return event.phase === 'before_execution'
      ? answers.ask(`${count}?`, { replace: json(`{"args":{"n":${count}}}`) })
      : answers.allow();
  };
  const links = [
    hooks('a', { before_execution: restless, blocked: 'told' }),
    hooks('p', { approval: changing('{"n":7}', '{"n":8}') }),
  ];
  const { outcome } = await call(tool('w', done, { links }));
  expect(outcome).toMatchObject({
    status: 'denied',
    hook: 'a',
    reason: expect.stringContaining('a second time'),
  });
  expect(at('blocked')?.event).toMatchObject({ stage: 'before_execution' });
  expect(ran).toEqual([]);
});

test('the denial of a call that was changed twice names the one who denied it', async () => {
  const { tool, hooks } = openCalls();
  let count = 0;
  const restless = (event: HookEvent) => {
    if (event.phase !== 'before_execution') return answers.allow();
    count += 1;
    return answers.ask(`${count}?`, { replace: json(`{"args":{"n":${count}}}`) });
  };
  const links = [
    hooks('a', { before_execution: restless }),
    hooks('p', { approval: changing('{"n":7}', '{"n":8}') }),
    hooks('q', {
      approval: (event) =>
        event.phase === 'approval' && event.asked === null && count > 1 ? answers.deny('not this') : null,
    }),
  ];
  const { outcome } = await call(tool('w', done, { links }));
  expect(outcome).toMatchObject({ status: 'denied', hook: 'q', reason: 'not this' });
});

test('a call that one approver changed and another holds waits, without a further round', async () => {
  const { tool, hooks, heard } = openCalls();
  const links = [
    hooks('a', { before_execution: asking }),
    hooks('p', { approval: changing('{"n":2}') }),
    hooks('q', {
      approval: (event) => (event.phase === 'approval' && event.asked === null ? answers.deny('no') : null),
    }),
  ];
  const { outcome } = await call(tool('w', done, { links }));
  expect(outcome).toMatchObject({ status: 'denied', hook: 'q' });
  expect(heard.filter((each) => each === 'a before_execution')).toHaveLength(1);
});

test('without anyone to ask, a question is denied in its dialect’s words, or waits if it has none', async () => {
  const { tool, hooks, at } = openCalls();
  const plan = { before_execution: asking, blocked: 'told' } as const;
  const strict = hooks('a', plan, { noApproverReason: 'nobody is there' });
  const calling = (links: CallableTool['links'], isUnattended?: boolean) =>
    call(tool('w', done, { links }), { isUnattended });
  const denied = await calling([hooks('other', {}), strict], true);
  expect(denied.outcome).toMatchObject({ status: 'denied', hook: 'a', reason: 'nobody is there' });
  expect(at('blocked')?.event).toMatchObject({ stage: 'before_execution', reason: 'nobody is there' });
  const waits = { status: 'pending', origin: 'hook', hook: 'a' };
  expect((await calling([strict], false)).outcome).toMatchObject(waits);
  expect((await calling([strict])).outcome).toMatchObject(waits);
  const silent = hooks('a', { before_execution: asking });
  const harsh = hooks('z', {}, { noApproverReason: 'of another dialect' });
  expect((await calling([harsh, silent], true)).outcome).toMatchObject(waits);
});

test('a native hook’s question waits without anyone to ask, and foreign hooks do not affect it', async () => {
  const { tool, hooks, filter } = openCalls();
  const links = [filter('n', answers.ask('sure?')), hooks('z', {}, { noApproverReason: 'no' })];
  expect((await call(tool('w', done, { links }), { isUnattended: true })).outcome).toMatchObject({
    status: 'pending',
    hook: 'n',
  });
});

test('an abort ends more than the call', async () => {
  const { tool, hooks } = openCalls();
  const links = [hooks('a', { before_execution: answers.abort('stop', 'session') })];
  const { outcome } = await call(tool('w', done, { links }));
  expect(outcome).toEqual({ status: 'denied', hook: 'a', reason: 'stop', abort: 'session' });
});
