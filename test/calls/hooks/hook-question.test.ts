import { expect, test } from 'vitest';
import { toFault, withCatalogueText } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { resolveQuestion } from '../../../src/calls/hooks/gate.ts';
import { decisionOf, HookChain } from '../../../src/calls/hooks/hook-chain.ts';
import type { GateOptions } from '../../../src/calls/hooks/links.ts';
import { type Answer, answers, type Decision } from '../../../src/contract/hook.ts';
import { beforeExecution } from './played.ts';

const by = { hook: 'guard', dialect: 'promptkit' };
const question = answers.ask('may it?', { context: ['asked'], metadata: new Json('{"q":1}') });
const desk = { hook: 'desk', dialect: 'other' };
const beside = { metadata: new Json('{"d":2}') };
const error = toFault(new Error('it broke'));
const withheld = {
  reason: `the hook failed: ${withCatalogueText(error).message}`,
  error: withCatalogueText(error),
};

async function resolve(
  options: Partial<GateOptions>,
  asking: typeof by | { hook: null; dialect: string } = by,
) {
  const chain = new HookChain(beforeExecution);
  await resolveQuestion(chain, { by: asking, answer: question }, { call: 'c', ...options });
  return chain;
}

async function decisionAfter(told: Decision, options: Partial<GateOptions> = {}) {
  return (await resolve({ onAsk: async () => told, ...options })).decide();
}

const asked = { verdict: 'ask', ...by, reason: 'may it?', context: ['asked'] };

test.each<[string, Decision | undefined]>([
  ['nobody is there', undefined],
  ['nobody decides', decisionOf({ hook: null, dialect: null }, answers.allow())],
  ['they ask, too', decisionOf(desk, answers.ask('who?'))],
  ['they answer for the work', decisionOf(desk, answers.respond('done'))],
  ['they change nothing', { ...decisionOf(desk, answers.modify({})), replace: null }],
])('the question stops the chain if %s', async (_, told) => {
  const decision = (await resolve(told === undefined ? {} : { onAsk: async () => told })).decide();
  expect(decision).toMatchObject(asked);
});

test('approvers receive who asks, why, and about what', async () => {
  const heard: unknown[] = [];
  const onAsk = async (given: unknown) => {
    heard.push(given);
    return decisionOf(desk, answers.deny('no'));
  };
  await resolve({ onAsk });
  await resolve({ onAsk }, { hook: null, dialect: 'x' });
  const told = { reason: 'may it?', event: beforeExecution };
  expect(heard).toEqual([
    { hook: 'guard', ...told },
    { hook: '', ...told },
  ]);
});

const passed = { context: ['asked'], metadata: new Json('{"q":1}') };

test('an approved question is not asked again', async () => {
  const isApproved = (hook: string, event: unknown) => hook === 'guard' && event === beforeExecution;
  const chain = await resolve({ isApproved, onAsk: () => Promise.reject(new Error('asked')) });
  expect(chain.decide()).toMatchObject({ verdict: 'allow', hook: null, ...passed });
  expect((await resolve({ isApproved }, { hook: null, dialect: 'x' })).isStopped).toBe(true);
});

test('an answer that allows passes in the name of the person', async () => {
  const told = decisionOf(desk, answers.allow({ reason: 'fine', ...beside }));
  expect(await decisionAfter(told)).toMatchObject({
    ...{ verdict: 'allow', ...desk, reason: 'fine', context: ['asked'] },
    metadata: { value: { q: 1, d: 2 } },
  });
  expect(await decisionAfter({ ...told, dialect: null })).toMatchObject({ hook: 'desk', dialect: '' });
});

test('an answer that changes the event is checked like any change', async () => {
  const replace = new Json('{"args":{"city":"Rome"}}');
  const told = decisionOf(desk, answers.modify(replace, { reason: 'rather so', ...beside }));
  expect(await decisionAfter(told)).toMatchObject({
    ...{ verdict: 'modify', ...desk, reason: 'rather so', replace },
    metadata: { value: { q: 1, d: 2 } },
  });
  await expect(decisionAfter(told, { check: () => 'too odd' })).rejects.toMatchObject({
    code: 'REPLY_MALFORMED',
  });
});

test.each<[Answer, object]>([
  [answers.deny('no', { error, ...beside }), { verdict: 'deny', ...withheld, ...beside, abort: null }],
  [answers.abort('no', 'session', beside), { verdict: 'abort', abort: 'session', ...beside }],
  [answers.abort('no', 'turn', { error }), { verdict: 'abort', abort: 'turn', ...withheld }],
])('an answer that refuses stops the chain: %#', async (answer, members) => {
  const decision = await decisionAfter(decisionOf(desk, answer));
  expect(decision).toMatchObject({ ...desk, reason: 'no', ...members });
  const unscoped = { ...decisionOf(desk, answer), abort: null };
  expect((await decisionAfter(unscoped)).abort).toBe(answer.verdict === 'abort' ? 'turn' : null);
});

test('a refusal without an error has none', async () => {
  expect(await decisionAfter(decisionOf(desk, answers.deny('no')))).not.toHaveProperty('error');
});
