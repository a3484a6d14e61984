import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { unknownUsage } from './decision-report.ts';
import type { StreamEnd } from './output-stream.ts';
import type { UniqueToolCallIds } from './unique-tool-call-ids.ts';
import { knownUsage } from './usage.ts';

type Part = LanguageModelV4StreamPart;

/** The next event of a model's stream. */
type UpstreamEvent =
  /** A part without answer content, which may pass at once. */
  | { readonly kind: 'free'; readonly part: Part }
  /** A part of the answer. */
  | { readonly kind: 'held'; readonly part: Part }
  /** The answer is complete, or the stream has ended as if it were. */
  | { readonly kind: 'finished'; readonly end: StreamEnd }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A model's stream that can be abandoned at any moment. */
export interface Upstream {
  /** Never rejects. Skips raw chunks, which hold the answer unfiltered. */
  next(): Promise<UpstreamEvent>;
  /** Reads the stream to its end, so that its other transforms finish. Never rejects. */
  drain(): Promise<void>;
  /** Aborts the model call and cancels the stream. */
  abandon(reason: unknown): void;
}

/**
 * Reads a stream; `stop` ends the signal that its model was called with. Tool call ids are made unique,
 * and uncounted zeros are removed from the usage.
 */
export function openUpstream(
  stream: ReadableStream<Part>,
  stop: AbortController,
  calls: UniqueToolCallIds,
): Upstream {
  const reader = stream.getReader();
  const next = async (): Promise<UpstreamEvent> => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return { kind: 'finished', end: interruptedEnd };
        if (value.type !== 'raw') return toUpstreamEvent(calls.part(value));
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
        // The answer was complete, so a later error of its stream does not matter.
      }
    },
    abandon: (reason) => {
      stop.abort(reason);
      // A stream that has failed rejects its cancellation too.
      reader.cancel(reason).catch(() => {});
    },
  };
}

/** The end of an answer that was cut off. */
export const interruptedEnd: StreamEnd = {
  finishReason: { unified: 'interrupted', raw: undefined },
  usage: unknownUsage,
};

function toUpstreamEvent(part: Part): UpstreamEvent {
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
