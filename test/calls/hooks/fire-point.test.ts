import { expect, test } from 'vitest';
import { firePoint, type PointEvent } from '../../../src/calls/hooks/fire-point.ts';
import type { Group, HookCall } from '../../../src/calls/hooks/group.ts';
import { type Answer, answers } from '../../../src/contract/hook.ts';
import type { ForeignDialect, Point } from '../../../src/dialects/foreign-dialect.ts';
import { openPlayedGroup, point } from './played-group.ts';

const points: Readonly<Record<string, Point>> = { Ask: point, Tell: { ...point, isFilter: false } };

function openHost(plan: Readonly<Record<string, Answer | null>>, more: Partial<ForeignDialect> = {}) {
  const { dialect } = openPlayedGroup(points, more);
  const calls: (readonly [string, 'asked' | 'told', HookCall])[] = [];
  const groups = Object.entries(plan).map(([name, answer]): Group => {
    const own = name.startsWith('other') ? { ...dialect, name: 'other' } : dialect;
    const group: Group = {
      ...{
        dialect: own,
        members: [],
        pointsAt: own.pointsAt,
        takeLateContext: () => [],
        warn: () => {},
        close: async () => {},
      },
      restrict: () => group,
      ask: async (call) => {
        calls.push([name, 'asked', call]);
        return {
          hook: name === 'nobody' || answer === null ? null : name,
          answer: answer ?? answers.allow(),
        };
      },
      notify: async (call) => void calls.push([name, 'told', call]),
    };
    return group;
  });
  const { signal } = new AbortController();
  const onHear = () => {};
  const fire = (event: Partial<PointEvent>) =>
    firePoint(
      { dialect: 'played', point: 'Ask', payload: {}, ...event },
      {
        find: (name) => (name === 'played' ? dialect : undefined),
        ...{ dialects: ['played'], groups, call: 'c1', host: { channel: 'x' }, signal, onHear },
      },
    );
  return { fire, calls, signal, onHear };
}

const invalid = expect.objectContaining({ code: 'EVENT_INVALID' });
const allow = answers.allow();

test.each([
  { dialect: 'unknown', hint: 'Use one of played.' },
  { dialect: 'toString', hint: 'Use one of played.' },
  { point: 'Aks', hint: 'Did you mean Ask?' },
  { point: 'whatever', hint: 'Its points are Ask, Tell.' },
  { point: 'toString', hint: expect.any(String) },
  { payload: [] },
  { payload: 'text' },
  { payload: null },
])('%j is no event of this host', async ({ hint, ...event }) => {
  const { fire, calls } = openHost({ a: allow });
  await expect(fire(event)).rejects.toEqual(invalid);
  if (hint !== undefined) await expect(fire(event)).rejects.toMatchObject({ hint });
  expect(calls).toEqual([]);
});

test.each([
  { payload: undefined, given: {}, session: 'c1' },
  { payload: { n: 1 }, given: { n: 1 }, session: 'c1' },
  { payload: { session_id: 's9' }, given: { session_id: 's9' }, session: 's9' },
  { payload: { session_id: 9 }, given: { session_id: 9 }, session: 'c1' },
])('the payload $payload is completed in the session $session', async ({ payload, given, session }) => {
  const complete: ForeignDialect['complete'] = (at, own, { session_id, host, now }) => ({
    at,
    own,
    session_id,
    host,
    isNow: Date.parse(now) > 1e12,
  });
  const { fire, calls, signal, onHear } = openHost({ a: allow }, { complete });
  const completed = { own: given, session_id: session, host: { channel: 'x' }, isNow: true };
  for (const [at, how] of [
    ['Ask', 'asked'],
    ['Tell', 'told'],
  ] as const) {
    await fire({ point: at, ...(payload && { payload }) });
    const call = {
      point: at,
      payload: { at, ...completed },
      call: 'c1',
      kind: 'host',
      phase: at,
      signal,
      onHear,
    };
    expect(calls.splice(0)).toEqual([
      [
        'a',
        how,
        { ...call, hookContext: expect.objectContaining({ session_id: session, host: { channel: 'x' } }) },
      ],
    ]);
  }
});

test('only the hooks of that dialect run, and the deciding one is named', async () => {
  const { fire, calls } = openHost({
    other: answers.deny('no'),
    a: answers.deny('why', { context: ['so'] }),
  });
  expect(await fire({})).toMatchObject({
    verdict: 'deny',
    hook: 'a',
    dialect: 'played',
    reason: 'why',
    context: ['so'],
  });
  expect(calls.map(([name]) => name)).toEqual(['a']);
});

test('at points whose answers do not count, all hooks run, and the event passes', async () => {
  const { fire, calls } = openHost({ a: answers.deny('no'), b: allow, other: allow });
  expect(await fire({ point: 'Tell' })).toMatchObject({ verdict: 'allow', hook: null, dialect: 'played' });
  expect(calls.map(([name, how]) => `${name} ${how}`)).toEqual(['a told', 'b told']);
});

test('without hooks the event passes', async () => {
  const { fire } = openHost({ other: answers.deny('no') });
  expect(await fire({})).toMatchObject({ verdict: 'allow', hook: null, dialect: 'played' });
});

test('separate groups each see the last change, until one stops it', async () => {
  const { fire, calls } = openHost({
    a: allow,
    b: answers.modify({ x: 1 }),
    c: answers.deny('no'),
    d: allow,
  });
  expect(await fire({ payload: { n: 1 } })).toMatchObject({ verdict: 'deny', hook: 'c', reason: 'no' });
  expect(calls.map(([name, , { payload }]) => [name, payload])).toEqual([
    ['a', { n: 1 }],
    ['b', { n: 1, allow: true }],
    ['c', { n: 1, allow: true, modify: true }],
  ]);
});

test('among groups that all allow, the last that changed the event is named, or none', async () => {
  const changed = openHost({ a: answers.modify({ x: 1 }), b: allow });
  expect(await changed.fire({})).toMatchObject({ verdict: 'modify', hook: 'a' });
  const silent = openHost({ a: allow, b: allow });
  expect(await silent.fire({})).toMatchObject({ verdict: 'allow', hook: null });
  const nameless = openHost({ a: null, b: null });
  expect((await nameless.fire({})).hook).toBeNull();
  const broken = openHost({ a: allow, nobody: answers.deny('broken') });
  expect(await broken.fire({})).toMatchObject({ verdict: 'deny', hook: null, reason: 'broken' });
});
