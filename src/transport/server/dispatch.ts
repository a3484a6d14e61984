import type { Binding } from '../../binding/binding.ts';
import { RuntimeError } from '../../errors.ts';
import { startDeadline } from '../deadline.ts';
import { settle } from '../settle.ts';
import type { Greeting, Message } from '../transport.ts';
import type { InFlight, Session } from './session.ts';

/** A message on its way to a server. */
export interface Errand<Outcome> {
  readonly message: Message;
  readonly signal: AbortSignal | undefined;
  readonly send: (session: Session) => InFlight<Outcome>;
  /** What is said once its time is up. */
  readonly expiry?: ((timeoutMs: number) => RuntimeError) | undefined;
}

interface Server {
  readonly binding: Binding;
  readonly greeting: Greeting | undefined;
}

/**
 * Sends the message once there is a session. Its limit covers the start as well, but not a greeting: with one, it
 * counts from when the server is ready.
 */
export async function run<Outcome>(
  errand: Errand<Outcome>,
  session: Promise<Session>,
  { binding, greeting }: Server,
): Promise<Outcome> {
  const { name } = binding;
  const { message, signal, send, expiry } = errand;
  const timeoutMs = message.timeoutMs ?? binding.timeoutMs;
  const greeted =
    greeting &&
    (await untilReady(session, { name, signal, timeoutMs: timeoutMs + limitOf(greeting, binding) }));
  const deadline = startDeadline({ name, timeoutMs, signal, expiry });
  try {
    return await settle(send(greeted ?? (await Promise.race([session, deadline.expired]))), deadline);
  } finally {
    deadline.clear();
  }
}

function limitOf({ message }: Greeting, binding: Binding): number {
  return message.timeoutMs ?? binding.timeoutMs;
}

/** A server that is not ready in time has not started, which is another thing than not to answer. */
async function untilReady(
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
  const ready = startDeadline({ ...limit, expiry });
  try {
    return await Promise.race([session, ready.expired]);
  } finally {
    ready.clear();
  }
}
