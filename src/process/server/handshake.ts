import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { startDeadline } from '../../base/time/deadline.ts';
import type { Binding } from '../binding.ts';
import { closedError } from '../oneshot.ts';
import type { Handshake, Reply } from '../transport.ts';
import { awaitOutcome } from './in-flight.ts';
import type { Session } from './session.ts';

/**
 * Performs the handshake with a server that has received nothing yet. When `check` refuses it, kills its
 * process group and rejects with that error, stage `hello`; rejects with RUNTIME_CLOSED, without killing,
 * once `closing` is aborted.
 */
export async function performHandshake(
  session: Session,
  handshake: Handshake,
  { binding, closing }: { readonly binding: Binding; readonly closing: AbortSignal },
): Promise<void> {
  const outcome = await requestHandshake(session, handshake, { binding, closing }).catch((thrown) =>
    toRuntimeError(thrown),
  );
  if (closing.aborted) throw closedError(binding.name);
  const refusal = findRefusal(handshake, outcome);
  if (refusal === undefined) return;
  session.process.killGroup();
  throw withStage(refusal, 'hello');
}

async function requestHandshake(
  session: Session,
  { message }: Handshake,
  { binding, closing }: { readonly binding: Binding; readonly closing: AbortSignal },
): Promise<Reply> {
  const { name } = binding;
  const timeoutMs = message.timeoutMs ?? binding.timeoutMs;
  const createError = () =>
    new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not answer its greeting within ${timeoutMs} ms`);
  const deadline = startDeadline({ name, timeoutMs, signal: closing, createError });
  try {
    return await awaitOutcome(session.request(message), deadline);
  } finally {
    deadline.clear();
  }
}

/**
 * The error that refuses the server, if any: that of `check`, else a missing reply; `check` sees malformed
 * ones.
 */
function findRefusal({ check }: Handshake, outcome: Reply | RuntimeError): RuntimeError | undefined {
  try {
    return check(outcome) ?? (isNoReply(outcome) ? outcome : undefined);
  } catch (thrown) {
    return toRuntimeError(thrown);
  }
}

function isNoReply(outcome: Reply | RuntimeError): outcome is RuntimeError {
  return outcome instanceof RuntimeError && outcome.code !== 'REPLY_MALFORMED';
}

/** The error with the stage of a server's life at which it came. */
export function withStage(error: RuntimeError, stage: 'start' | 'hello'): RuntimeError {
  const { code, message, hint, details } = error;
  return new RuntimeError(code, message, { hint, details: { ...details, stage }, cause: error });
}
