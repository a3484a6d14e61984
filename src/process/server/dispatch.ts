import { RuntimeError } from '../../base/errors.ts';
import { startDeadline } from '../../base/time/deadline.ts';
import type { Binding } from '../binding.ts';
import type { Handshake, Message } from '../transport.ts';
import { awaitOutcome } from './in-flight.ts';
import type { InFlight, Session } from './session.ts';

/** A message to a server, and how a session sends it. */
export interface Dispatch<Outcome> {
  readonly message: Message;
  readonly signal: AbortSignal | undefined;
  readonly send: (session: Session) => InFlight<Outcome>;
  /** Makes the error for an expired limit; default: PROCESS_TIMEOUT. */
  readonly createError?: ((timeoutMs: number) => RuntimeError) | undefined;
}

interface DispatchTarget {
  readonly binding: Binding;
  readonly handshake: Handshake | undefined;
}

/**
 * Sends the message once there is a session and returns its outcome. The time limit covers the start of the
 * server; with a handshake it counts from when the server is ready. Rejects with PROCESS_START when it is not
 * ready in time.
 */
export async function dispatch<Outcome>(
  request: Dispatch<Outcome>,
  session: Promise<Session>,
  { binding, handshake }: DispatchTarget,
): Promise<Outcome> {
  const { name } = binding;
  const { message, signal, send, createError } = request;
  const timeoutMs = message.timeoutMs ?? binding.timeoutMs;
  const readySession =
    handshake &&
    (await waitUntilReady(session, {
      name,
      signal,
      timeoutMs: timeoutMs + handshakeTimeoutMs(handshake, binding),
    }));
  const deadline = startDeadline({ name, timeoutMs, signal, createError });
  try {
    return await awaitOutcome(
      send(readySession ?? (await Promise.race([session, deadline.expired]))),
      deadline,
    );
  } finally {
    deadline.clear();
  }
}

function handshakeTimeoutMs({ message }: Handshake, binding: Binding): number {
  return message.timeoutMs ?? binding.timeoutMs;
}

/**
 * The session, once its handshake is done. Rejects with PROCESS_START, not PROCESS_TIMEOUT, when it is late.
 */
async function waitUntilReady(
  session: Promise<Session>,
  limit: { readonly name: string; readonly signal: AbortSignal | undefined; readonly timeoutMs: number },
): Promise<Session> {
  const expiry = (timeoutMs: number) =>
    new RuntimeError(
      'PROCESS_START',
      `"${limit.name}" could not be started: it was not ready within ${timeoutMs} ms`,
      {
        details: { stage: 'start' },
      },
    );
  const ready = startDeadline({ ...limit, createError: expiry });
  try {
    return await Promise.race([session, ready.expired]);
  } finally {
    ready.clear();
  }
}
