import { type Fault, RuntimeError, toFault } from '../../errors.ts';
import { startStopwatch, wholeMs } from '../../time/stopwatch.ts';
import type { Subject } from '../file/model.ts';
import { retryFaults } from '../score/retry.ts';
import type { Answer, AskedSubject, SubjectRunner } from './answer.ts';
import { openCache } from './cache.ts';
import { openChat } from './chat.ts';
import { openPipeline } from './pipeline.ts';
import { nothing, type Question, type Source, type SubjectContext } from './source.ts';
import { openTool } from './tool.ts';

/** What makes the answers of a suite. Throws CONFIG_INVALID, FILE_UNREADABLE, NAME_UNKNOWN. */
export function openSubject(subject: Subject, context: SubjectContext): SubjectRunner {
  const source = openSource(subject, context);
  const cache = context.cache && openCache(context.cache, source, context.replay);
  return {
    answer: async ({ scope, epoch, signal }) => {
      const question = prepare(source, scope);
      if ('error' in question) return { ...unasked, ...question };
      const place = cache?.at(question, epoch);
      const kept = place?.find();
      if (kept !== undefined) return { ...unasked, ...kept, cached: true };
      const answer = await ask(question, { retries: context.retries, signal });
      if (answer.error === undefined) place?.keep(answer);
      return answer;
    },
  };
}

function openSource(subject: Subject, context: SubjectContext): Source {
  switch (subject.kind) {
    case 'tool':
      return openTool(subject, context);
    case 'chat':
      return openChat(subject, context);
    case 'pipeline':
      return openPipeline(subject, context);
  }
}

const unasked: Answer = { ...nothing, duration_ms: 0, queue_ms: 0, cached: false, attempts: 0 };

function prepare(source: Source, scope: AskedSubject['scope']): Question | { readonly error: Fault } {
  try {
    return source.prepare(scope);
  } catch (error) {
    return { error: toFault(error) };
  }
}

async function ask(
  question: Question,
  { retries, signal }: { readonly retries: number; readonly signal: AbortSignal },
): Promise<Answer> {
  const answer = await retryFaults(retries, signal, async () => {
    const watch = startStopwatch();
    const made = await watch.run(() => question.ask(signal));
    const { durationMs, queueMs } = wholeMs(watch.read());
    const metadata = { ...made.metadata, latency_ms: durationMs };
    return { ...made, metadata, duration_ms: durationMs, queue_ms: queueMs, cached: false };
  });
  if (answer.error !== undefined && signal.aborted) {
    throw new RuntimeError('ABORTED', 'the subject was given up before it had answered');
  }
  return answer;
}
