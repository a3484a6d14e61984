import { expect, test } from 'vitest';
import { toFault, withCatalogueText } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import { decisionOf, HookChain } from '../../../src/calls/hooks/hook-chain.ts';
import { type Answer, answers, type HookEvent } from '../../../src/contract/hook.ts';
import { beforeExecution } from './played.ts';

const [a, b] = [
  { hook: 'a', dialect: 'one' },
  { hook: 'b', dialect: 'two' },
];
const turn = {
  ...{ prompt: '', system_prompt: '', messages: [], tools: [], provider_id: '', model: '', options: {} },
};
const stop: HookEvent = { hook: 'turn', phase: 'stop', turn, response: 'r', end: 'final_response' };
const afterCall = readEvent({
  ...{ hook: 'provider', phase: 'after_call', request: { messages: [], system_prompt: '' } },
  response: { message: { content: 'secret' } },
});

const plain = {
  ...{ verdict: 'allow', hook: null, dialect: null, reason: '', enforced: false },
  ...{ replace: null, result: null, context: [], abort: null, metadata: new Json('{}') },
};

test('an unchanged and unstopped chain allows, without an answer or a forced turn', () => {
  const chain = new HookChain(beforeExecution);
  chain.takeAnswer(a, answers.allow(), undefined);
  expect(chain.decide()).toEqual(plain);
  expect(chain).toMatchObject({ event: beforeExecution, isStopped: false, forcedBy: [] });
  expect(chain.respond).toBeUndefined();
});

test('an explicit approval names its hook, and a change names the changing one', () => {
  const chain = new HookChain(beforeExecution);
  chain.takeAnswer(b, answers.allow({ reason: 'first', context: ['x'] }), undefined);
  chain.takeAnswer({ ...a, isApproval: true }, answers.allow(), undefined);
  chain.takeAnswer({ ...b, isApproval: false }, answers.allow({ context: ['y', 'z'] }), undefined);
  const approved = { ...plain, ...a, reason: 'first', context: ['x', 'y', 'z'] };
  expect(chain.decide()).toEqual(approved);
  chain.takeAnswer(b, answers.modify({ args: { city: 'Rome' } }, { reason: 'then' }), undefined);
  const replace = new Json('{"args":{"city":"Rome"}}');
  expect(chain.decide()).toEqual({ ...approved, ...b, verdict: 'modify', reason: 'then', replace });
});

test('the first that stops the chain decides, and the texts of all are kept', () => {
  const chain = new HookChain(beforeExecution);
  chain.takeAnswer(a, answers.allow({ context: ['x'], metadata: new Json('{"m":1}') }), undefined);
  chain.stop(b, answers.deny('no', { context: ['y'] }));
  chain.stop(a, answers.deny('later', { context: ['z'] }));
  expect(chain.isStopped).toBe(true);
  expect(chain.decide()).toEqual({ ...plain, ...b, verdict: 'deny', reason: 'no', context: ['x', 'y', 'z'] });
});

test('a change of nothing is a change without members', () => {
  const chain = new HookChain(beforeExecution);
  chain.takeAnswer(a, answers.modify({}), undefined);
  expect(chain.decide()).toEqual({ ...plain, ...a, verdict: 'modify', replace: new Json('{}') });
});

test('a change that the check refuses is ignored', () => {
  const chain = new HookChain(beforeExecution);
  const change = () => chain.takeAnswer(a, answers.modify({ args: { city: 1 } }), () => 'too odd');
  expect(change).toThrow(expect.objectContaining({ code: 'REPLY_MALFORMED', message: 'too odd' }));
  expect(chain.event).toBe(beforeExecution);
  expect(chain.decide()).toEqual(plain);
  const twice = () =>
    chain.takeAnswer(a, answers.modify(new Json('{"args":{"x":1,"x":2}}')), () => undefined);
  expect(twice).toThrow(expect.objectContaining({ code: 'REPLY_MALFORMED' }));
});

test('a model continues with the texts of all hooks that force it, as paragraphs', () => {
  const chain = new HookChain(stop);
  chain.takeAnswer(a, answers.modify({ follow_up: 'go on' }), undefined);
  expect(chain.decide().replace?.value).toEqual({ follow_up: 'go on' });
  chain.takeAnswer(b, answers.modify({ follow_up: 'and on', other: 1 }), undefined);
  expect(chain.forcedBy).toEqual([a, b]);
  expect(chain.decide().replace?.value).toEqual({ follow_up: 'go on\n\nand on', other: 1 });
});

test('elsewhere a follow_up is an ordinary member, and no turn is forced', () => {
  const chain = new HookChain(beforeExecution);
  chain.takeAnswer(a, answers.modify({ follow_up: 'go on' }), undefined);
  chain.takeAnswer(b, answers.modify({ follow_up: 'and on' }), undefined);
  expect(chain.forcedBy).toEqual([]);
  expect(chain.decide().replace?.value).toEqual({ follow_up: 'and on' });
});

test('only an answer in place of the work is one', () => {
  const chain = new HookChain(beforeExecution);
  const respond = answers.respond('done');
  chain.stop(a, respond);
  expect(chain.respond).toBe(respond);
  expect(chain.decide()).toEqual({ ...plain, ...a, verdict: 'respond', result: new Json('"done"') });
  const denied = new HookChain(beforeExecution);
  denied.stop(a, answers.deny('no'));
  expect(denied.respond).toBeUndefined();
});

test('a person is asked about the event with the changes so far', () => {
  const chain = new HookChain(beforeExecution);
  chain.takeAnswer(a, answers.modify({ args: { city: 'Rome' } }), undefined);
  chain.stop(b, answers.ask('may it?', { replace: new Json('{"args":{"city":"Oslo"}}') }));
  const replace = new Json('{"args":{"city":"Rome"}}');
  expect(chain.decide()).toEqual({ ...plain, ...b, verdict: 'ask', reason: 'may it?', replace });
  const unchanged = new HookChain(beforeExecution);
  unchanged.takeAnswer(a, answers.modify({ args: { city: 'Rome' } }), undefined);
  unchanged.stop(b, answers.ask('may it?'));
  expect(unchanged.decide().replace).toBeNull();
});

test.each([
  [afterCall, true, new Json('"kept back"')],
  [afterCall, false, null],
  [beforeExecution, true, null],
] as const)('a denial has a replacement if it is enforced and of a model: %#', (event, enforced, result) => {
  const chain = new HookChain(event);
  const metadata = new Json('{"replacement":"kept back"}');
  chain.stop(a, { verdict: 'deny', reason: 'no', enforced, metadata });
  expect(chain.decide()).toMatchObject({ verdict: 'deny', enforced: result !== null, result });
  const aborted = new HookChain(event);
  aborted.stop(a, answers.abort('no', 'turn', { metadata }));
  expect(aborted.decide()).toMatchObject({ verdict: 'abort', enforced: false, result: null });
});

test('earlier open failures are reported with the metadata of the stopping hook', () => {
  const failedOpen = (hook: string) => Json.from({ failed_open: { hook, cause: 'timeout' }, lost: 1 });
  const chain = new HookChain(beforeExecution);
  chain.takeAnswer(a, answers.allow({ metadata: Json.from({ lost: 2 }) }), undefined);
  chain.takeAnswer(a, answers.allow({ metadata: failedOpen('a') }), undefined);
  chain.stop(b, answers.deny('no', { metadata: Json.from({ kept: 3 }) }));
  expect(chain.decide().metadata.value).toEqual({ kept: 3, failed_open: { hook: 'a', cause: 'timeout' } });
});

test('the texts and metadata of an approved question are kept', () => {
  const chain = new HookChain(beforeExecution);
  chain.takeApproved(answers.ask('may it?', { context: ['x'], metadata: new Json('{"m":1}') }));
  chain.takeApproved(answers.ask('may it?'));
  expect(chain.decide()).toEqual({ ...plain, context: ['x'], metadata: new Json('{"m":1}') });
});

const error = toFault(new Error('it broke'));
const withheld = { reason: 'the hook failed: Signalbox itself failed.', error: withCatalogueText(error) };
const replace = new Json('{"args":{}}');
const beside = { context: ['x'], metadata: new Json('{"m":1}') };

test.each<[Answer, object]>([
  [answers.allow({ reason: 'r' }), { verdict: 'allow' }],
  [answers.modify(replace, { reason: 'r', ...beside }), { verdict: 'modify', replace, ...beside }],
  [answers.deny('r', { error, ...beside }), { verdict: 'deny', ...withheld, ...beside }],
  [answers.deny('r'), { verdict: 'deny' }],
  [answers.ask('r', { replace }), { verdict: 'ask', replace }],
  [answers.ask('r'), { verdict: 'ask' }],
  [answers.respond(1, { reason: 'r' }), { verdict: 'respond', result: new Json('1') }],
  [answers.abort('r', 'session', { error }), { verdict: 'abort', abort: 'session', ...withheld }],
  [answers.abort('r', 'turn'), { verdict: 'abort', abort: 'turn' }],
])('one answer as a decision: %#', (answer, members) => {
  expect(decisionOf(a, answer)).toStrictEqual({ ...plain, ...a, reason: 'r', ...members });
});
