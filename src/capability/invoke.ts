import type { Binding } from '../binding/binding.ts';
import type { Capability, Emit } from '../contract/event.ts';
import { toRuntimeError } from '../errors.ts';
import type { Codec } from '../protocol/dialect.ts';
import type { Reply, Transport } from '../transport/transport.ts';

/** A bound entry that can be asked: where to send, how to say it, and whom to tell. */
export interface Port<Input, Output> {
  readonly binding: Binding;
  readonly transport: Transport;
  readonly codec: Codec<Input, Output>;
  readonly emit: Emit;
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
export async function invoke<Input, Output>(
  port: Port<Input, Output>,
  { input, signal, onReply }: Invocation<Input>,
): Promise<Output> {
  try {
    const reply = await port.transport.exchange(port.codec.encode(input), signal);
    onReply?.(reply);
    const { output, notes } = port.codec.decode(reply, input);
    for (const { level, message } of notes) {
      port.emit({ type: 'note', name: port.binding.name, level, message });
    }
    return output;
  } catch (error) {
    throw toRuntimeError(error);
  }
}

/** Tells of a call's start now and of its end when the returned function is called with its outcome. */
export function announce(
  emit: Emit,
  capability: Capability,
  { name, call }: { readonly name: string; readonly call: string },
): (end: {
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}) => number {
  const startedAt = performance.now();
  emit({ type: 'call.started', capability, name, call });
  return ({ status, error }) => {
    const durationMs = Math.round(performance.now() - startedAt);
    emit({ type: 'call.finished', capability, name, call, status, durationMs, ...(error && { error }) });
    return durationMs;
  };
}
