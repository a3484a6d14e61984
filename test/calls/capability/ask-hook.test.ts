import { expect, test } from 'vitest';
import { type ErrorCode, RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { askHook, type FilterPort, type HookQuestion } from '../../../src/calls/capability/hook.ts';
import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import { type Answer, answers } from '../../../src/contract/hook.ts';
import { openBench } from './bench.ts';

const input = readEvent({
  hook: 'tool',
  phase: 'before_execution',
  request: { name: 'w', args: new Json('{}'), call_id: 'c1' },
});

async function askOf(
  given: Answer | ErrorCode,
  more: Partial<FilterPort> & { readonly question?: Partial<HookQuestion>; readonly hears?: boolean } = {},
) {
  const { question, hears, ...rest } = more;
  const events: RuntimeEvent[] = [];
  const emit = Object.assign((event: RuntimeEvent) => void events.push(event), {
    ...(hears !== undefined && { hears: (type: string) => (type === 'decision') === hears }),
  });
  const port = openBench().filter({ runs: ['answers'] });
  const exchange = async () => {
    if (typeof given === 'string') throw new RuntimeError(given, 'it broke');
    return { via: 'rpc', result: new Json('{}') } as const;
  };
  const decode = () => ({ output: typeof given === 'string' ? answers.allow() : given, notes: [] });
  const accepted: Answer[] = [];
  const answer = await askHook(
    {
      ...port,
      binding: { ...port.binding, name: 'guard' },
      transport: { ...port.transport, exchange },
      codec: { ...port.codec, decode },
      emit,
      ...rest,
    },
    { input, call: 'c', accept: (affirmed) => void accepted.push(affirmed), ...question },
  );
  return { answer, accepted, events };
}

test.each([true, undefined])('a filter’s decision is reported, also where hears is %s', async (hears) => {
  const metadata = new Json('{"a":1}');
  const { events } = await askOf(answers.deny('no', { metadata }), {
    mode: 'shadow',
    ...(hears && { hears }),
  });
  expect(events).toEqual([
    {
      ...{ type: 'decision', hook: 'guard', call: 'c', dialect: 'promptkit', kind: 'tool', mode: 'shadow' },
      ...{ phase: 'before_execution', verdict: 'deny', reason: 'no', metadata },
      durationMs: expect.any(Number),
      queueMs: expect.any(Number),
    },
  ]);
});

test('without a listener nothing is reported, and the answer is the same', async () => {
  const { answer, events } = await askOf(answers.deny('no'), { hears: false });
  expect({ answer, events }).toMatchObject({ answer: { verdict: 'deny', reason: 'no' }, events: [] });
  const allowed = await askOf(answers.allow(), { hears: false });
  expect(allowed).toEqual({ answer: answers.allow(), accepted: [answers.allow()], events: [] });
});

test.each(['PROCESS_TIMEOUT', 'ABORTED', 'SERVER_EXIT'] as const)(
  '%s denies, and is reported as the error of the denial',
  async (code) => {
    const { answer, events, accepted } = await askOf(code);
    const denied = { verdict: 'deny', reason: 'hook "guard" failed: it broke', error: { code } };
    expect(answer).toMatchObject(denied);
    expect(events).toMatchObject([{ type: 'decision', ...denied }]);
    expect(accepted).toEqual([]);
  },
);

test.each([
  { code: 'ABORTED', isWithdrawn: true, told: 'note' },
  { code: 'ABORTED', isWithdrawn: false, told: 'decision' },
  { code: 'PROCESS_TIMEOUT', isWithdrawn: true, told: 'decision' },
] as const)(
  '$code of a question is a $told where it was withdrawn: $isWithdrawn',
  async ({ code, isWithdrawn, told }) => {
    const { answer, events } = await askOf(code, { question: { isWithdrawn: () => isWithdrawn } });
    expect(answer).toMatchObject({ verdict: 'deny', error: { code } });
    expect(events).toMatchObject([{ type: told }]);
    if (told === 'note') expect(events).toMatchObject([{ name: 'guard', level: 'debug' }]);
  },
);

test.each([
  [answers.respond('done'), 'respond'],
  [answers.abort('stop', 'turn'), 'abort'],
])('a verdict that a native hook does not have denies: %#', async (given, verdict) => {
  const { answer, accepted } = await askOf(given);
  expect(answer).toMatchObject({ verdict: 'deny', error: { code: 'REPLY_MALFORMED' } });
  expect(answer.reason).toContain(`"${verdict}"`);
  expect(accepted).toEqual([]);
});

test.each([
  { given: answers.deny(''), reason: 'hook "guard" denied' },
  { given: answers.deny('since'), reason: 'since' },
  { given: answers.ask(''), reason: 'hook "guard" asks' },
  { given: answers.ask('may it?'), reason: 'may it?' },
])('a reason is never empty: $reason', async ({ given, reason }) => {
  expect((await askOf(given)).answer).toMatchObject({ verdict: given.verdict, reason });
});

test.each([
  { modifies: undefined, verdict: 'modify' },
  { modifies: true, verdict: 'modify' },
  { modifies: false, verdict: 'deny' },
])(
  'a change counts as $verdict if the hook declares `modifies: $modifies`',
  async ({ modifies, verdict }) => {
    const { answer, accepted } = await askOf(answers.modify({ args: {} }), { modifies });
    expect(answer.verdict).toBe(verdict);
    expect(accepted).toHaveLength(verdict === 'modify' ? 1 : 0);
    expect((await askOf(answers.allow(), { modifies })).answer.verdict).toBe('allow');
  },
);
