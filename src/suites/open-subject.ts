import { type Fault, RuntimeError, toFault } from '../base/errors.ts';
import { startStopwatch, wholeMs } from '../base/time/stopwatch.ts';
import type { Subject } from './file/model.ts';
import { retryFaults } from './score/retry.ts';
import {
  emptyOutput,
  type SubjectAdapter,
  type SubjectContext,
  type SubjectRequest,
} from './subject/adapter.ts';
import type { Answer, AnswerOptions, SubjectRunner } from './subject/answer.ts';
import { openCache } from './subject/cache.ts';
import { openChatSubject } from './subject/chat.ts';
import { openPipelineSubject } from './subject/pipeline.ts';
import { openToolSubject } from './subject/tool.ts';

/**
 * Opens the subject of a suite, with its retries and cache. Throws CONFIG_INVALID, FILE_UNREADABLE,
 * NAME_UNKNOWN.
 */
export function openSubject(subject: Subject, context: SubjectContext): SubjectRunner {
  const adapter = openAdapter(subject, context);
  const cache = context.cache && openCache(context.cache, adapter, context.replay);
  return {
    answer: async ({ scope, epoch, signal }) => {
      const request = prepare(adapter, scope);
      if ('error' in request) return { ...unattempted, ...request };
      const entry = cache?.entryFor(request, epoch);
      const stored = await entry?.find();
      if (stored !== undefined) return { ...unattempted, ...stored, cached: true };
      const answer = await sendWithRetries(request, { retries: context.retries, signal });
      if (answer.error === undefined) await entry?.keep(answer);
      return answer;
    },
  };
}

function openAdapter(subject: Subject, context: SubjectContext): SubjectAdapter {
  switch (subject.kind) {
    case 'tool':
      return openToolSubject(subject, context);
    case 'chat':
      return openChatSubject(subject, context);
    case 'pipeline':
      return openPipelineSubject(subject, context);
  }
}

const unattempted: Answer = { ...emptyOutput, duration_ms: 0, queue_ms: 0, cached: false, attempts: 0 };

function prepare(
  adapter: SubjectAdapter,
  scope: AnswerOptions['scope'],
): SubjectRequest | { readonly error: Fault } {
  try {
    return adapter.prepare(scope);
  } catch (error) {
    return { error: toFault(error) };
  }
}

async function sendWithRetries(
  request: SubjectRequest,
  { retries, signal }: { readonly retries: number; readonly signal: AbortSignal },
): Promise<Answer> {
  const answer = await retryFaults(retries, signal, async () => {
    const watch = startStopwatch();
    const output = await watch.run(() => request.send(signal));
    const { durationMs, queueMs } = wholeMs(watch.read());
    const metadata = { ...output.metadata, latency_ms: durationMs };
    return { ...output, metadata, duration_ms: durationMs, queue_ms: queueMs, cached: false };
  });
  if (answer.error !== undefined && signal.aborted) {
    throw new RuntimeError('ABORTED', 'the subject was given up before it had answered');
  }
  return answer;
}
