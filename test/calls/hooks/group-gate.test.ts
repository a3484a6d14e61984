import { expect, test } from 'vitest';
import { RuntimeError, toFault } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { type GateOptions, passGate } from '../../../src/calls/hooks/gate.ts';
import type { Group, HookCall } from '../../../src/calls/hooks/group.ts';
import { decisionOf } from '../../../src/calls/hooks/hook-chain.ts';
import { type Answer, answers, type HookEvent } from '../../../src/contract/hook.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import type { ForeignDialect } from '../../../src/dialects/foreign-dialect.ts';
import { beforeExecution } from './played.ts';
import { openPlayedGroup, point } from './played-group.ts';

const allow = answers.allow();
const watching = { ...point, isFilter: false };

/** A group with these answers at its points. null: no hook is responsible. */
function openGroup(
  name: string,
  plan: Readonly<Record<string, Answer | null | 'told' | Error>>,
  more: Partial<ForeignDialect> = {},
) {
  const points = Object.fromEntries(
    Object.entries(plan).map(([at, does]) => [at, does === 'told' ? watching : point]),
  );
  const { dialect } = openPlayedGroup(points, { name, ...more });
  const calls: HookCall[] = [];
  const group: Group = {
    ...{
      dialect,
      members: [],
      pointsAt: dialect.pointsAt,
      takeLateContext: () => [],
      warn: () => {},
      close: async () => {},
    },
    restrict: () => group,
    ask: async (call) => {
      calls.push(call);
      const does = plan[call.point];
      if (does instanceof Error) throw does;
      if (does === null || does === undefined || does === 'told') return { hook: null, answer: allow };
      return { hook: `${name}'s`, answer: does };
    },
    notify: async (call) => void calls.push(call),
  };
  return { group, calls };
}

const pass = (links: readonly { readonly group: Group }[], more: Partial<GateOptions> = {}) =>
  passGate(links, beforeExecution, { call: 'c1', ...more });

test('a group receives the event’s payload, in the context of its call', async () => {
  const describe: ForeignDialect['describe'] = (at, event, { session_id }) => ({
    at,
    phase: event.phase,
    session_id,
  });
  const a = openGroup('a', { P: allow, O: 'told' }, { describe });
  const { signal } = new AbortController();
  const [onHear, onAnswer] = [() => {}, () => {}];
  await pass([a], { signal, hookContext: createHookContext('s1'), onHear, onAnswer });
  const shared = { call: 'c1', kind: 'tool', phase: 'before_execution', signal, onHear, onAnswer };
  const hookContext = createHookContext('s1');
  expect(a.calls).toEqual(
    ['P', 'O'].map((at) => ({
      ...{ ...shared, point: at, hookContext, payload: { at, phase: 'before_execution', session_id: 's1' } },
    })),
  );
  await pass([a]);
  expect(a.calls[2]?.hookContext).toEqual(createHookContext('c1'));
});

test.each([
  { by: { a: 3, b: 5 }, forced: 3 },
  { by: { b: 5 }, forced: 7 },
  { by: undefined, forced: 7 },
])('a dialect counts the turns that its own hooks have forced: $forced', async ({ by, forced }) => {
  const a = openGroup('a', { P: allow });
  const hookContext = { ...createHookContext('s1'), forcedTurns: 7, forcedTurnsByDialect: by };
  await pass([a], { hookContext });
  expect(a.calls[0]?.hookContext.forcedTurns).toBe(forced);
});

test('points that the dialect does not have only inform', async () => {
  const a = openGroup('a', {}, { pointsAt: () => ['unknown'] });
  await pass([a]);
  expect(a.calls).toHaveLength(1);
  expect((await pass([a], { filtersOnly: true })).decision.verdict).toBe('allow');
  expect(a.calls).toHaveLength(1);
});

test.each([
  ['an error', new Error('broken'), 'INTERNAL'],
  ['a fault', new RuntimeError('REPLY_MALFORMED', 'broken'), 'REPLY_MALFORMED'],
])('hooks that cannot run, because of %s, deny in the name of their dialect', async (_, thrown, code) => {
  const { decision } = await pass([openGroup('a', { P: thrown })]);
  expect(decision).toMatchObject({ verdict: 'deny', hook: null, dialect: 'a', error: { code } });
});

test('a group’s allow or change in a person’s name is an approval, and without a name it is not', async () => {
  const said = await pass([openGroup('a', { P: answers.allow({ context: ['so'] }) })]);
  expect(said.decision).toMatchObject({ verdict: 'allow', hook: "a's", dialect: 'a', context: ['so'] });
  const nobody = await pass([openGroup('a', { P: null })]);
  expect(nobody.decision).toMatchObject({ verdict: 'allow', hook: null, dialect: null });
  const changed = await pass([openGroup('a', { P: answers.modify({ args: { city: 'Rome' } }) })]);
  expect(changed.decision).toMatchObject({ verdict: 'modify', hook: "a's" });
  expect(changed.event).toMatchObject({ request: { args: new Json('{"city":"Rome"}') } });
});

test('a group’s answer is converted to neutral form for the event', async () => {
  const seen: (readonly [HookEvent, string, unknown])[] = [];
  const toNeutralAnswer: ForeignDialect['toNeutralAnswer'] = (event, asked, answer) => {
    seen.push([event, asked.point, answer]);
    return answers.deny('translated');
  };
  const { decision } = await pass([openGroup('a', { P: allow }, { toNeutralAnswer })]);
  expect(decision).toMatchObject({ verdict: 'deny', hook: "a's", dialect: 'a', reason: 'translated' });
  expect(seen).toEqual([[beforeExecution, 'P', allow]]);
});

test.each([
  [
    'cannot be put into neutral form',
    {
      toNeutralAnswer: () => {
        throw new RuntimeError('REPLY_MALFORMED', 'no');
      },
    },
    {},
  ],
  ['does not fit the event', {}, { check: () => 'it does not fit' }],
])('an answer that %s is a denial of its hook', async (_, more, options) => {
  const { decision, event } = await pass(
    [openGroup('a', { P: answers.modify({ args: {} }) }, more)],
    options,
  );
  expect(decision).toMatchObject({
    verdict: 'deny',
    hook: "a's",
    dialect: 'a',
    error: { code: 'REPLY_MALFORMED' },
  });
  expect(decision).toMatchObject({
    hook: "a's",
    reason: 'the hook failed: The reply is not the one JSON object that the dialect requires.',
  });
  expect(event).toBe(beforeExecution);
});

test('an unnamed answer that does not fit is a denial of the dialect', async () => {
  const toNeutralAnswer = () => {
    throw new Error('no');
  };
  const { decision } = await pass([openGroup('dialect', { P: null }, { toNeutralAnswer })]);
  expect(decision).toMatchObject({
    verdict: 'deny',
    hook: null,
    dialect: 'dialect',
    reason: 'the hook failed: Signalbox itself failed.',
  });
});

test('a cancelled answer is no answer: the dialect does not read it', async () => {
  const error = toFault(new RuntimeError('ABORTED', 'gone'));
  const toNeutralAnswer = () => allow;
  const { decision } = await pass([
    openGroup('a', { P: answers.deny('gone', { error }) }, { toNeutralAnswer }),
  ]);
  expect(decision).toMatchObject({ verdict: 'deny', hook: "a's", dialect: 'a', error });
});

test('the first of two denials stays, and later points only inform', async () => {
  const a = openGroup('a', { P: answers.deny('first'), Q: answers.deny('second'), O: 'told' });
  const b = openGroup('b', { P: answers.abort('third', 'turn') });
  const { decision } = await pass([a, b]);
  expect(decision).toMatchObject({ verdict: 'deny', reason: 'first' });
  expect([a.calls.map((call) => call.point), b.calls]).toEqual([['P', 'O'], []]);
});

test('what one dialect allows another may still deny', async () => {
  const { decision } = await pass([openGroup('a', { P: allow }), openGroup('b', { P: answers.deny('no') })]);
  expect(decision).toMatchObject({ verdict: 'deny', hook: "b's", reason: 'no' });
});

test('a denial cannot be answered like a question', async () => {
  const onAsk = async () => decisionOf({ hook: 'desk', dialect: 'd' }, allow);
  const { decision } = await pass([openGroup('a', { P: answers.deny('no') })], {
    onAsk,
    isApproved: () => true,
  });
  expect(decision).toMatchObject({ verdict: 'deny', hook: "a's", reason: 'no' });
});

test('a question with other arguments shows those', async () => {
  const asked: HookEvent[] = [];
  const metadata = new Json('{"x":1}');
  const ask = answers.ask('sure?', { replace: new Json('{"args":{"city":"Rome"}}'), metadata });
  const replaced = { request: { args: new Json('{"city":"Rome"}') } };
  const onAsk: GateOptions['onAsk'] = async ({ event }) => {
    asked.push(event);
    return decisionOf({ hook: 'desk', dialect: 'd' }, allow);
  };
  const answered = await pass([openGroup('a', { P: ask })], { onAsk });
  expect(asked).toMatchObject([replaced]);
  expect(answered).toMatchObject({
    decision: { verdict: 'modify', hook: "a's", reason: 'sure?', metadata },
    event: replaced,
  });
  const open = await pass([openGroup('a', { P: ask })]);
  expect(open).toMatchObject({ decision: { verdict: 'ask', hook: "a's", reason: 'sure?' }, event: replaced });
  const misfit = await pass([openGroup('a', { P: ask })], { check: () => 'no' });
  expect(misfit.decision).toMatchObject({ verdict: 'deny', error: { code: 'REPLY_MALFORMED' } });
});

test('a question about the unchanged event changes nothing', async () => {
  const { decision, event } = await pass([openGroup('a', { P: answers.ask('sure?') })]);
  expect(decision).toMatchObject({ verdict: 'ask', hook: "a's", replace: null });
  expect(event).toBe(beforeExecution);
});
