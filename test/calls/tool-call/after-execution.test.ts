import { expect, test } from 'vitest';
import { RuntimeError, toFault } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { compileSchema } from '../../../src/base/yaml/schema-check.ts';
import { callTool, prepareCall } from '../../../src/calls/tool-call/call.ts';
import type { CallableTool, CallContext } from '../../../src/calls/tool-call/callable-tool.ts';
import { answers, type HookEvent } from '../../../src/contract/hook.ts';
import { failed, ok, pending } from '../../../src/contract/tool.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import { openCalls } from './played-calls.ts';

const json = (text: string) => new Json(text);
const done = ok(json('"done"'));
const broken = failed({
  ...{ code: 'PROCESS_EXIT', message: 'secret: exit 3', hint: 'look' },
  details: {
    stderr: 'secret',
    exit_code: 3,
    signal: 'SIGTERM',
    timed_out: false,
    nothing: null,
    list: ['secret'],
  },
});
const call = (tool: CallableTool, context: CallContext = {}) =>
  callTool(tool, '{"n":1}', { callId: 'c1', ...context });
const request = { name: 'w', args: json('{"n":1}'), call_id: 'c1' };
const content = (text: string) => answers.modify({ content: text });

test('hooks receive a call while it runs and when it is over, once each, in order', async () => {
  const { tool, hooks, heard, asked } = openCalls();
  const plan = {
    started: 'told',
    after_execution: answers.allow(),
    finished: 'told',
    returned: 'told',
  } as const;
  const signal = new AbortController().signal;
  const hookContext = createHookContext('s1');
  await call(tool('w', done, { links: [hooks('a', plan)] }), { signal, hookContext });
  expect(heard).toEqual(['a started', 'w runs', 'a after_execution', 'a finished', 'a returned']);
  const response = {
    name: 'w',
    call_id: 'c1',
    content: 'done',
    error: '',
    latency_ms: expect.any(Number),
    result: json('"done"'),
  };
  const end = { hook: 'tool', request, asked: json('{"n":1}'), response, status: 'ok', isFlow: false };
  expect(asked.map(({ event }) => event)).toEqual([
    { hook: 'tool', phase: 'started', request },
    { hook: 'tool', phase: 'after_execution', request, response },
    { ...end, phase: 'finished', denial: undefined },
    { ...end, phase: 'returned', denial: undefined },
  ]);
  expect(asked.map(({ call, signal, context }) => [call, signal, context.session_id])).toEqual(
    Array(4).fill(['c1', signal, 's1']),
  );
});

test.each(['started', 'after_execution', 'finished', 'returned'] as const)(
  'a hook of %s alone receives it',
  async (phase) => {
    const { tool, hooks, filter, heard } = openCalls();
    const links = [hooks('a', { [phase]: phase === 'after_execution' ? answers.allow() : 'told' })];
    expect((await call(tool('w', done, { links }))).outcome).toEqual(done);
    expect(heard.splice(0).filter((each) => each !== 'w runs')).toEqual([`a ${phase}`]);
    // A native filter ignores phases other than its own.
    const native = [filter('f', answers.allow(), { phases: ['after_execution'] })];
    await call(tool('w', done, { links: native }));
    expect(heard).toEqual(['w runs', 'f']);
  },
);

test('a tool runs with only its arguments, its approval, its key and the caller’s signal', async () => {
  const { tool, ran } = openCalls();
  const signal = new AbortController().signal;
  await call(tool('w', done), { signal, idempotencyKey: 'k' });
  expect(ran).toEqual([{ call: { name: 'w', callId: 'c1', args: json('{"n":1}') }, signal }]);
  expect(ran[0]?.call).not.toHaveProperty('idempotencyKey');
  await call(tool('w', done, { idempotent: true }), { idempotencyKey: 'k' });
  await call(tool('w', done, { idempotent: true }));
  await call(tool('w', done, { idempotent: false }));
  expect(ran.map(({ call }) => call.idempotencyKey)).toEqual([undefined, 'k', 'c1', undefined]);
});

test('hooks receive the duration of the tool', async () => {
  const { tool, hooks, at } = openCalls();
  const slow = () => {
    const end = performance.now() + 4;
    while (performance.now() < end);
    return done;
  };
  await call(tool('w', slow, { links: [hooks('a', { after_execution: 'told' })] }));
  expect(at('after_execution')?.event).not.toMatchObject({ response: { latency_ms: 0 } });
});

test('a waiting call has no result yet, and its end is not reported', async () => {
  const { tool, hooks, heard } = openCalls();
  const metadata = json('{"x":1}');
  const plan = {
    before_execution: answers.allow({ metadata }),
    after_execution: answers.deny('no'),
    finished: 'told',
  } as const;
  const members = json('{"status":"pending"}');
  const waited = tool('w', pending('limit', 'Pay?', members), { links: [hooks('a', plan)] });
  const waitForResults = async () => void heard.push('waited');
  expect(await call(waited, { waitForResults })).toEqual({
    outcome: {
      ...{ status: 'pending', origin: 'tool', hook: null, reason: 'limit', message: 'Pay?', members },
      ...{ args: json('{"n":1}'), expiresMs: null },
    },
    ...{ callId: 'c1', content: 'Pay?', metadata },
  });
  expect(heard).toEqual(['a before_execution', 'w runs']);
});

test('a result waits for earlier calls before its filters, not before it runs', async () => {
  const { tool, hooks, heard } = openCalls();
  const waitForResults = async () => void heard.push('waited');
  await call(tool('w', done, { links: [hooks('a', { after_execution: answers.allow() })] }), {
    waitForResults,
  });
  expect(heard.splice(0)).toEqual(['w runs', 'waited', 'a after_execution']);
  await call(tool('w', done), { waitForResults });
  expect(heard).toEqual(['w runs', 'waited']);
});

test('flow control and what has nothing to run start no process', async () => {
  const { tool, hooks, heard, at } = openCalls();
  const links = [hooks('a', { finished: 'told' })];
  const flow = { endsTurn: true, answer: ({ text }: Json) => `on ${text}` };
  expect((await call(tool('w', done, { flow, links }))).outcome).toEqual(ok(json('"on {\\"n\\":1}"')));
  expect(at('finished')?.event).toMatchObject({ isFlow: true, status: 'ok' });
  const idle = await call(tool('w', done, { port: undefined, links }));
  expect(idle.outcome).toMatchObject({ status: 'failed', error: { code: 'TOOL_NOT_RUNNABLE' } });
  expect(at('finished')?.event).toMatchObject({ isFlow: false, status: 'failed' });
  const lost = await call(tool('w', done, { port: undefined, isUnknown: true }));
  expect(lost.outcome).toMatchObject({ status: 'failed', error: { code: 'NAME_UNKNOWN' } });
  expect(heard).not.toContain('w runs');
});

test('a result that misses the output schema is a failure before any filter sees it, and a failure has no result to check', async () => {
  const { tool, hooks, at } = openCalls();
  const checkResult = compileSchema({ type: 'number' });
  const links = [hooks('a', { after_execution: answers.allow() })];
  const { outcome } = await call(tool('w', done, { checkResult, links }));
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'RESULT_INVALID' } });
  const { event } = at('after_execution') ?? {};
  expect(event).toMatchObject({ response: { error: expect.stringContaining('output_schema') } });
  expect(event).not.toHaveProperty('response.result');
  expect((await call(tool('w', broken, { checkResult }))).outcome).toEqual(broken);
});

test('model and caller get the text as a filter changed it', async () => {
  const { tool, hooks, at } = openCalls();
  const making = (outcome: Parameters<typeof tool>[1], text: string) =>
    call(tool('w', outcome, { links: [hooks('a', { after_execution: content(text), finished: 'told' })] }));
  expect(await making(done, 'masked')).toMatchObject({ outcome: ok(json('"masked"')), content: 'masked' });
  expect(at('finished')?.event).toMatchObject({ response: { content: 'masked' } });
  expect((await making(ok(json('{"a":1}')), '{"a":2}')).outcome).toEqual(ok(json('{"a":2}')));
  const failure = await making(broken, 'masked');
  expect(failure.outcome).toEqual(failed({ code: 'PROCESS_EXIT', message: 'masked', hint: 'look' }));
  expect(failure.content).toBe('masked');
});

test('texts and metadata of the filters after a call follow those before it', async () => {
  const { tool, hooks } = openCalls();
  const saying = (name: string) => answers.allow({ metadata: json(`{"${name}":1}`), context: [name] });
  const links = [hooks('a', { before_execution: saying('b'), after_execution: saying('a') })];
  expect(await call(tool('w', done, { links }))).toMatchObject({
    ...{ outcome: done, content: 'done\nb\na', context: ['b', 'a'], metadata: json('{"b":1,"a":1}') },
  });
  const silent = await call(tool('w', done, { links: [hooks('a', { after_execution: answers.allow() })] }));
  expect(silent).toEqual({ outcome: done, callId: 'c1', content: 'done', metadata: json('{}') });
});

test('a result that a filter withholds is a denied call, and its end is reported as such', async () => {
  const { tool, hooks, at } = openCalls();
  const plan = {
    after_execution: answers.deny('secret', { metadata: json('{"x":1}') }),
    finished: 'told',
    blocked: 'told',
  } as const;
  const result = await call(tool('w', done, { links: [hooks('a', plan)] }));
  expect(result).toMatchObject({
    callId: 'c1',
    outcome: { status: 'denied', hook: 'a', reason: 'secret' },
    metadata: json('{"x":1}'),
  });
  expect(at('finished')?.event).toMatchObject({
    ...{ status: 'denied', denial: { reason: 'secret', stage: 'after_execution' } },
    response: { content: result.content },
  });
  expect(at('blocked')).toBeUndefined();
});

test('a filter that fails withholds the result, and its own output, which may quote it', async () => {
  const { tool, hooks } = openCalls();
  const error = toFault(new RuntimeError('REPLY_MALFORMED', 'quotes done'));
  const links = [hooks('a', { after_execution: answers.deny('quotes done', { error }) })];
  const { outcome, content } = await call(tool('w', done, { links }));
  expect(outcome).toMatchObject({ status: 'denied', hook: 'a', error: { code: 'REPLY_MALFORMED' } });
  expect(JSON.stringify([outcome, content])).not.toContain('quotes');
  expect(outcome).toMatchObject({ reason: expect.stringMatching(/^the hook failed: ./) });
});

test('a cancelled filter has not answered, and the end of the call is not reported', async () => {
  const { tool, hooks, heard } = openCalls();
  const error = toFault(new RuntimeError('ABORTED', 'gone'));
  const plan = {
    after_execution: answers.deny('gone', { error }),
    finished: 'told',
    returned: 'told',
  } as const;
  const { outcome } = await call(tool('w', done, { links: [hooks('a', plan)] }));
  expect(outcome).toMatchObject({ status: 'denied', error: { code: 'ABORTED' } });
  expect(heard).toEqual(['w runs', 'a after_execution']);
});

const kept = { exit_code: 3, signal: 'SIGTERM', timed_out: false, nothing: null };

test('output of a failed tool is hidden from events and from callers that a filter answered', async () => {
  const { tool, filter, hooks, events } = openCalls();
  const told = () => events.findLast(({ type }) => type === 'call.finished');
  const { error } = broken;
  await call(tool('w', broken));
  expect(told()).toMatchObject({ status: 'failed', error });
  const { outcome } = await call(tool('w', broken, { links: [filter('f', answers.allow())] }));
  expect(outcome).toEqual(failed({ ...error, details: kept }));
  expect(told()).toMatchObject({ error: { code: 'PROCESS_EXIT' } });
  expect(JSON.stringify(told())).not.toContain('secret');
  // Hooks that only observe the end, and groups without hooks, get no question.
  const deaf = [hooks('a', { after_execution: 'told', finished: 'told' })];
  expect((await call(tool('w', broken, { links: deaf }))).outcome).toEqual(broken);
  expect(told()).toMatchObject({ error });
  const silent = [hooks('a', { after_execution: () => null })];
  expect((await call(tool('w', broken, { links: silent }))).outcome).toEqual(broken);
});

test('the event of a failure that a filter will judge shows what the filter will see', async () => {
  const { tool, hooks, events } = openCalls();
  const seen: HookEvent[] = [];
  const pointsAt = (event: HookEvent) => {
    seen.push(event);
    return event.phase === 'after_execution' ? ['after_execution'] : [];
  };
  const links = [hooks('a', { after_execution: answers.allow() }, { pointsAt })];
  await call(tool('w', broken, { links }));
  expect(seen).toContainEqual({
    ...{ hook: 'tool', phase: 'after_execution', request },
    response: { name: 'w', call_id: 'c1', content: 'secret: exit 3', error: 'secret: exit 3', latency_ms: 0 },
  });
  expect(JSON.stringify(events.findLast(({ type }) => type === 'call.finished'))).not.toContain('secret');
});

test('the return of a call may be reported later, with its complete response', async () => {
  const { tool, hooks, heard } = openCalls();
  const later: (() => Promise<void>)[] = [];
  const links = [hooks('a', { finished: 'told', returned: 'told' })];
  await call(tool('w', done, { links }), { deferNotification: (notify) => void later.push(notify) });
  expect(heard.splice(0)).toEqual(['w runs', 'a finished']);
  for (const notify of later) await notify();
  expect(heard).toEqual(['a returned']);
});

test('a prepared call runs when it is finished', async () => {
  const { tool, hooks, heard } = openCalls();
  const plan = { before_execution: answers.allow(), after_execution: answers.allow() };
  const prepared = await prepareCall(tool('w', done, { links: [hooks('a', plan)] }), '{"n":1}');
  expect([prepared.stopped, heard.splice(0)]).toEqual([undefined, ['a before_execution']]);
  expect((await prepared.finish()).outcome).toEqual(done);
  expect(heard).toEqual(['w runs', 'a after_execution']);
});
