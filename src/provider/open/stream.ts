import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Clock } from './clock.ts';
import { failedWith, type Peer, toFailure } from './failure.ts';

interface Surroundings {
  readonly clock: Clock;
  readonly peer: Peer;
}

/**
 * Waits until a stream has begun to answer and gives it on. What is given ends with `finish`, or with one `error`
 * part if the stream breaks off, is silent for too long, or ends unfinished. Tool calls are held back, with all
 * that follows them, until `finish`: nobody acts upon half an answer. Throws what happens before the first part.
 */
export async function settleStream(
  source: ReadableStream<LanguageModelV4StreamPart>,
  surroundings: Surroundings,
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const flow = newFlow(source, surroundings);
  try {
    while (isPreamble(await flow.readOn()));
  } catch (thrown) {
    flow.drop();
    throw thrown;
  }
  surroundings.clock.pause();
  const end = () => {
    surroundings.clock.end();
    flow.drop();
  };
  const pull = async (controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>) => {
    const part = await flow.next();
    controller.enqueue(part);
    if (part.type !== 'finish' && part.type !== 'error') return;
    end();
    controller.close();
  };
  return new ReadableStream({ pull, cancel: end }, { highWaterMark: 0 });
}

interface Flow {
  /** Reads a part in the time that is left. Throws what makes the stream fail, its end included. */
  readOn(): Promise<LanguageModelV4StreamPart | undefined>;
  /** The next part that may be given on; an `error` part for what makes the stream fail. Never rejects. */
  next(): Promise<LanguageModelV4StreamPart>;
  /** Lets the source go. */
  drop(): void;
}

function newFlow(source: ReadableStream<LanguageModelV4StreamPart>, { clock, peer }: Surroundings): Flow {
  const reader = source.getReader();
  const sieve = newSieve(peer.id);
  const ready: LanguageModelV4StreamPart[] = [];
  const readOn = async () => {
    const { value } = await clock.race(reader.read());
    ready.push(...sieve.pass(value));
    return value;
  };
  const next = async (): Promise<LanguageModelV4StreamPart> => {
    try {
      for (;;) {
        const part = ready.shift();
        if (part !== undefined) return part;
        clock.restart();
        await readOn();
        clock.pause();
      }
    } catch (thrown) {
      const error: unknown = clock.signal.aborted ? clock.signal.reason : toFailure(thrown, peer);
      return { type: 'error', error };
    }
  };
  return { readOn, next, drop: () => void reader.cancel().catch(() => {}) };
}

/** Throws PROVIDER_FAILED for an answer that its API itself calls a failure, or never called complete. */
export function requireFinished({ unified, raw }: LanguageModelV4FinishReason, id: string): void {
  if (unified === 'interrupted') throw unfinished(id);
  if (unified !== 'error') return;
  const message = `the answer ended with the finish reason ${raw ?? 'error'}`;
  throw failedWith(id, { message });
}

function unfinished(id: string): Error {
  return failedWith(id, { message: 'the answer broke off before it was complete', retryable: true });
}

interface Sieve {
  /** The parts that may be given on now; undefined is the end. Throws what makes the stream fail. */
  pass(part: LanguageModelV4StreamPart | undefined): readonly LanguageModelV4StreamPart[];
}

function newSieve(id: string): Sieve {
  let held: LanguageModelV4StreamPart[] | undefined;
  return {
    pass: (part) => {
      if (part === undefined) throw unfinished(id);
      if (part.type === 'error') throw saysUnfinished(part.error) ? unfinished(id) : part.error;
      if (part.type === 'finish') {
        requireStreamFinished(part.finishReason, id);
        return [...(held ?? []), part];
      }
      if (part.type === 'tool-call') held ??= [];
      if (held === undefined) return [part];
      held.push(part);
      return [];
    },
  };
}

/** One package has an error of its own for a stream without a finish reason. */
function saysUnfinished(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'AI_InvalidResponseDataError' &&
    'data' in error &&
    error.data === undefined
  );
}

/** Where the wire never said why the answer ended, the packages give `other` without the API's own word. */
function requireStreamFinished(finishReason: LanguageModelV4FinishReason, id: string): void {
  requireFinished(finishReason, id);
  if (finishReason.unified === 'other' && finishReason.raw === undefined) throw unfinished(id);
}

/** What comes before the answer itself: a stream that breaks off here has delivered nothing. */
function isPreamble(part: LanguageModelV4StreamPart | undefined): boolean {
  if (part === undefined) return false;
  return preamble.has(part.type) || ('delta' in part && part.delta === '');
}

const preamble: ReadonlySet<LanguageModelV4StreamPart['type']> = new Set([
  'stream-start',
  'response-metadata',
  'raw',
  'ping',
  'custom',
  'text-start',
  'text-end',
  'reasoning-start',
  'reasoning-end',
]);
