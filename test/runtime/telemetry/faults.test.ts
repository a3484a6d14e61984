import * as api from '@opentelemetry/api';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { type Emit, emitNothing, wrapEmit } from '../../../src/contract/event.ts';
import { startOperation } from '../../../src/contract/operation.ts';
import { openSpans, type Spans } from '../../../src/runtime/telemetry/spans.ts';

const provider = new TracerProvider({ sampler: new AlwaysOnSampler(), spanProcessors: [] });

function open(tracer: api.Tracer): Spans {
  const text = (value: string) => value;
  const names = { providers: new Map<string, string>() };
  return openSpans({ tracer, api, text, content: true, names, isOptedIn: true });
}

function emitTo({ take, types, traceOf, startHook, keepContent }: Spans): Emit {
  const emit = wrapEmit(emitNothing, take, (type) => types.includes(type));
  return Object.assign(emit, { traceOf, startHook, keepContent });
}

const about = { operation: 'eval', name: 'contains', eval: 'one' } as const;
const hook = { hook: 'one', kind: 'tool', phase: 'before_execution', mode: 'filter' } as const;

function work(emit: Emit): string {
  const operation = startOperation(emit, about);
  const answer = operation.run(() => {
    emit.startHook?.(hook)?.end({ verdict: 'deny', error: { code: 'PROCESS_EXIT', message: 'no' } });
    return 'answered';
  });
  operation.finish({ status: 'failed', error: { code: 'INTERNAL', message: 'no' } });
  return answer;
}

test.each([
  'startSpan',
  ...(['spanContext', 'isRecording', 'setAttributes', 'setStatus', 'addEvent', 'end'] as const),
])('a fault of an SDK in %s stops no call', (method) => {
  const faulty = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (_, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (key === method) throw new Error('the SDK has a fault');
          const result: unknown = Reflect.apply(value, target, args);
          return key === 'startSpan' ? faulty(result as object) : result;
        };
      },
    });
  const spans = open(faulty(provider.getTracer('test')));
  const emit = emitTo(spans);
  expect([work(emit), work(emit)]).toEqual(['answered', 'answered']);
  spans.close();
});

test('an operation that has finished is forgotten, and close ends the others', () => {
  const ended: string[] = [];
  const onEnd = ({ name }: { readonly name: string }) => void ended.push(name);
  const rest = { onStart: () => {}, forceFlush: async () => {}, shutdown: async () => {} };
  const own = new TracerProvider({ sampler: new AlwaysOnSampler(), spanProcessors: [{ onEnd, ...rest }] });
  const spans = open(own.getTracer('test'));
  const emit = emitTo(spans);
  const [done, left] = [startOperation(emit, about), startOperation(emit, about)];
  done.finish({ status: 'ok' });
  expect([done, left].map(({ id = '' }) => spans.traceOf(id) === undefined)).toEqual([true, false]);
  spans.close();
  expect([ended.length, spans.traceOf(left.id ?? '')]).toEqual([2, undefined]);
  left.finish({ status: 'ok' });
  expect(ended.length).toBe(2);
});

test('the parent of a root is the active span of the host', () => {
  const own = provider.getTracer('test');
  const host = own.startSpan('host');
  const active = {
    ...api,
    context: { ...api.context, active: () => api.trace.setSpan(api.ROOT_CONTEXT, host) },
  };
  const spans = openSpans({
    ...{ tracer: own, api: { ...active, context: active.context as unknown as api.ContextAPI } },
    ...{ text: (value: string) => value, content: false, names: { providers: new Map() }, isOptedIn: false },
  });
  const { id = '' } = startOperation(emitTo(spans), about);
  expect(spans.traceOf(id)?.traceparent.slice(3, 35)).toBe(host.spanContext().traceId);
});
