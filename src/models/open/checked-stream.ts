import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createProviderError, type Peer, toProviderError } from '../provider-error.ts';
import type { CallDeadline } from './call-deadline.ts';

interface StreamContext {
  readonly deadline: CallDeadline;
  readonly peer: Peer;
}

/**
 * Waits until a stream has begun to answer and gives it on. What is given ends with `finish`, or with one
 * `error` part if the stream breaks off, is silent for too long, or ends unfinished. Tool calls are held
 * back, with all that follows them, until `finish`, so that callers never act upon an incomplete answer.
 * Throws what happens before the first part.
 */
export async function openCheckedStream(
  source: ReadableStream<LanguageModelV4StreamPart>,
  context: StreamContext,
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const reader = createStreamReader(source, context);
  try {
    while (isPreamble(await reader.readPart()));
  } catch (thrown) {
    reader.cancel();
    throw thrown;
  }
  context.deadline.pause();
  const end = () => {
    context.deadline.end();
    reader.cancel();
  };
  const pull = async (controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>) => {
    const part = await reader.next();
    controller.enqueue(part);
    if (part.type !== 'finish' && part.type !== 'error') return;
    end();
    controller.close();
  };
  return new ReadableStream({ pull, cancel: end }, { highWaterMark: 0 });
}

interface StreamReader {
  /** Reads a part within the remaining time. Throws what makes the stream fail, an early end included. */
  readPart(): Promise<LanguageModelV4StreamPart | undefined>;
  /** The next part for the consumer; an `error` part when the stream fails. Never rejects. */
  next(): Promise<LanguageModelV4StreamPart>;
  /** Cancels the source. */
  cancel(): void;
}

function createStreamReader(
  source: ReadableStream<LanguageModelV4StreamPart>,
  { deadline, peer }: StreamContext,
): StreamReader {
  const reader = source.getReader();
  const filter = createPartFilter(peer.id);
  const ready: LanguageModelV4StreamPart[] = [];
  const readOn = async () => {
    const { value } = await deadline.race(reader.read());
    ready.push(...filter.accept(value));
    return value;
  };
  const next = async (): Promise<LanguageModelV4StreamPart> => {
    try {
      for (;;) {
        const part = ready.shift();
        if (part !== undefined) return part;
        deadline.restart();
        await readOn();
        deadline.pause();
      }
    } catch (thrown) {
      const error: unknown = deadline.signal.aborted ? deadline.signal.reason : toProviderError(thrown, peer);
      return { type: 'error', error };
    }
  };
  return { readPart: readOn, next, cancel: () => void reader.cancel().catch(() => {}) };
}

/** Throws PROVIDER_FAILED when the finish reason says that the answer failed or was interrupted. */
export function requireFinished({ unified, raw }: LanguageModelV4FinishReason, id: string): void {
  if (unified === 'interrupted') throw unfinishedError(id);
  if (unified !== 'error') return;
  const message = `the answer ended with the finish reason ${raw ?? 'error'}`;
  throw createProviderError(id, { message });
}

function unfinishedError(id: string): Error {
  return createProviderError(id, { message: 'the answer broke off before it was complete', retryable: true });
}

interface PartFilter {
  /**
   * Takes a part, or undefined for the end; returns the parts that may pass now. Throws when the stream
   * fails.
   */
  accept(part: LanguageModelV4StreamPart | undefined): readonly LanguageModelV4StreamPart[];
}

function createPartFilter(id: string): PartFilter {
  let held: LanguageModelV4StreamPart[] | undefined;
  return {
    accept: (part) => {
      if (part === undefined) throw unfinishedError(id);
      if (part.type === 'error') throw saysUnfinished(part.error) ? unfinishedError(id) : part.error;
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

/**
 * Throws as `requireFinished`, and when the API gave no finish reason: packages then give `other` without
 * `raw`.
 */
function requireStreamFinished(finishReason: LanguageModelV4FinishReason, id: string): void {
  requireFinished(finishReason, id);
  if (finishReason.unified === 'other' && finishReason.raw === undefined) throw unfinishedError(id);
}

/** What comes before the answer itself: a stream that breaks off here has delivered nothing. */
function isPreamble(part: LanguageModelV4StreamPart | undefined): boolean {
  if (part === undefined) return false;
  return preambleTypes.has(part.type) || ('delta' in part && part.delta === '');
}

const preambleTypes: ReadonlySet<LanguageModelV4StreamPart['type']> = new Set([
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
