import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { type Fault, RuntimeError, toFault } from '../base/errors.ts';
import { stringifyJson } from '../base/json/json.ts';
import { tryParseLossless } from '../base/json/parse.ts';
import { text as anyText, anything, fits, members } from '../base/json/shape.ts';
import { startStopwatch, wholeMs } from '../base/time/stopwatch.ts';
import { requirePipeline } from '../pipelines/file/load.ts';
import { buildTextOf, readInput } from '../pipelines/run/new-run.ts';
import type { ResultStore } from '../store/result-store.ts';
import type { Subject } from './file/model.ts';
import { conversation } from './record.ts';
import { retryFaults } from './score/retry.ts';
import {
  type Answer,
  type AnswerOptions,
  emptyOutput,
  type SubjectAdapter,
  type SubjectContext,
  type SubjectOutput,
  type SubjectRequest,
  type SubjectRunner,
} from './subject/adapter.ts';
import { openChatSubject } from './subject/chat.ts';
import { describeConfig, digestFiles } from './subject/identity.ts';
import { openToolSubject } from './subject/tool.ts';
import { runUnattended } from './subject/unattended-run.ts';

/** Opens the subject of a suite with retries and cache. Throws CONFIG_INVALID, FILE_UNREADABLE, NAME_UNKNOWN. */
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
    throw new RuntimeError('ABORTED', 'the run stopped before the subject answered');
  }
  return answer;
}

function openPipelineSubject(
  { file, input }: Extract<Subject, { kind: 'pipeline' }>,
  context: SubjectContext,
): SubjectAdapter {
  const pipeline = requirePipeline(file, context.config);
  return {
    prepare: (scope) => {
      const given = stringifyJson(input.evaluate(scope));
      return {
        key: given,
        send: async (signal) => await runUnattended(pipeline, readInput(given), { ...context, signal }),
      };
    },
    identify: () => ({ pipeline: buildTextOf(pipeline), config: describeConfig(context) }),
  };
}

interface AnswerCache {
  entryFor(
    question: SubjectRequest,
    epoch: number,
  ): {
    find(): Promise<SubjectOutput | undefined>;
    keep(answer: SubjectOutput): Promise<void>;
  };
}

/** Digests the config and files once. Later changes affect only the next run. */
export function openCache(
  store: Pick<ResultStore, 'findAnswer' | 'keepAnswer'>,
  adapter: SubjectAdapter,
  replay: string | undefined,
): AnswerCache {
  // With --replay, answers also depend on the recording.
  const recordingDigests = replay === undefined ? [] : digestFiles([resolve(replay)], '');
  const identity = digest([FORMAT_VERSION, adapter.identify(), recordingDigests]);
  return {
    entryFor: ({ key }, epoch) => {
      const entryKey = digest([identity, key, epoch]);
      return {
        find: async () => {
          const text = await store.findAnswer(entryKey);
          return text === undefined ? undefined : readAnswer(text);
        },
        keep: async ({ text, result, messages, tool_calls, metadata }) =>
          await store.keepAnswer(entryKey, stringifyJson({ text, result, messages, tool_calls, metadata })),
      };
    },
  };
}

/** The version of stored answers and their keys. */
const FORMAT_VERSION = 1;

function digest(parts: unknown): string {
  return createHash('sha256').update(stringifyJson(parts)).digest('hex');
}

/** Returns undefined for an invalid record, so that the answer is requested again. */
function readAnswer(text: string): SubjectOutput | undefined {
  const value = tryParseLossless(text);
  return fits(storedAnswer, value) ? value : undefined;
}

/** Failures are not cached. */
const storedAnswer = members<Omit<SubjectOutput, 'error'>>({
  text: anyText,
  result: anything,
  ...conversation,
});
