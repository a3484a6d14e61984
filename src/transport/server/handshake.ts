import type { Binding } from '../../binding/binding.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import { startDeadline } from '../deadline.ts';
import { closedError } from '../oneshot.ts';
import { settle } from '../settle.ts';
import type { Greeting, Reply } from '../transport.ts';
import type { Session } from './session.ts';

/**
 * Sends the greeting to a server that has been asked nothing yet. Rejects with what `check` has against it, stage
 * `hello`, once its group is killed; with RUNTIME_CLOSED, leaving it alone, once `closing` is aborted.
 */
export async function greet(
  session: Session,
  greeting: Greeting,
  { binding, closing }: { readonly binding: Binding; readonly closing: AbortSignal },
): Promise<void> {
  const outcome = await hear(session, greeting, { binding, closing }).catch((thrown) =>
    toRuntimeError(thrown),
  );
  if (closing.aborted) throw closedError(binding.name);
  const refusal = findRefusal(greeting, outcome);
  if (refusal === undefined) return;
  session.process.killGroup();
  throw atStage(refusal, 'hello');
}

async function hear(
  session: Session,
  { message }: Greeting,
  { binding, closing }: { readonly binding: Binding; readonly closing: AbortSignal },
): Promise<Reply> {
  const { name } = binding;
  const timeoutMs = message.timeoutMs ?? binding.timeoutMs;
  const expiry = () =>
    new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not answer its greeting within ${timeoutMs} ms`);
  const deadline = startDeadline({ name, timeoutMs, signal: closing, expiry });
  try {
    return await settle(session.request(message), deadline);
  } finally {
    deadline.clear();
  }
}

/** What did not answer cannot be used, whatever is thought of it; an odd answer is for the check to judge. */
function findRefusal({ check }: Greeting, outcome: Reply | RuntimeError): RuntimeError | undefined {
  try {
    return check(outcome) ?? (isSilence(outcome) ? outcome : undefined);
  } catch (thrown) {
    return toRuntimeError(thrown);
  }
}

function isSilence(outcome: Reply | RuntimeError): outcome is RuntimeError {
  return outcome instanceof RuntimeError && outcome.code !== 'REPLY_MALFORMED';
}

/** The error with the stage of a server's life at which it came. */
export function atStage(error: RuntimeError, stage: 'start' | 'hello'): RuntimeError {
  const { code, message, hint, details } = error;
  return new RuntimeError(code, message, { hint, details: { ...details, stage }, cause: error });
}
