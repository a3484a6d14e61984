import { AsyncLocalStorage } from 'node:async_hooks';
import { type ErrorCode, isCancelled, RuntimeError, toRuntimeError } from '../base/errors.ts';
import { startDetailedStopwatch } from '../base/time/stopwatch.ts';
import type {
  Emit,
  Measures,
  OperationAbout,
  OperationContext,
  OperationEnd,
  OperationFacts,
  OperationPlace,
  ToolContent,
} from './event.ts';
import { createIds } from './tool.ts';
import { requireTrace, type TraceContext } from './trace.ts';

interface Context extends OperationContext {
  readonly trace?: TraceContext | undefined;
  readonly tracked?: Operation | undefined;
  /** The operation, also if only its figures are taken. */
  readonly about?: OperationAbout;
}

/** Hooks, queues and models of the AI SDK between an operation and its parts cannot carry it. */
const contexts = new AsyncLocalStorage<Context | undefined>();

/** Whether anything consumes the events or figures of operations. If not, no operation is tracked. */
export function tracksOperations(emit: Emit): boolean {
  return emit.measures !== undefined || hearsOperations(emit);
}

function hearsOperations({ hears }: Emit): boolean {
  return hears === undefined || hears('operation.started') || hears('operation.finished');
}

/** The tracked operation that this code works for, with its run and step. Empty without one. */
export function currentOperation(): OperationContext {
  const context = contexts.getStore();
  if (context?.operation === undefined) return nowhere;
  const { trace: _, tracked: __, about: ___, ...place } = context;
  return place;
}

const nowhere: OperationContext = {};

export function currentTrace(): TraceContext | undefined {
  return contexts.getStore()?.trace;
}

/** The current operation, for the parts of it that know a fact about its end. Undefined if none is tracked. */
export function trackedOperation(): Operation | undefined {
  return contexts.getStore()?.tracked;
}

/** Runs work as part of the caller's trace. */
export function inTrace<Result>(trace: TraceContext | undefined, work: () => Result): Result {
  return trace === undefined ? work() : contexts.run({ ...contexts.getStore(), trace }, work);
}

/** Runs work as part of the trace in the caller's options. Throws USAGE if it is invalid. */
export function inTraceOf<Result>(
  options: { readonly trace?: TraceContext | undefined } | undefined,
  work: () => Result,
): Result {
  return inTrace(requireTrace(options?.trace), work);
}

/** Runs work for a step of the current run. */
export function inStep<Result>(step: string, work: () => Result): Result {
  const context = contexts.getStore();
  return context?.operation === undefined ? work() : contexts.run({ ...context, step }, work);
}

/** Keeps the current context for work that a queue runs in the context of other work. */
export function keepContext(): <Result>(work: () => Result) => Result {
  const context = contexts.getStore();
  return (work) => (contexts.getStore() === context ? work() : contexts.run(context, work));
}

/** An operation whose start was emitted. */
export interface Operation {
  /** Undefined if only figures are taken. */
  readonly id: string | undefined;
  /** Runs a part of the operation. */
  run<Result>(work: () => Result): Result;
  /** Adds what is known to the end. */
  note(facts: OperationFacts): void;
  /** The first part of a streamed answer has come. Later calls do nothing. */
  noteFirstChunk(): void;
  /** Passes the content on; absent unless content is exported. */
  readonly keepContent?: ((content: ToolContent) => void) | undefined;
  /** Emits the end. Later calls do nothing. */
  finish(end: OperationEnd): void;
}

/** Emits the start of an operation, if that is heard. For work that ends with a promise, use `trackOperation`. */
export function startOperation(emit: Emit, about: OperationAbout): Operation {
  const around = contexts.getStore();
  const { operation: parent, trace } = around ?? {};
  const { run, step } = about.operation === 'pipeline' ? { run: about.run, step: undefined } : (around ?? {});
  const id = hearsOperations(emit) ? nextOperationId() : undefined;
  const place: OperationPlace | undefined =
    id === undefined
      ? undefined
      : {
          ...{ id, at: Date.now() },
          ...(parent !== undefined && { parent }),
          ...(parent === undefined && trace && { trace }),
          ...(run !== undefined && { run }),
          ...(step !== undefined && { step }),
        };
  const watch = startDetailedStopwatch();
  if (place !== undefined) emit({ type: 'operation.started', ...about, ...place });
  const continued = (id === undefined ? undefined : emit.traceOf?.(id)) ?? trace;
  let facts: OperationFacts = {};
  let hasEnded = false;
  const operation: Operation = {
    id,
    run: (work) => watch.run(() => contexts.run(context, work)),
    note: (more) => {
      facts = { ...facts, ...more };
    },
    noteFirstChunk: () => {
      if (facts.firstChunkMs !== undefined || hasEnded) return;
      const { durationMs, queueMs } = watch.read();
      facts = { ...facts, firstChunkMs: toMicroseconds(durationMs + queueMs) };
      // The rest of a stream is time of the upstream.
      watch.change('upstream', 1);
    },
    keepContent:
      id === undefined ? undefined : emit.keepContent && ((content) => emit.keepContent?.(id, content)),
    finish: (end) => {
      if (hasEnded) return;
      hasEnded = true;
      const { durationMs, queueMs, ownMs } = watch.readDetails();
      if (facts.firstChunkMs !== undefined) watch.change('upstream', -1);
      const whole = { ...facts, ...withStatus(end) };
      if (place !== undefined) {
        const took = { durationMs: toMicroseconds(durationMs), queueMs: toMicroseconds(queueMs) };
        emit({ type: 'operation.finished', ...about, ...place, ...took, ...whole });
      }
      const measured = { ...whole, durationMs, queueMs, ownMs };
      emit.measures?.operation(about, measured, around?.about);
    },
  };
  const context: Context = {
    ...{ tracked: operation, about },
    ...(id !== undefined && { operation: id, operationKind: about.operation }),
    ...(run !== undefined && { run }),
    ...(step !== undefined && { step }),
    ...(continued && { trace: continued }),
  };
  return operation;
}

const nextOperationId = createIds('operation_');

function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Work that was cancelled has neither failed nor been denied. RUN_ENDED: another process cancelled the run. */
function withStatus({ status, error, ...facts }: OperationEnd): OperationEnd {
  return {
    ...facts,
    status: isCancelled(error) || error?.code === 'RUN_ENDED' ? 'cancelled' : status,
    ...(error && { error: { code: error.code, message: error.message } }),
  };
}

/** Runs work as an operation, which ends when the work does. Costs nothing if no operation is tracked. */
export function trackOperation<Result>(
  emit: Emit,
  about: () => OperationAbout,
  work: () => Promise<Result>,
  endOf: (result: Result) => OperationEnd,
): Promise<Result> {
  if (hearsOperations(emit)) return track(startOperation(emit, about()), work, endOf);
  return emit.measures === undefined ? work() : measure(emit.measures, about(), work, endOf);
}

/** Takes only the figures of an operation, at a third of the cost. */
async function measure<Result>(
  measures: Measures,
  about: OperationAbout,
  work: () => Promise<Result>,
  endOf: (result: Result) => OperationEnd,
): Promise<Result> {
  const watch = startDetailedStopwatch();
  const around = contexts.getStore();
  // Nothing asks for the tool call that it is a part of.
  const inside = about.operation === 'tool' ? work : () => contexts.run({ ...around, about }, work);
  const finish = (end: OperationEnd) =>
    measures.operation(about, { ...withStatus(end), ...watch.readDetails() }, around?.about);
  try {
    const result = await watch.run(inside);
    finish(endOf(result));
    return result;
  } catch (thrown) {
    finish(endOfError(thrown));
    throw thrown;
  }
}

async function track<Result>(
  { run, finish }: Operation,
  work: () => Promise<Result>,
  endOf: (result: Result) => OperationEnd,
): Promise<Result> {
  try {
    const result = await run(work);
    finish(endOf(result));
    return result;
  } catch (thrown) {
    finish(endOfError(thrown));
    throw thrown;
  }
}

/** Reads a stream as a part of the operation. `onEnd` gets the error if the stream fails or its reader cancels it. */
export function readWithin<Part>(
  { run }: Operation,
  stream: ReadableStream<Part>,
  { onPart, onEnd }: { readonly onPart: (part: Part) => void; readonly onEnd: (thrown?: unknown) => void },
): ReadableStream<Part> {
  const reader = stream.getReader();
  return new ReadableStream<Part>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await run(() => reader.read());
          if (done) {
            onEnd();
            controller.close();
            return;
          }
          onPart(value);
          controller.enqueue(value);
        } catch (thrown) {
          onEnd(thrown);
          controller.error(thrown);
        }
      },
      cancel: async (reason) => {
        onEnd(new RuntimeError('ABORTED', 'the reader left before the end of the stream'));
        await run(() => reader.cancel(reason));
      },
    },
    { highWaterMark: 0 },
  );
}

/** `code` is that of an error without one. */
export function endOfError(thrown: unknown, code?: ErrorCode): OperationEnd {
  const error = toRuntimeError(isAbort(thrown) ? new RuntimeError('ABORTED', thrown.message) : thrown, code);
  return { status: error.code === 'DENIED' ? 'denied' : 'failed', error };
}

function isAbort(thrown: unknown): thrown is Error {
  return thrown instanceof Error && thrown.name === 'AbortError';
}
