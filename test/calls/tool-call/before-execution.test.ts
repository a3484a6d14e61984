import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { compileSchema } from '../../../src/base/yaml/schema-check.ts';
import { compileApproval } from '../../../src/calls/tool-call/approvals.ts';
import {
  checkChangedArgs,
  findRequiredApproval,
  hasHooksBefore,
  passBeforeHooks,
  unknownTool,
} from '../../../src/calls/tool-call/before-execution.ts';
import { callTool } from '../../../src/calls/tool-call/call.ts';
import {
  type CallableTool,
  type CallContext,
  unfilteredCall,
} from '../../../src/calls/tool-call/callable-tool.ts';
import { answers, type HookEvent } from '../../../src/contract/hook.ts';
import { ok } from '../../../src/contract/tool.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import { openCalls } from './played-calls.ts';

const json = (text: string) => new Json(text);
const done = ok(json('"done"'));
const call = (tool: CallableTool, context: CallContext = {}) =>
  callTool(tool, '{"n":1}', { callId: 'c1', ...context });
const setting = (text: string, beside = {}) => answers.modify({ args: json(text) }, beside);
const renaming = (name: string, text = '{"n":1}') => answers.modify({ name, args: json(text) });
const small = compileSchema({ properties: { n: { maximum: 5 } } });

test('filters see the call as earlier ones left it, and the tool gets the result', async () => {
  const { tool, hooks, asked, ran } = openCalls();
  const links = [
    hooks('a', { before_execution: setting('{"n":2}', { metadata: json('{"a":1}'), context: ['from a'] }) }),
    hooks('b', { before_execution: answers.allow({ metadata: json('{"b":1}'), context: ['from b'] }) }),
  ];
  const more = { links, category: 'shell', aliases: ['Bash'] };
  const signal = new AbortController().signal;
  const hookContext = createHookContext('s1');
  const result = await call(tool('w', done, more), { signal, hookContext, toolUseId: 'use_1' });
  expect(result).toEqual({
    outcome: done,
    callId: 'c1',
    sent: json('{"n":2}'),
    content: 'done\nfrom a\nfrom b',
    metadata: json('{"a":1,"b":1}'),
    context: ['from a', 'from b'],
  });
  const request = { name: 'w', call_id: 'c1', tool_use_id: 'use_1', category: 'shell', aliases: ['Bash'] };
  expect(asked.map(({ event }) => event)).toEqual(
    ['{"n":1}', '{"n":2}'].map((text) => ({
      ...{ hook: 'tool', phase: 'before_execution' },
      request: { ...request, args: json(text) },
    })),
  );
  expect(asked.map(({ call, signal, context }) => [call, signal, context.session_id])).toEqual(
    Array(2).fill(['c1', signal, 's1']),
  );
  expect(ran.map(({ call }) => call.args.text)).toEqual(['{"n":2}']);
});

test('without changes by filters the call is unchanged', async () => {
  const { tool, hooks } = openCalls();
  const before = unfilteredCall(
    { tool: tool('w', done, { links: [hooks('a', { before_execution: answers.allow() })] }), callId: 'c1' },
    json('{}'),
  );
  expect(await passBeforeHooks(before)).toBe(before);
  const said = { ...before, metadata: json('{"x":1}'), context: ['c'] };
  expect(await passBeforeHooks(said)).toMatchObject({ metadata: json('{"x":1}'), context: ['c'] });
});

test('a filter’s members beside its allow are reported, with or without arguments', async () => {
  const { tool, hooks } = openCalls();
  const saying = (beside: Parameters<typeof answers.allow>[0]) =>
    call(tool('w', done, { links: [hooks('a', { before_execution: answers.allow(beside) })] }));
  expect((await saying({ metadata: json('{"x":1}') })).metadata.text).toBe('{"x":1}');
  expect((await saying({ context: ['note'] })).content).toBe('done\nnote');
});

test('arguments changed by a filter or an approver must fit the schema, or the call is denied', async () => {
  for (const phase of ['before_execution', 'approval'] as const) {
    const { tool, hooks, ran } = openCalls();
    const changing = (text: string) =>
      call(tool('w', done, { checkArgs: small, links: [hooks('a', { [phase]: setting(text) })] }));
    const { outcome } = await changing('{"n":6}');
    expect(outcome).toMatchObject({ status: 'denied', hook: 'a', error: { code: 'REPLY_MALFORMED' } });
    expect(ran).toEqual([]);
    expect((await changing('{"n":5}')).outcome).toEqual(done);
  }
});

test('a renamed call is judged as one of the other tool, by its hooks and its schema', async () => {
  const { tool, hooks, heard, ran, at } = openCalls();
  const other = tool('other', done, {
    checkArgs: small,
    links: [hooks('g', { before_execution: answers.allow() })],
  });
  const find = (name: string) => (name === 'other' ? other : undefined);
  const naming = (text?: string) =>
    call(
      tool('w', done, {
        checkArgs: () => ['nothing fits'],
        isDirect: () => true,
        links: [hooks('a', { before_execution: renaming('other', text) })],
      }),
      { find, isByHost: true },
    );
  expect(await naming()).toMatchObject({ outcome: done, callId: 'c1' });
  expect(heard.splice(0)).toEqual(['a before_execution', 'g before_execution', 'other runs']);
  expect(at('before_execution')?.event).toMatchObject({ request: { name: 'other' } });
  expect(ran.splice(0).map(({ call }) => call.name)).toEqual(['other']);
  const misfit = await naming('{"n":6}');
  expect(misfit.outcome).toMatchObject({ status: 'failed', error: { code: 'ARGS_INVALID' } });
  expect(misfit.content).toContain('"other"');
  expect([heard, ran]).toEqual([['a before_execution'], []]);
});

test('a call is renamed only once', async () => {
  const { tool, hooks, at, ran } = openCalls();
  const other = tool('other', done, {
    links: [hooks('g', { before_execution: renaming('third'), blocked: 'told' })],
  });
  const links = [hooks('a', { before_execution: renaming('other') })];
  const { outcome } = await call(tool('w', done, { links }), { find: () => other });
  expect(outcome).toMatchObject({ status: 'denied', hook: 'g', reason: expect.stringContaining('"third"') });
  expect(at('blocked')?.event).toMatchObject({ stage: 'before_execution', request: { name: 'other' } });
  expect(ran).toEqual([]);
});

test('a call renamed to an undeclared name finds no tool, unless a hook answers it', async () => {
  const { tool, hooks, at } = openCalls();
  const answering = (event: HookEvent) =>
    event.hook === 'tool' && event.request.isUnknown === true ? answers.respond('mine') : renaming('ghost');
  const plan = { before_execution: renaming('ghost'), after_execution: 'told' } as const;
  const lost = await call(tool('w', done, { links: [hooks('a', plan)] }));
  expect(lost.outcome).toMatchObject({ status: 'failed', error: { code: 'NAME_UNKNOWN' } });
  expect(at('after_execution')?.event).toMatchObject({ request: { name: 'ghost', isUnknown: true } });
  const found = await call(tool('w', done, { links: [hooks('a', { before_execution: answering })] }));
  expect(found.outcome).toEqual(ok(json('"mine"')));
});

test('an undeclared tool accepts any arguments', () => {
  const { hooks } = openCalls();
  const links = [hooks('a', {})];
  const { checkArgs, checkResult, ...rest } = unknownTool('ghost', { links });
  expect(rest).toEqual({ name: 'ghost', port: undefined, links, isUnknown: true });
  expect([checkArgs(1), checkResult(1)]).toEqual([[], []]);
});

test.each([
  ['{}', 'Hook "a" asks whether tool "w" may run.'],
  ['{"source":"s.json"}', 'Hook "a" (s.json) asks whether tool "w" may run.'],
  ['{"source":7}', 'Hook "a" asks whether tool "w" may run.'],
])('a person sees who asks, beside %s', async (text, message) => {
  const { tool, hooks } = openCalls();
  const metadata = json(text);
  const links = [hooks('a', { before_execution: answers.ask('sure?', { metadata }) })];
  const approval = compileApproval('w', { expiresMs: 500 });
  const result = await call(tool('w', done, { links, approval }));
  expect(result).toEqual({
    outcome: {
      ...{ status: 'pending', origin: 'hook', hook: 'a', reason: 'sure?', message, args: json('{"n":1}') },
      ...{ members: json('{}'), expiresMs: 500 },
    },
    ...{ callId: 'c1', content: message, metadata },
  });
});

test('a call that the config requires a person for waits with all members from the filters', async () => {
  const { tool, hooks } = openCalls();
  const metadata = json('{"x":1}');
  const links = [hooks('a', { before_execution: answers.allow({ metadata }) })];
  const approval = compileApproval('w', { when: '${args.n == 1}', message: 'Run it?' });
  const paid = tool('w', done, { links, approval });
  expect(await call(paid)).toEqual({
    outcome: {
      ...{ status: 'pending', origin: 'approval', hook: null, reason: 'the config requires approval' },
      ...{ message: 'Run it?', args: json('{"n":1}'), members: json('{}'), expiresMs: null },
    },
    ...{ callId: 'c1', content: 'Run it?', metadata },
  });
  const before = (text: string) => unfilteredCall({ tool: paid, callId: 'c1' }, json(text));
  expect(findRequiredApproval(before('{"n":2}'))).toBeUndefined();
  expect(
    findRequiredApproval(unfilteredCall({ tool: tool('v', done), callId: 'c' }, json('{}'))),
  ).toBeUndefined();
});

test('hooks receive calls before they run if they have a phase there', () => {
  const { tool, filter } = openCalls();
  const at = (...phases: ('before_execution' | 'after_execution')[]) =>
    hasHooksBefore(tool('w', done, { links: [filter('a', answers.allow(), { phases })] }));
  expect([at('before_execution'), at('after_execution')]).toEqual([true, false]);
  expect(hasHooksBefore(tool('w', done))).toBe(false);
});

const request = (args: unknown, name = 'w') => ({ name, args, call_id: 'c' });

test.each<[string, HookEvent, boolean]>([
  ['before', { hook: 'tool', phase: 'before_execution', request: request(json('{"n":6}')) }, true],
  ['at approval', { hook: 'tool', phase: 'approval', request: request(json('{"n":6}')), asked: null }, true],
  ['fit', { hook: 'tool', phase: 'before_execution', request: request(json('{"n":5}')) }, false],
  [
    'of another tool',
    { hook: 'tool', phase: 'before_execution', request: request(json('{"n":6}'), 'v') },
    false,
  ],
  ['that is started', { hook: 'tool', phase: 'started', request: request(json('{"n":6}')) }, false],
])('arguments %s are checked against the schema', (_, event, isMisfit) => {
  const { tool } = openCalls();
  const checkArgs = compileSchema({ required: ['n'], properties: { n: { maximum: 5 } } });
  const problem = checkChangedArgs(tool('w', done, { checkArgs }), event);
  expect(problem === undefined ? false : problem.includes('input_schema')).toBe(isMisfit);
  expect(checkChangedArgs(undefined, event)).toBeUndefined();
});

test('a decision has no arguments to check where they are no JSON text', () => {
  const { tool } = openCalls();
  const needsN = compileSchema({ required: ['n'] });
  const event: HookEvent = { hook: 'tool', phase: 'before_execution', request: request({ n: 1 }) };
  expect(checkChangedArgs(tool('w', done, { checkArgs: needsN }), event)).toContain('input_schema');
});

test.each([1, 2])('an unexpected fault after %i filters fails the call, and nothing runs', async (count) => {
  const { tool, filter, heard } = openCalls();
  const names = ['a', 'b'].slice(0, count);
  const links = names.map((name) => filter(name, answers.allow(), { phases: ['before_execution'] }));
  const broken = () => {
    throw new Error('a rule broke');
  };
  const approval = Object.assign(broken, { isConditional: true, expiresMs: null });
  const { outcome } = await call(tool('w', done, { links, approval }));
  expect(outcome).toMatchObject({ status: 'failed', error: { message: 'a rule broke' } });
  expect(heard).toEqual(names);
});
