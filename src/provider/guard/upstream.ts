import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { DistinctCalls } from './distinct-calls.ts';
import type { End } from './output.ts';
import { unknownUsage } from './report.ts';
import { knownUsage } from './usage.ts';

type Part = LanguageModelV4StreamPart;

/** What a model's stream brings next. */
export type Arrival =
  /** A part that tells nothing of the answer. */
  | { readonly kind: 'free'; readonly part: Part }
  /** A part of the answer. */
  | { readonly kind: 'held'; readonly part: Part }
  /** The answer is complete, or the stream has ended as if it were. */
  | { readonly kind: 'finished'; readonly end: End }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A model's stream that can be left at any moment. */
export interface Upstream {
  /** Never rejects. Raw chunks are the answer unread, and do not arrive. */
  next(): Promise<Arrival>;
  /** Reads on to the end of the stream, so that whoever stands in it sees it through. Never rejects. */
  drain(): Promise<void>;
  /** Tells the model that nobody listens any more; what is awaited of it ends. */
  leave(reason: unknown): void;
}

/**
 * Reads a stream; `stop` ends the signal that its model was called with. Calls have ids of their own, and zeros
 * that nobody counted are no usage.
 */
export function openUpstream(
  stream: ReadableStream<Part>,
  stop: AbortController,
  calls: DistinctCalls,
): Upstream {
  const reader = stream.getReader();
  const next = async (): Promise<Arrival> => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return { kind: 'finished', end: interrupted };
        if (value.type !== 'raw') return toArrival(calls.part(value));
      }
    } catch (error) {
      return { kind: 'failed', error };
    }
  };
  return {
    next,
    drain: async () => {
      try {
        while (!(await reader.read()).done);
      } catch {
        // The answer was complete: what its stream does afterwards is nobody's concern.
      }
    },
    leave: (reason) => {
      stop.abort(reason);
      // A stream that has failed rejects its cancellation too.
      reader.cancel(reason).catch(() => {});
    },
  };
}

/** The end of an answer that was cut off. */
export const interrupted: End = {
  finishReason: { unified: 'interrupted', raw: undefined },
  usage: unknownUsage,
};

function toArrival(part: Part): Arrival {
  switch (part.type) {
    case 'stream-start':
    case 'response-metadata':
    case 'ping':
      return { kind: 'free', part };
    case 'finish': {
      const { type: _, usage, ...end } = part;
      return { kind: 'finished', end: { ...end, usage: knownUsage(usage) } };
    }
    case 'error':
      return { kind: 'failed', error: part.error };
    default:
      return { kind: 'held', part };
  }
}
