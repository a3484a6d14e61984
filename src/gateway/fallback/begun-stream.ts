import { startTimer } from '../../base/time/deadline.ts';
import type { HeldShare } from '../stream/held-bytes.ts';
import { upstreamTimeout } from '../upstream/failures.ts';
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import { SseParser } from '../wire/sse-parser.ts';
import { tellingOf } from './telling.ts';
import { UpstreamFault } from './upstream-fault.ts';

interface BeginOptions {
  readonly provider: string;
  /** Counts what is held until the answer has begun. */
  readonly held: HeldShare;
  readonly signal: AbortSignal;
  /** Of one event. */
  readonly maxChars: number;
  /** How long the answer may take to begin. */
  readonly timeoutMs: number;
}

/**
 * Waits for the first event that tells something of an answer; then its bytes, those that came before it among them. Throws
 * UpstreamFault where the upstream tells that it is overloaded or ends, RefusedCall where it breaks off or is late.
 */
export async function beginStream(
  { body }: Pick<UpstreamAnswer, 'body'>,
  options: BeginOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const pieces = body[Symbol.asyncIterator]();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const { timeoutMs, provider, signal } = options;
  const timer = startTimer({ timeoutMs, signal }, (cause) =>
    reject(cause === 'abort' ? signal.reason : upstreamTimeout(provider)),
  );
  try {
    const before = await Promise.race([readUntilBegun(pieces, options), late]);
    return resume(before, pieces);
  } finally {
    timer.clear();
  }
}

async function readUntilBegun(
  pieces: AsyncIterator<Uint8Array>,
  { provider, held, maxChars }: BeginOptions,
): Promise<readonly Uint8Array[]> {
  const parser = new SseParser(maxChars);
  const before: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await pieces.next();
    if (done === true)
      throw new UpstreamFault(`Provider "${provider}" ended its answer before it had begun.`);
    held.add(value.length);
    before.push(value);
    for (const event of parser.push(value)) {
      const telling = tellingOf(event);
      if (telling === 'answer') return before;
      if (telling === 'fault') throw new UpstreamFault(`Provider "${provider}" told an error of its own.`);
    }
  }
}

async function* resume(
  before: readonly Uint8Array[],
  pieces: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* before;
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value;
  } finally {
    await pieces.return?.();
  }
}
