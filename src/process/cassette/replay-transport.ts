import { RuntimeError } from '../../base/errors.ts';
import { abortedError } from '../../base/time/deadline.ts';
import type { Redact } from '../../contract/scrub.ts';
import { closedError } from '../oneshot.ts';
import type { Message, Reply, Transport } from '../transport.ts';
import type { CassetteIndex } from './cassette-index.ts';
import { describeRequest, digestRequest, type Entry } from './recorded-request.ts';
import { explainMiss } from './replay-miss.ts';
import { outcomeFromStored } from './stored-outcome.ts';

export interface ReplayTransportContext {
  readonly index: CassetteIndex;
  readonly redact: Redact;
  /** Called for each request that was not found. */
  readonly onMiss: () => void;
}

/** A transport that answers from a cassette and starts nothing. Its exchanges reject as the recorded ones, and with REPLAY_MISS. */
export function createReplayTransport(binding: Entry, context: ReplayTransportContext): Transport {
  let isClosed = false;
  const throwIfEnded = (signal: AbortSignal | undefined) => {
    if (isClosed) throw closedError(binding.name);
    if (signal?.aborted) throw abortedError(binding.name, signal);
  };
  return {
    exchange: async (message, signal) => {
      throwIfEnded(signal);
      const reply = await answer(binding, message, context);
      if (signal?.aborted) throw abortedError(binding.name, signal);
      return reply;
    },
    // Nothing was recorded of it, since nothing came back.
    ...(binding.mode === 'server' && { notify: async (_, signal) => throwIfEnded(signal) }),
    warm: () => {},
    close: async () => {
      isClosed = true;
    },
  };
}

async function answer(
  binding: Entry,
  message: Message,
  { index, redact, onMiss }: ReplayTransportContext,
): Promise<Reply> {
  const request = describeRequest(binding, message, redact);
  const key = digestRequest(request);
  const line = await index.take(key);
  if (line === undefined) {
    onMiss();
    throw await explainMiss(request, index);
  }
  const reply = await outcomeFromStored(line, index.readBlob);
  if (reply !== undefined) return reply;
  throw new RuntimeError('FILE_UNREADABLE', `the cassette’s exchange ${key} has no reply`);
}
