import type { Binding } from '../binding/binding.ts';
import type { Capability, Emit } from '../contract/event.ts';
import { noScrub, type Scrubber, scrubError } from '../contract/scrub.ts';
import type { Codec } from '../dialects/dialect.ts';
import { toRuntimeError } from '../errors.ts';
import { startStopwatch, type Took, wholeMs } from '../time/stopwatch.ts';
import type { Reply, Transport } from '../transport/transport.ts';
import { readReply } from './read-reply.ts';

/** A bound entry that can be asked: where to send, how to say it, and whom to tell. */
export interface Port<Input, Output> {
  readonly binding: Binding;
  readonly transport: Transport;
  readonly codec: Codec<Input, Output>;
  readonly emit: Emit;
  /** What is said of a reply passes it; what a reply gives does not. */
  readonly scrubber?: Scrubber | undefined;
}

/** One question to one entry. */
export interface Invocation<Input> {
  readonly input: Input;
  /** Names the call in events. */
  readonly call: string;
  readonly signal?: AbortSignal | undefined;
  /** Told the reply before it is decoded. */
  readonly onReply?: ((reply: Reply) => void) | undefined;
}

/** Encode, exchange, decode: the one place where a codec meets a transport. Throws RuntimeError only. */
export async function invoke<Input, Output extends object>(
  port: Port<Input, Output>,
  { input, signal, onReply }: Invocation<Input>,
): Promise<Output> {
  const { scrubber = noScrub } = port;
  try {
    const reply = await port.transport.exchange(port.codec.encode(input), signal);
    onReply?.(reply);
    const { output, notes } = readReply(reply, scrubber, (given) => port.codec.decode(given, input));
    for (const { level, message } of notes) {
      port.emit({ type: 'note', name: port.binding.name, level, message });
    }
    return output;
  } catch (error) {
    throw scrubError(toRuntimeError(error), scrubber);
  }
}

/** A call that has been told of. */
export interface Announced {
  /** Does the work of the call, which is measured. */
  run<Result>(work: () => Result): Result;
  /** Tells of the call's end, and gives how long it took, in whole milliseconds. */
  finish(end: {
    readonly status: string;
    readonly error?: { readonly code: string; readonly message: string } | undefined;
  }): Took;
}

/** Tells of a call's start now, and of its end when it is finished. */
export function announce(
  emit: Emit,
  capability: Capability,
  { name, call }: { readonly name: string; readonly call: string },
): Announced {
  const watch = startStopwatch();
  emit({ type: 'call.started', capability, name, call });
  return {
    run: watch.run,
    finish: ({ status, error }) => {
      const took = wholeMs(watch.read());
      emit({ type: 'call.finished', capability, name, call, status, ...took, ...(error && { error }) });
      return took;
    },
  };
}
