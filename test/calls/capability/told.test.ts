import { expect, test } from 'vitest';
import { type Fault, RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { runEval } from '../../../src/calls/capability/eval.ts';
import { runTool } from '../../../src/calls/tool-call/call.ts';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import type { Reply } from '../../../src/process/transport.ts';
import { call, request } from '../../dialects/verdicts.ts';
import { openBench } from './bench.ts';

const fault = new RuntimeError('PROCESS_TIMEOUT', 'too slow');
const rpc = (text: string): Reply => ({ via: 'rpc', result: new Json(text) });

/** `hears` says whether anything subscribes to starts of calls. */
function openTold(answer: Reply | RuntimeError, hears?: boolean) {
  const events: RuntimeEvent[] = [];
  const emit = Object.assign(
    (event: RuntimeEvent) => void events.push(event),
    hears !== undefined && { hears: (type: string) => (type === 'call.started') === hears },
  );
  const exchange = async () => {
    if (answer instanceof RuntimeError) throw answer;
    return answer;
  };
  const bench = openBench();
  const withPlayed = <P extends { readonly transport: object }>(port: P) => ({
    ...port,
    transport: { ...port.transport, exchange },
    emit,
  });
  return {
    tool: (toReportable?: (error: Fault) => Fault) =>
      runTool(withPlayed(bench.tool({ runs: ['answers'] })), { input: call, call: 'c' }, toReportable),
    evaluation: () =>
      runEval(withPlayed(bench.evaluation({ runs: ['answers'] })), { input: request, call: 'c' }),
    events,
  };
}

const took = { durationMs: expect.any(Number), queueMs: expect.any(Number) };
const error = { code: 'PROCESS_TIMEOUT', message: 'too slow' };

test.each([true, undefined])('the start and the end of a tool call are reported: %s', async (hears) => {
  const { tool, events } = openTold(rpc('1'), hears);
  expect(await tool()).toMatchObject({ status: 'ok', result: new Json('1') });
  const named = { capability: 'tool', name: 'entry', call: 'c' };
  expect(events).toEqual([
    { type: 'call.started', ...named },
    { type: 'call.finished', ...named, status: 'ok', ...took },
  ]);
});

test('a reported failure is shortened, and the outcome is complete', async () => {
  const { tool, events } = openTold(fault);
  const outcome = await tool((given) => ({ ...given, message: 'hidden' }));
  expect(outcome).toMatchObject({ status: 'failed', error });
  expect(events.at(-1)).toMatchObject({
    ...{ type: 'call.finished', status: 'failed', error: { ...error, message: 'hidden' } },
  });
  const whole = openTold(fault);
  await whole.tool();
  expect(whole.events.at(-1)).toMatchObject({ error });
});

test('without a listener nothing is reported, and the outcome is the same', async () => {
  const good = openTold(rpc('1'), false);
  expect(await good.tool()).toMatchObject({ status: 'ok', result: new Json('1') });
  const bad = openTold(fault, false);
  expect(await bad.tool()).toMatchObject({ status: 'failed', error });
  expect([...good.events, ...bad.events]).toEqual([]);
});

test('the start and the end of an eval are reported, with its score', async () => {
  const { evaluation, events } = openTold(rpc('{"score":0.5}'));
  expect(await evaluation()).toEqual({
    outcome: { status: 'scored', score: 0.5, detail: '' },
    stderr: '',
    ...took,
  });
  expect(events).toEqual([
    { type: 'call.started', capability: 'eval', name: 'entry', call: 'c' },
    { type: 'call.finished', capability: 'eval', name: 'entry', call: 'c', status: 'scored', ...took },
  ]);
});

test('a fault is unscored, and reported as its error', async () => {
  const { evaluation, events } = openTold(fault);
  expect((await evaluation()).outcome).toMatchObject({ status: 'unscored', reason: 'too slow', error });
  expect(events.at(-1)).toMatchObject({ status: 'unscored', error });
});

test('a process’s output beside its score is kept', async () => {
  const stdout = new TextEncoder().encode('{"score":1}');
  const { evaluation } = openTold({ via: 'process', stdout, stderr: 'aside', exitCode: 0, signal: null });
  expect(await evaluation()).toMatchObject({ outcome: { score: 1 }, stderr: 'aside' });
});
