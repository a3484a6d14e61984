import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { StreamCollector } from './collect.ts';
import { type End, streamContent } from './output.ts';
import { endFailed, endReleased, endWithheld, judgeCollected, type Passage } from './passage.ts';

type Part = LanguageModelV4StreamPart;

/** Holds an answer back until after_call has judged the whole of it. */
export async function* holdAnswer(passage: Passage): AsyncGenerator<Part> {
  const { upstream } = passage;
  const collector = new StreamCollector();
  for (;;) {
    const arrival = await upstream.next();
    if (arrival.kind === 'free') yield arrival.part;
    else if (arrival.kind === 'held') collector.add(arrival.part);
    else if (arrival.kind === 'failed') return yield* endFailed(passage, arrival.error);
    else {
      yield* release(passage, collector, arrival.end);
      return await upstream.drain();
    }
  }
}

async function* release(passage: Passage, collector: StreamCollector, end: End): AsyncGenerator<Part> {
  const judgement = await judgeCollected(passage, collector, end);
  const decisions = { before: passage.admitted.decision, after: judgement.decision };
  if (judgement.kind === 'refuse' || judgement.kind === 'answer') {
    passage.signal.throwIfAborted();
    return yield* endWithheld(judgement, decisions, end.usage);
  }
  const parts = judgement.kind === 'same' ? collector.parts() : streamContent(judgement.content);
  yield* endReleased(passage, judgement, { parts, end, decisions });
}
