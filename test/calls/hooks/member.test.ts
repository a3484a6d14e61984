import { expect, test } from 'vitest';
import { RuntimeError, toFault } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { askMember, notifyMember, pointOf } from '../../../src/calls/hooks/group.ts';
import { type Answer, answers } from '../../../src/contract/hook.ts';
import { noopScrubber, type Scrubber } from '../../../src/contract/scrub.ts';
import type { ForeignDialect } from '../../../src/dialects/foreign-dialect.ts';
import { type Does, hookCall, openPlayedGroup, point } from './played-group.ts';

const question = { point: 'P', payload: { n: 0 }, hookContext: hookCall().hookContext };

function ask(
  does: Does | undefined,
  over: { dialect?: Partial<ForeignDialect>; context?: object; call?: object; member?: object } = {},
) {
  const bench = openPlayedGroup({ P: point }, over.dialect);
  const member = bench.member('a', does, over.member);
  const call = { hookCall: hookCall(over.call), question, mode: 'filter' } as const;
  const answer = askMember(bench.dialect, member, call, { ...bench.context, ...over.context });
  return answer.then((given) => ({ answer: given, ...bench }));
}

test('one request gives one reported decision', async () => {
  const metadata = new Json('{"x":1}');
  const heard: string[] = [];
  const call = {
    onHear: (hook: string) => void heard.push(`${hook}?`),
    onAnswer: (hook: string, verdict: string, { durationMs }: { durationMs: number }) =>
      void heard.push(`${hook} ${verdict} ${durationMs >= 0}`),
  };
  const { answer, said, events } = await ask(answers.modify({ x: 1 }, { metadata, reason: 'so' }), { call });
  expect(answer).toEqual(answers.modify({ x: 1 }, { metadata, reason: 'so' }));
  expect([said, heard]).toEqual([['a asked {"n":0}'], ['a?', 'a modify true']]);
  expect(events).toEqual([
    {
      ...{
        type: 'decision',
        hook: 'a',
        call: 'c1',
        dialect: 'played',
        kind: 'tool',
        phase: 'before_execution',
      },
      ...{ point: 'P', mode: 'filter', verdict: 'modify', reason: 'so', metadata },
      ...{ durationMs: expect.any(Number), queueMs: expect.any(Number) },
    },
  ]);
  expect(events[0]).not.toHaveProperty('error');
});

test.each(['deny', 'abort'] as const)('the fault of a %s is reported with its decision', async (verdict) => {
  const error = toFault(new RuntimeError('PROCESS_EXIT', 'exit 3'));
  const given = verdict === 'deny' ? answers.deny('no', { error }) : answers.abort('no', 'turn', { error });
  const { decisions } = await ask(given);
  expect(decisions()).toMatchObject([{ verdict, error }]);
  const { decisions: plain } = await ask(answers.deny('no'));
  expect(plain()[0]).not.toHaveProperty('error');
});

test('the dialect’s notes about a reply are reported in the hook’s name', async () => {
  const decode = () => ({ output: answers.allow(), notes: [{ level: 'warn', message: 'odd' } as const] });
  const { events } = await ask(answers.allow(), { dialect: { decode } });
  expect(events[0]).toEqual({ type: 'note', name: 'a', level: 'warn', message: 'odd' });
});

test('a hook that needs no process starts none', async () => {
  const { answer, said, events } = await ask(answers.allow(), {
    dialect: { staticAnswer: () => answers.deny('static') },
  });
  expect([answer.reason, said, events.length]).toEqual(['static', [], 1]);
});

test('a hook that needs a process and has none denies', async () => {
  const { answer } = await ask(answers.allow(), { member: { transport: undefined } });
  expect(answer).toMatchObject({ verdict: 'deny', error: { code: 'INTERNAL' } });
});

test('the dialect judges a fault of the process', async () => {
  const { answer } = await ask(new RuntimeError('PROCESS_TIMEOUT', 'too slow'));
  expect(answer).toMatchObject({
    verdict: 'deny',
    reason: 'too slow',
    metadata: new Json('{"fault":"PROCESS_TIMEOUT"}'),
  });
});

test('an invalid answer denies, and names its hook', async () => {
  const { answer, decisions, events } = await ask(undefined);
  expect(events).toHaveLength(1);
  expect(answer).toMatchObject({
    verdict: 'deny',
    reason: 'the hook failed: Signalbox itself failed.',
    error: { code: 'INTERNAL' },
  });
  expect(decisions()).toMatchObject([{ hook: 'a', verdict: 'deny' }]);
  const encode = () => {
    throw new RuntimeError('EVENT_INVALID', 'too deep');
  };
  expect((await ask(answers.allow(), { dialect: { encode } })).answer).toMatchObject({
    verdict: 'deny',
    error: { code: 'EVENT_INVALID' },
  });
});

const hiding: Scrubber = {
  ...noopScrubber,
  text: (text) => text.replaceAll('secret', '•'),
};

test('secrets are hidden in messages about a fault, a reply, and an invalid answer', async () => {
  const context = { scrubber: hiding };
  const fault = await ask(new RuntimeError('PROCESS_EXIT', 'secret'), { context });
  expect(fault.answer.reason).toBe('•');
  const denied = await ask(answers.deny('secret'), { context });
  expect(denied.answer.reason).toBe('•');
  const broken = await ask(undefined, { context });
  expect(JSON.stringify(broken.answer)).not.toContain('secret');
  const encode = () => {
    throw new Error('secret');
  };
  expect(JSON.stringify((await ask(answers.allow(), { context, dialect: { encode } })).answer)).not.toContain(
    'secret',
  );
});

test.each([
  { title: 'the caller gives up', call: { signal: AbortSignal.abort() }, context: {}, code: 'ABORTED' },
  {
    title: 'the runtime closes',
    call: {},
    context: { closing: AbortSignal.abort() },
    code: 'RUNTIME_CLOSED',
  },
])('where $title a reply, or a fault, is no answer of the hook', async ({ code, ...over }) => {
  for (const does of [answers.allow(), new RuntimeError('PROCESS_SIGNAL', 'killed')])
    expect((await ask(does, over)).answer).toMatchObject({ verdict: 'deny', error: { code } });
});

test('the caller’s signal ends the request', async () => {
  const { signal } = new AbortController();
  const seen: unknown[] = [];
  await ask(
    async (given) => {
      seen.push(given);
      return answers.allow();
    },
    { call: { signal } },
  );
  expect(seen).toEqual([signal]);
});

const long = 'x'.repeat(11);
const short = 'x'.repeat(10);

test('long texts for the model and the user are moved to a file, at the limit of the dialect', async () => {
  const written: unknown[] = [];
  const writeLongText = (text: string, { session_id }: { session_id: string }) => {
    written.push([text, session_id]);
    return 'file';
  };
  const given = (message: string): Answer =>
    answers.allow({ context: [long, short], metadata: Json.from({ x: 1, system_message: message }) });
  const moving = (answer: Answer, maxContextCharacters?: number) =>
    ask(answer, {
      context: { writeLongText },
      dialect: maxContextCharacters === undefined ? {} : { maxContextCharacters },
    });
  expect((await moving(given(long), 10)).answer).toEqual(
    answers.allow({ context: ['file', short], metadata: new Json('{"x":1,"system_message":"file"}') }),
  );
  expect(written.splice(0)).toEqual(Array(2).fill([long, 's1']));
  const kept = given(short);
  expect((await moving(kept, 11)).answer).toEqual(kept);
  expect((await moving(given(long))).answer).toEqual(given(long));
  expect(written).toEqual([]);
  const silent = answers.allow();
  const { answer } = await moving(silent, 10);
  expect(answer).toEqual(silent);
  expect(answer).not.toHaveProperty('context');
});

test.each(['{"system_message":7}', '[]', '{}'])(
  'metadata without a text for the user stays as it is: %s',
  async (text) => {
    const metadata = new Json(text);
    const { answer } = await ask(answers.allow({ metadata }), { dialect: { maxContextCharacters: 1 } });
    expect(answer.metadata).toBe(metadata);
  },
);

test('an undelivered notification is reported, without further effect', async () => {
  const { dialect, member, events, context } = openPlayedGroup({ P: point });
  const sent: unknown[] = [];
  const { signal } = new AbortController();
  const told = member('a', undefined);
  const notify = (more: object) =>
    notifyMember(
      dialect,
      { ...told, transport: told.transport && { ...told.transport, ...more } },
      { hookCall: hookCall({ signal }), question },
      context.emit,
    );
  await notify({ notify: async (...given: unknown[]) => void sent.push(...given) });
  expect(sent).toEqual([{ method: 'hook', body: '{"n":0}' }, signal]);
  await notify({});
  await notifyMember(
    dialect,
    { ...told, transport: undefined },
    { hookCall: hookCall(), question },
    context.emit,
  );
  expect(events).toEqual([]);
  await notify({ notify: async () => Promise.reject(new RuntimeError('SERVER_EXIT', 'gone')) });
  expect(events).toEqual([
    { type: 'note', name: 'a', level: 'warn', message: 'the hook did not receive P: gone' },
  ]);
});

test('a point that the dialect does not have is a defect of ours', () => {
  const { dialect } = openPlayedGroup({ P: point });
  expect(pointOf(dialect, 'P')).toBe(point);
  for (const name of ['Q', 'toString', '__proto__'])
    expect(() => pointOf(dialect, name)).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
});
