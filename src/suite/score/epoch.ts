import type { Threshold } from '../../contract/eval.ts';
import { type Fault, RuntimeError, toRuntimeError } from '../../errors.ts';
import { startStopwatch, wholeMs } from '../../time/stopwatch.ts';
import { evalsOf, prepare, type SubjectView, type Trial } from '../case/case.ts';
import type { Suite } from '../file/model.ts';
import type { EpochRecord, EvalResult, SubjectRecord } from '../run/record.ts';
import type { Answer, SubjectRunner } from '../subject/answer.ts';
import { nothing } from '../subject/source.ts';
import { type Court, hold } from './score.ts';

export interface EpochTools extends Court {
  /** Makes the answers; undefined where they are recorded. */
  readonly subject: SubjectRunner | undefined;
}

export interface EpochTask {
  readonly row: Readonly<Record<string, unknown>>;
  /** From 1. */
  readonly epoch: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a case once: its answer is made or read, and judged by every eval. Throws DATASET_INVALID or
 * EXPRESSION_FAILED when the row does not fit, and what the tools throw.
 */
export async function runEpoch(suite: Suite, task: EpochTask, tools: EpochTools): Promise<EpochRecord> {
  const limit = startLimit(suite.timeoutMs, task.signal);
  try {
    const answer = await answerOf({ ...task, signal: limit.signal }, tools.subject, limit);
    if (answer?.error !== undefined) return failedEpoch(suite, task, answer);
    return await judge(suite, { ...task, signal: limit.signal }, { tools, answer, limit });
  } finally {
    limit.clear();
  }
}

async function answerOf(
  { row, epoch, signal }: EpochTask,
  subject: SubjectRunner | undefined,
  limit: Limit,
): Promise<Answer | undefined> {
  const watch = startStopwatch();
  try {
    return await watch.run(() => subject?.answer({ scope: { case: row, epoch }, epoch, signal }));
  } catch (thrown) {
    const error = limit.overrunOf(thrown);
    const { durationMs, queueMs } = wholeMs(watch.read());
    return { ...noAnswer, duration_ms: durationMs, queue_ms: queueMs, error };
  }
}

const noAnswer: Answer = { ...nothing, duration_ms: 0, queue_ms: 0, cached: false, attempts: 1 };

interface Judging {
  readonly tools: EpochTools;
  readonly answer: Answer | undefined;
  readonly limit: Limit;
}

async function judge(
  suite: Suite,
  { row, epoch, signal }: EpochTask,
  { tools, answer, limit }: Judging,
): Promise<EpochRecord> {
  const { content, context, trials, threshold } = prepare(suite, row, answer && toView(answer));
  const settled = await Promise.allSettled(
    trials.map(async (trial) => await holdWithin(limit, trial, { tools, signal })),
  );
  const results = settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
  const { messages, tool_calls, metadata } = context;
  return {
    epoch,
    content,
    messages,
    tool_calls,
    metadata,
    ...(threshold === undefined ? {} : { threshold }),
    ...(answer === undefined ? {} : { subject: toSubjectRecord(answer) }),
    results,
  };
}

async function holdWithin(
  limit: Limit,
  trial: Trial,
  { tools, signal }: { readonly tools: EpochTools; readonly signal: AbortSignal },
): Promise<EvalResult> {
  try {
    return limit.explain(await hold(trial, tools, signal));
  } catch (thrown) {
    const error = limit.overrunOf(thrown);
    const { evaluation, threshold } = trial;
    return { ...unscoredResult(evaluation.id, threshold, error.message), error };
  }
}

function toView({ text, result, messages, tool_calls, metadata }: Answer): SubjectView {
  return { text, result, messages, tool_calls, metadata };
}

function toSubjectRecord({ duration_ms, queue_ms, cached, attempts, error }: Answer): SubjectRecord {
  const status = error ? 'failed' : 'ok';
  return { status, duration_ms, queue_ms, cached, attempts, ...(error && { error }) };
}

/** Without an answer there is nothing to judge, and no eval is asked. */
function failedEpoch(suite: Suite, { row, epoch }: EpochTask, answer: Answer): EpochRecord {
  const { error, messages, tool_calls, metadata, text } = answer;
  const detail = `the subject gave no answer: ${error?.message ?? ''}`;
  const results = evalsOf(suite, row).map(({ evaluation, threshold }) => ({
    ...unscoredResult(evaluation.id, threshold, detail),
    ...(error && { error }),
  }));
  return { epoch, content: text, messages, tool_calls, metadata, subject: toSubjectRecord(answer), results };
}

/** What an eval says that was not asked. */
function unscoredResult(id: string, threshold: Threshold, detail: string): EvalResult {
  return {
    eval: id,
    threshold,
    score: null,
    passed: false,
    detail,
    duration_ms: 0,
    queue_ms: 0,
    attempts: 0,
  };
}

/** The time that one epoch has. */
interface Limit {
  readonly signal: AbortSignal;
  /** The fault behind what was thrown, when that is the limit; anything else is thrown again. */
  overrunOf(thrown: unknown): Fault;
  /** Names the limit in what it cut off. */
  explain(result: EvalResult): EvalResult;
  clear(): void;
}

function startLimit(timeoutMs: number | undefined, signal: AbortSignal): Limit {
  if (timeoutMs === undefined) {
    const overrunOf = (thrown: unknown): never => {
      throw thrown;
    };
    return { signal, overrunOf, explain: (result) => result, clear() {} };
  }
  const over = new AbortController();
  const { message, hint } = new RuntimeError('STEP_TIMEOUT', `the case took longer than ${timeoutMs} ms`, {
    hint: 'Raise timeout_ms of the suite, or see what takes so long.',
  });
  const fault: Fault = { code: 'STEP_TIMEOUT', message, hint };
  const isOver = (code: string | undefined) => over.signal.aborted && code === 'ABORTED';
  // A timer of the usual kind, since AbortSignal.timeout() does not keep Node alive.
  const timer = setTimeout(() => over.abort(), timeoutMs);
  return {
    signal: AbortSignal.any([signal, over.signal]),
    overrunOf: (thrown) => {
      if (!isOver(toRuntimeError(thrown).code)) throw thrown;
      return fault;
    },
    explain: (result) =>
      isOver(result.error?.code) ? { ...result, detail: fault.message, error: fault } : result,
    clear: () => clearTimeout(timer),
  };
}
