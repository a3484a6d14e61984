import { type Fault, toFault, toRuntimeError } from '../../base/errors.ts';
import { type QueueClock, startStopwatch, type Timing, wholeMs } from '../../base/time/stopwatch.ts';
import type { Capability, Emit } from '../../contract/event.ts';
import { noopScrubber, type Scrubber, scrubError } from '../../contract/scrub.ts';
import type { Codec } from '../../dialects/dialect.ts';
import type { Binding } from '../../process/binding.ts';
import type { Reply, Transport } from '../../process/transport.ts';
import { readReply } from './read-reply.ts';

/** A bound entry that can be invoked: its transport, codec and event sink. */
export interface Port<Input, Output> {
  readonly binding: Binding;
  readonly transport: Transport;
  readonly codec: Codec<Input, Output>;
  readonly emit: Emit;
  /** Scrubs messages about a reply; the data of a reply is not changed. */
  readonly scrubber?: Scrubber | undefined;
}

/** One invocation of one entry. */
export interface Invocation<Input> {
  readonly input: Input;
  /** Names the call in events. */
  readonly call: string;
  readonly signal?: AbortSignal | undefined;
  /** Called with the reply before it is decoded. */
  readonly onReply?: ((reply: Reply) => void) | undefined;
}

/**
 * Encode, exchange, decode: the one place where a codec meets a transport. The clock hears of the wait for a slot;
 * default: the stopwatch that runs around the call. Throws RuntimeError only.
 */
export async function invoke<Input, Output extends object>(
  port: Port<Input, Output>,
  invocation: Invocation<Input>,
  clock?: QueueClock,
): Promise<Output> {
  try {
    const { input, signal } = invocation;
    return takeReply(
      port,
      await port.transport.exchange(port.codec.encode(input), signal, clock),
      invocation,
    );
  } catch (error) {
    throw scrubError(toRuntimeError(error), port.scrubber ?? noopScrubber);
  }
}

/** What is made of an invocation. */
export interface Outcomes<Output, Result> {
  /** Default: the output as it is. What it throws is a fault as well, whose message is left as it stands. */
  readonly onOutput?: ((output: Output) => Result) | undefined;
  readonly onFault: (fault: Fault) => Result;
  readonly clock?: QueueClock | undefined;
}

/** The same, with what `onFault` makes of a fault in place of an error. Rejects only with what `onFault` throws. */
export async function invokeOr<Input, Output extends object, Result = Output>(
  port: Port<Input, Output>,
  invocation: Invocation<Input>,
  { onOutput, onFault, clock }: Outcomes<Output, Result>,
): Promise<Output | Result> {
  let output: Output;
  // In the same words as `invoke`, which it would have to wait for.
  try {
    const { input, signal } = invocation;
    output = takeReply(
      port,
      await port.transport.exchange(port.codec.encode(input), signal, clock),
      invocation,
    );
  } catch (error) {
    return onFault(toFault(scrubError(toRuntimeError(error), port.scrubber ?? noopScrubber)));
  }
  if (onOutput === undefined) return output;
  try {
    return onOutput(output);
  } catch (error) {
    return onFault(toFault(error));
  }
}

function takeReply<Input, Output extends object>(
  { binding, codec, emit, scrubber = noopScrubber }: Port<Input, Output>,
  reply: Reply,
  { input, onReply }: Invocation<Input>,
): Output {
  onReply?.(reply);
  const { output, notes } = readReply(reply, scrubber, (given) => codec.decode(given, input));
  for (const { level, message } of notes) emit({ type: 'note', name: binding.name, level, message });
  return output;
}

/** A call whose start has been emitted. */
export interface TrackedCall {
  /** Runs a part of the call; the queues that it enters anywhere count as those of the call. */
  run<Result>(work: () => Result): Result;
  /** Hears of the queues of the call. */
  readonly clock: QueueClock;
  /** Emits the call's end, and returns how long it took, in whole milliseconds. */
  finish(end: {
    readonly status: string;
    readonly error?: { readonly code: string; readonly message: string } | undefined;
  }): Timing;
}

/** Emits `call.started` now, and `call.finished` when `finish` is called. */
export function trackCall(
  emit: Emit,
  capability: Capability,
  { name, call }: { readonly name: string; readonly call: string },
): TrackedCall {
  const watch = startStopwatch();
  emit({ type: 'call.started', capability, name, call });
  return {
    run: (work) => watch.run(work),
    clock: watch,
    finish: ({ status, error }) => {
      const took = wholeMs(watch.read());
      emit({ type: 'call.finished', capability, name, call, status, ...took, ...(error && { error }) });
      return took;
    },
  };
}
