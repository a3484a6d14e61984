import { expect, test, vi } from 'vitest';
import { type ErrorCode, RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { invoke, invokeOr, invokeThen, trackCall } from '../../../src/calls/capability/invoke.ts';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import { createScrubber } from '../../../src/runtime/log/scrub.ts';
import { openBench } from './bench.ts';

const reply = { via: 'rpc', result: new Json('{}') } as const;
const input = { name: 't', callId: 'c', args: new Json('{}') };

function openPort(code?: ErrorCode, scrubbed = false) {
  const events: RuntimeEvent[] = [];
  const port = openBench().tool({ runs: ['answers'] });
  const exchange = async () => {
    if (code !== undefined) throw new RuntimeError(code, 'it knows hush-hush');
    return reply;
  };
  const output = { status: 'ok', result: reply.result } as const;
  const decode = () => ({ output, notes: [{ level: 'warn', message: 'odd' } as const] });
  const scrubber = scrubbed ? createScrubber(['hush-hush']) : undefined;
  const emit = (event: RuntimeEvent) => void events.push(event);
  return {
    port: {
      ...port,
      transport: { ...port.transport, exchange },
      codec: { ...port.codec, decode },
      emit,
      scrubber,
    },
    output,
    events,
  };
}

test('the codec’s result is returned, its notes are reported, and listeners receive the reply', async () => {
  const heard: unknown[] = [];
  const { port, output, events } = openPort();
  const invocation = { input, call: 'c', onReply: (given: unknown) => void heard.push(given) };
  expect(await invoke(port, invocation)).toBe(output);
  expect(heard).toEqual([reply]);
  expect(events).toEqual([{ type: 'note', name: 'entry', level: 'warn', message: 'odd' }]);
});

test.each([
  [false, 'it knows hush-hush'],
  [true, 'it knows [redacted]'],
])('a fault is thrown, or passed to a fault handler, with secrets hidden: %s', async (scrubbed, message) => {
  const { port } = openPort('PROCESS_TIMEOUT', scrubbed);
  const fault = { code: 'PROCESS_TIMEOUT', message };
  await expect(invoke(port, { input, call: 'c' })).rejects.toMatchObject(fault);
  expect(await invokeOr(port, { input, call: 'c' }, { onFault: (given) => given })).toMatchObject(fault);
});

test('the parsed output is the result, and an error of who takes it is not a fault of the peer', async () => {
  const { port, output } = openPort();
  const failing = openPort('PROCESS_TIMEOUT').port;
  const thrown = new Error('not a fault of the peer');
  const refuse = () => {
    throw thrown;
  };
  const fail = vi.fn();
  const next = { onOutput: refuse, onFault: refuse, fail };
  expect(await invokeOr(port, { input, call: 'c' }, { onFault: ({ message }) => message })).toBe(output);
  await expect(invokeOr(failing, { input, call: 'c' }, { onFault: refuse })).rejects.toBe(thrown);
  for (const each of [port, failing]) invokeThen(each, { input, call: 'c' }, next);
  await vi.waitFor(() => expect(fail.mock.calls).toEqual([[thrown], [thrown]]));
});

test('the start and the end of a call are reported', () => {
  const events: RuntimeEvent[] = [];
  const call = trackCall((event) => void events.push(event), 'tool', { name: 't', call: 'c' });
  expect(events).toEqual([{ type: 'call.started', capability: 'tool', name: 't', call: 'c' }]);
  expect(call.run(() => 'done')).toBe('done');
  const error = { code: 'TOOL_ERROR', message: 'no' };
  const took = call.finish({ status: 'failed', error });
  expect(took).toEqual({ durationMs: expect.any(Number), queueMs: expect.any(Number) });
  const finished = { type: 'call.finished', capability: 'tool', name: 't', call: 'c' };
  expect(events[1]).toEqual({ ...finished, status: 'failed', ...took, error });
  call.finish({ status: 'ok' });
  expect(Object.keys(events[2] ?? {})).not.toContain('error');
});
