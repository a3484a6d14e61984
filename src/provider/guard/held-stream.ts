import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import {
  endFailed,
  endReleased,
  endWithheld,
  type GuardedStream,
  runAfterCallOnCollected,
} from './guarded-stream.ts';
import { type StreamEnd, streamContent } from './output-stream.ts';
import { StreamCollector } from './stream-collector.ts';

type Part = LanguageModelV4StreamPart;

/** Streams an answer once the after_call hooks have seen the whole of it. */
export async function* streamHeldAnswer(stream: GuardedStream): AsyncGenerator<Part> {
  const { upstream } = stream;
  const collector = new StreamCollector();
  for (;;) {
    const event = await upstream.next();
    if (event.kind === 'free') yield event.part;
    else if (event.kind === 'held') collector.add(event.part);
    else if (event.kind === 'failed') return yield* endFailed(stream, event.error);
    else {
      yield* releaseAnswer(stream, collector, event.end);
      return await upstream.drain();
    }
  }
}

async function* releaseAnswer(
  stream: GuardedStream,
  collector: StreamCollector,
  end: StreamEnd,
): AsyncGenerator<Part> {
  const outcome = await runAfterCallOnCollected(stream, collector, end);
  const decisions = { before: stream.admitted.decision, after: outcome.decision };
  if (outcome.kind === 'refuse' || outcome.kind === 'answer') {
    stream.signal.throwIfAborted();
    return yield* endWithheld(outcome, decisions, end.usage);
  }
  const parts = outcome.kind === 'same' ? collector.parts() : streamContent(outcome.content);
  yield* endReleased(stream, outcome, { parts, end, decisions });
}
