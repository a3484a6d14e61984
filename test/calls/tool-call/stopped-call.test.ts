import { expect, test } from 'vitest';
import { RuntimeError, toFault } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { compileApproval } from '../../../src/calls/tool-call/approvals.ts';
import { callTool, prepareCall } from '../../../src/calls/tool-call/call.ts';
import type { CallableTool, CallContext } from '../../../src/calls/tool-call/callable-tool.ts';
import { answers, type Respond } from '../../../src/contract/hook.ts';
import { ok } from '../../../src/contract/tool.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import { openCalls } from './played-calls.ts';

const json = (text: string) => new Json(text);
const done = ok(json('"done"'));
const call = (tool: CallableTool, context: CallContext = {}) =>
  callTool(tool, '{"n":1}', { callId: 'c1', ...context });
const request = { name: 'w', args: json('{"n":1}'), call_id: 'c1' };
const respond = (result: unknown, more: Partial<Respond> = {}): Respond => ({
  ...answers.respond(result),
  ...more,
});

test('a hook answers in the tool’s place: no process runs, and no person is asked', async () => {
  const { tool, hooks, heard, at } = openCalls();
  const plan = {
    before_execution: respond('mine'),
    started: 'told',
    after_execution: answers.deny('of its own'),
    finished: 'told',
  } as const;
  const links = [
    hooks('a', plan),
    hooks('b', { after_execution: answers.allow(), approval: answers.deny('no') }),
  ];
  const approval = compileApproval('w', {});
  const result = await call(tool('w', done, { links, approval }));
  expect(result).toEqual({
    outcome: ok(json('"mine"')),
    callId: 'c1',
    content: 'mine',
    metadata: json('{}'),
  });
  // A hook does not check its own answer; the others do.
  expect(heard).toEqual(['a before_execution', 'a started', 'b after_execution', 'a finished']);
  expect(at('started')?.event).toEqual({ hook: 'tool', phase: 'started', request });
  expect(at('after_execution')?.event).toMatchObject({
    request,
    response: { content: 'mine', error: '', latency_ms: 0 },
  });
});

test('native filters see a foreign hook’s answer, and start hooks receive no such call', async () => {
  const { tool, hooks, filter, heard } = openCalls();
  const links = [
    filter('n', answers.deny('no'), { phases: ['after_execution'] }),
    hooks('a', { before_execution: respond('mine') }),
  ];
  expect((await call(tool('w', done, { links }))).outcome).toMatchObject({ status: 'denied', hook: 'n' });
  expect(heard).toEqual(['a before_execution', 'n']);
});

test.each([
  { title: 'a text', answer: respond('no', { isError: true }), text: 'no' },
  { title: 'an object', answer: respond({ a: 1 }, { isError: true }), text: '{"a":1}' },
])('$title in a hook’s answer may be that of a failed tool', async ({ answer, text }) => {
  const { tool, hooks, at } = openCalls();
  const plan = { before_execution: answer, finished: 'told' } as const;
  const { outcome, content } = await call(tool('w', done, { links: [hooks('a', plan)] }));
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'TOOL_ERROR', message: text } });
  expect(content).toBe(`Tool "w" failed: ${text}`);
  expect(at('finished')?.event).toMatchObject({ status: 'failed' });
});

test('a hook’s answer is a result, even if no tool of that name is declared', async () => {
  const { tool, hooks, at } = openCalls();
  const links = [
    hooks('a', { before_execution: respond({ a: 1 }) }),
    hooks('b', { after_execution: 'told' }),
  ];
  const result = await call(tool('w', done, { links, isUnknown: true, port: undefined }));
  expect(result).toMatchObject({ outcome: ok(json('{"a":1}')), content: '{"a":1}' });
  expect(at('after_execution')?.event).not.toHaveProperty('request.isUnknown', true);
});

test('a text for the caller goes with the answer, unless the answer is withheld', async () => {
  const { tool, hooks } = openCalls();
  const answering = (b: Parameters<typeof hooks>[1]) =>
    call(
      tool('w', done, {
        links: [hooks('a', { before_execution: respond('mine', { handled: 'told' }) }), hooks('b', b)],
      }),
    );
  expect((await answering({})).handled).toBe('told');
  expect(await answering({ after_execution: answers.deny('no') })).not.toHaveProperty('handled');
  expect(
    await call(tool('w', done, { links: [hooks('a', { before_execution: respond('mine') })] })),
  ).not.toHaveProperty('handled');
});

const denying = answers.deny('no', { context: ['why', 'so'], metadata: json('{"x":1}') });

test('hooks may replace a denied call’s text for the model', async () => {
  const { tool, hooks, heard, asked, at } = openCalls();
  const blocked = answers.modify({ content: 'another text' });
  const plan = { before_execution: denying, blocked, finished: 'told', returned: 'told' } as const;
  const signal = new AbortController().signal;
  const hookContext = createHookContext('s1');
  const result = await call(tool('w', done, { links: [hooks('a', plan)] }), { signal, hookContext });
  const text = 'Tool "w" was blocked by hook "a": no\nwhy\nso';
  const outcome = { status: 'denied', hook: 'a', reason: 'no' };
  expect(result).toEqual({ outcome, callId: 'c1', content: 'another text', metadata: json('{"x":1}') });
  expect(heard).toEqual(['a before_execution', 'a blocked', 'a finished', 'a returned']);
  const response = { name: 'w', call_id: 'c1', content: text, error: text, latency_ms: 0 };
  expect(at('blocked')).toEqual({
    event: { hook: 'tool', phase: 'blocked', request, response, reason: 'no', stage: 'before_execution' },
    ...{ call: 'c1', signal, context: expect.objectContaining({ session_id: 's1' }) },
  });
  expect(asked.slice(-2).map(({ event }) => event)).toEqual(
    ['finished', 'returned'].map((phase) => ({
      ...{ hook: 'tool', phase, request, asked: json('{"n":1}'), status: 'denied', isFlow: false },
      response: { ...response, content: 'another text' },
      denial: { reason: 'no', stage: 'before_execution' },
    })),
  );
});

test('without a hook for denied calls, the model reads who denied it and why', async () => {
  const { tool, filter, heard } = openCalls();
  const links = [filter('f', answers.deny('no'), { phases: ['before_execution'] })];
  const { content, outcome } = await call(tool('w', done, { links }));
  expect(content).toBe('Tool "w" was blocked by hook "f": no');
  expect(outcome).toEqual({ status: 'denied', hook: 'f', reason: 'no' });
  expect(heard).toEqual(['f']);
});

test('a denial that no hook replaces is unchanged', async () => {
  const { tool, hooks } = openCalls();
  const links = [hooks('a', { before_execution: answers.deny('no'), blocked: 'told' })];
  expect((await call(tool('w', done, { links }))).content).toBe('Tool "w" was blocked by hook "a": no');
});

test('a cancelled hook has not denied: no denial is reported', async () => {
  const { tool, hooks, heard } = openCalls();
  const error = toFault(new RuntimeError('RUNTIME_CLOSED', 'gone'));
  const links = [
    hooks('a', { before_execution: answers.deny('gone', { error }), blocked: 'told', finished: 'told' }),
  ];
  const { outcome } = await call(tool('w', done, { links }));
  expect(outcome).toMatchObject({ status: 'denied', error: { code: 'RUNTIME_CLOSED' } });
  expect(heard).toEqual(['a before_execution']);
});

test('a prepared call that was stopped does not run when it is finished', async () => {
  const { tool, hooks, ran } = openCalls();
  const links = [hooks('a', { before_execution: answers.deny('no') })];
  const approval = compileApproval('w', {});
  const denied = await prepareCall(tool('w', done, { links, approval }), '{}');
  expect(denied.stopped?.outcome).toMatchObject({ status: 'denied' });
  expect(await denied.finish()).toBe(denied.stopped);
  const waits = await prepareCall(tool('w', done, { approval }), '{}');
  expect(waits.stopped?.outcome).toMatchObject({ status: 'pending', origin: 'approval' });
  expect(await waits.finish()).toBe(waits.stopped);
  const misfit = await prepareCall(tool('w', done, { approval }), '[]', { callId: 'c1' });
  expect(misfit.stopped).toMatchObject({
    callId: 'c1',
    outcome: { status: 'failed', error: { code: 'ARGS_INVALID' } },
  });
  expect((await prepareCall(tool('w', done), '{}')).stopped).toBeUndefined();
  expect(ran).toEqual([]);
});

test('a call with refused arguments has its own result, and each call an id', async () => {
  const { tool, ran } = openCalls();
  const refused = await callTool(tool('w', done, { approval: compileApproval('w', {}) }), '[]');
  expect(refused).toMatchObject({
    outcome: { status: 'failed', error: { code: 'ARGS_INVALID' } },
    metadata: json('{}'),
  });
  const ids = [refused.callId, (await callTool(tool('w', done), '{}')).callId];
  expect(new Set(ids).size).toBe(2);
  expect(ran).toHaveLength(1);
  expect(ran[0]?.call.callId).toBe(ids[1]);
});

test('the host-only list of arguments is accepted from a host', async () => {
  const { tool } = openCalls();
  const direct = tool('w', done, { isDirect: () => true });
  expect((await callTool(direct, '{"args":[]}')).outcome).toMatchObject({ status: 'failed' });
  expect((await callTool(direct, '{"args":[]}', { isByHost: true })).outcome).toEqual(done);
});
