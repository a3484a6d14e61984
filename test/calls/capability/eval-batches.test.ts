import { expect, test, vi } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { type EvalBatchOptions, openEvalBatches } from '../../../src/calls/capability/eval.ts';
import type { EvalOutcome, EvalRequest } from '../../../src/contract/eval.ts';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import type { Reply } from '../../../src/process/transport.ts';
import { openBench } from './bench.ts';

interface Sent {
  readonly contents: string;
  readonly signal: AbortSignal | undefined;
  answer(outcomes: readonly EvalOutcome[]): void;
  fail(error: Error): void;
}

const scoreOf = (score: number): EvalOutcome => ({ status: 'scored', score, detail: '' });
const ofProcess: Reply = {
  ...{ via: 'process', stdout: new Uint8Array(), stderr: 'said', exitCode: 0, signal: null },
};
const ofServer: Reply = { via: 'rpc', result: new Json('{}') };

function requestOf(content: string): EvalRequest {
  const context = { messages: [], turn_index: 0, tool_calls: [], variables: {}, metadata: {} };
  return { type: 'grade', params: {}, content, context };
}

function openBatches(options: EvalBatchOptions, reply = ofProcess) {
  const events: RuntimeEvent[] = [];
  const sent: Sent[] = [];
  let outcomes: readonly EvalOutcome[] = [];
  const { binding, transport } = openBench().evaluation({ runs: ['answers'], name: 'grade' });
  const exchange = async ({ body }: { readonly body: string }, signal?: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly EvalOutcome[]>();
    signal?.addEventListener('abort', () => reject(new RuntimeError('ABORTED', 'all gave up')));
    sent.push({ contents: body, signal, answer: resolve, fail: reject });
    outcomes = await promise;
    return reply;
  };
  const encode = (inputs: readonly EvalRequest[]) => ({
    method: 'eval',
    body: inputs.map(({ content }) => content).join(''),
  });
  const decode = () => ({ output: outcomes, notes: [] });
  const emit = (event: RuntimeEvent) => void events.push(event);
  const codec = { encode, decode };
  const batches = openEvalBatches({ binding, transport: { ...transport, exchange }, codec, emit }, options);
  const score = (content: string, more: { readonly signal?: AbortSignal; readonly alone?: boolean } = {}) =>
    batches.score({ input: requestOf(content), call: `call ${content}`, ...more });
  const told = () =>
    events.map((event) => `${event.type} ${'call' in event ? event.call?.replace('call ', '') : ''}`);
  return { score, sent, events, told, contents: () => sent.map(({ contents }) => contents) };
}

const until = (holds: () => boolean) => vi.waitFor(() => expect(holds()).toBe(true), { interval: 1 });

test('a full batch is sent at once, the rest when no more cases come, each case with its own outcome', async () => {
  const { score, sent, contents, events } = openBatches({ size: 2, slots: 3 });
  const all = [...'abc'].map((content) => score(content));
  expect(contents()).toEqual(['ab']);
  await until(() => sent.length === 2);
  expect(contents()).toEqual(['ab', 'c']);
  sent[0]?.answer([scoreOf(0.1), scoreOf(0.2)]);
  const [a, b] = await Promise.all(all.slice(0, 2));
  const timing = { durationMs: expect.any(Number), queueMs: expect.any(Number) };
  expect(a).toEqual({ outcome: scoreOf(0.1), ...timing, stderr: 'said' });
  expect(b).toEqual({ outcome: scoreOf(0.2), ...timing, stderr: '' });
  sent[1]?.answer([scoreOf(0.3)]);
  expect((await all[2])?.outcome).toEqual(scoreOf(0.3));
  const named = { capability: 'eval', name: 'grade' };
  expect(events.slice(0, 3)).toEqual(
    [...'abc'].map((each) => ({ type: 'call.started', ...named, call: `call ${each}` })),
  );
  expect(events.slice(3)).toEqual(
    [...'abc'].map((each) => ({
      ...{ type: 'call.finished', ...named, call: `call ${each}`, status: 'scored', ...timing },
    })),
  );
});

test('cases that arrive while every slot is taken wait, and go in full batches as slots are free', async () => {
  const { score, sent, contents } = openBatches({ size: 2, slots: 1 });
  const all = [...'abcde'].map((content) => score(content));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(contents()).toEqual(['ab']);
  sent[0]?.answer([scoreOf(1), scoreOf(1)]);
  await until(() => sent.length === 2);
  sent[1]?.answer([scoreOf(0), scoreOf(0)]);
  await until(() => sent.length === 3);
  expect(contents()).toEqual(['ab', 'cd', 'e']);
  sent[2]?.answer([scoreOf(0.5)]);
  const scores = (await Promise.all(all)).map(({ outcome }) => outcome.status === 'scored' && outcome.score);
  expect(scores).toEqual([1, 1, 0, 0, 0.5]);
});

test('a single case has its own exchange, even if every slot is taken', async () => {
  const { score, sent, contents } = openBatches({ size: 2, slots: 1 });
  const pair = [score('a'), score('b')];
  const alone = score('c', { alone: true });
  expect(contents()).toEqual(['ab', 'c']);
  for (const { answer } of sent) answer([scoreOf(1), scoreOf(1)]);
  expect(await Promise.all([...pair, alone])).toMatchObject(Array(3).fill({ outcome: { score: 1 } }));
});

test('a fault of the exchange applies to every case in it, and names their number', async () => {
  const { score, sent, events } = openBatches({ size: 2, slots: 2 });
  const pair = [score('a'), score('b')];
  const alone = score('c', { alone: true });
  for (const { fail } of sent) fail(new RuntimeError('PROCESS_TIMEOUT', 'too slow'));
  const shared = { code: 'PROCESS_TIMEOUT', message: 'too slow (one request for 2 cases)' };
  const outcome = { status: 'unscored', reason: shared.message, error: shared };
  expect(await Promise.all(pair)).toMatchObject([{ outcome }, { outcome }]);
  expect((await alone).outcome).toMatchObject({ reason: 'too slow', error: { message: 'too slow' } });
  expect(events.filter(({ type }) => type === 'call.finished')).toMatchObject([
    { status: 'unscored', error: shared },
    { error: shared },
    { error: { message: 'too slow' } },
  ]);
});

test('a case for which the exchange has no outcome is unscored', async () => {
  const { score, sent } = openBatches({ size: 2, slots: 2 }, ofServer);
  const pair = [score('a'), score('b')];
  sent[0]?.answer([scoreOf(1)]);
  expect(await Promise.all(pair)).toMatchObject([
    { outcome: scoreOf(1), stderr: '' },
    { outcome: { status: 'unscored', error: { code: expect.any(String) } } },
  ]);
});

test('a case that is aborted before it is sent is not sent', async () => {
  const { score, contents, told, sent } = openBatches({ size: 2, slots: 1 });
  const giveUp = new AbortController();
  const lost = score('a', { signal: giveUp.signal });
  giveUp.abort();
  expect(await lost).toMatchObject({
    outcome: { status: 'unscored', error: { code: 'ABORTED' } },
    stderr: '',
  });
  expect((await score('b', { signal: giveUp.signal })).outcome.status).toBe('unscored');
  const pair = [score('c'), score('d')];
  expect(contents()).toEqual(['cd']);
  sent[0]?.answer([scoreOf(1), scoreOf(1)]);
  await Promise.all(pair);
  const ended = ['call.started a', 'call.finished a', 'call.started b', 'call.finished b'];
  expect(told()).toEqual(
    [...ended, ...'cd'.split('').flatMap((each) => `call.started ${each}`)].concat(
      ...[...'cd'].map((each) => `call.finished ${each}`),
    ),
  );
});

test('an exchange ends only when every case in it is aborted', async () => {
  const { score, sent, told } = openBatches({ size: 2, slots: 1 });
  const [one, other] = [new AbortController(), new AbortController()];
  const pair = [score('a', { signal: one.signal }), score('b', { signal: other.signal })];
  one.abort();
  expect(await pair[0]).toMatchObject({ outcome: { error: { code: 'ABORTED' } }, durationMs: 0 });
  expect(sent[0]?.signal?.aborted).toBe(false);
  other.abort('no more');
  expect(sent[0]?.signal).toMatchObject({ aborted: true, reason: 'no more' });
  expect(await pair[1]).toMatchObject({ outcome: { error: { code: 'ABORTED' } } });
  // The slot is free again.
  const next = [score('c'), score('d')];
  await until(() => sent.length === 2);
  sent[1]?.answer([scoreOf(1), scoreOf(1)]);
  expect(await Promise.all(next)).toMatchObject(Array(2).fill({ outcome: scoreOf(1) }));
  expect(told().filter((each) => each === 'call.finished a')).toHaveLength(1);
});

test('a score stays when its caller aborts later', async () => {
  const { score, sent, told } = openBatches({ size: 1, slots: 1 });
  const caller = new AbortController();
  const asked = score('a', { signal: caller.signal });
  sent[0]?.answer([scoreOf(1)]);
  expect((await asked).outcome).toEqual(scoreOf(1));
  caller.abort();
  expect(told()).toEqual(['call.started a', 'call.finished a']);
});
