import { RuntimeError } from '../errors.ts';
import { abortedError } from '../transport/deadline.ts';
import { closedError } from '../transport/oneshot.ts';
import type { Message, Reply, Transport } from '../transport/transport.ts';
import type { Library } from './index.ts';
import { explainMiss } from './miss.ts';
import { outcomeFromStored } from './outcome.ts';
import { describeRequest, digestRequest, type Entry, type Redact } from './request.ts';

export interface ReplayContext {
  readonly library: Library;
  readonly redact: Redact;
  /** Told of each request that was not found. */
  readonly onMiss: () => void;
}

/** A transport that answers from a cassette and starts nothing. Its exchanges reject as the recorded ones, and with REPLAY_MISS. */
export function replayTransport(binding: Entry, context: ReplayContext): Transport {
  let isClosed = false;
  const requireWanted = (signal: AbortSignal | undefined) => {
    if (isClosed) throw closedError(binding.name);
    if (signal?.aborted) throw abortedError(binding.name, signal);
  };
  return {
    exchange: async (message, signal) => {
      requireWanted(signal);
      const reply = await answer(binding, message, context);
      if (signal?.aborted) throw abortedError(binding.name, signal);
      return reply;
    },
    // Nothing was recorded of it, since nothing came back.
    ...(binding.mode === 'server' && { notify: async (_, signal) => requireWanted(signal) }),
    warm: () => {},
    close: async () => {
      isClosed = true;
    },
  };
}

async function answer(
  binding: Entry,
  message: Message,
  { library, redact, onMiss }: ReplayContext,
): Promise<Reply> {
  const request = describeRequest(binding, message, redact);
  const key = digestRequest(request);
  const line = await library.take(key);
  if (line === undefined) {
    onMiss();
    throw await explainMiss(request, library);
  }
  const reply = await outcomeFromStored(line, library.fetch);
  if (reply !== undefined) return reply;
  throw new RuntimeError('FILE_UNREADABLE', `the cassette’s exchange ${key} has no reply`);
}
