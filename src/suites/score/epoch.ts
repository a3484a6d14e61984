import { type Fault, RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { startTimer } from '../../base/time/deadline.ts';
import { startStopwatch, wholeMs } from '../../base/time/stopwatch.ts';
import type { Threshold } from '../../contract/eval.ts';
import { type Scrubber, scrubMembers, scrubMessages } from '../../contract/scrub.ts';
import { findEvalsOfCase, type PreparedEval, prepareCase, type SubjectView } from '../case/prepared-case.ts';
import type { Suite } from '../file/model.ts';
import type { EpochRecord, EvalResult, SubjectRecord } from '../record.ts';
import { type Answer, emptyOutput, type SubjectRunner } from '../subject/adapter.ts';
import { type EvalHost, scoreEval } from './score.ts';

export interface EpochTools extends EvalHost {
  /** Undefined if the dataset contains the answers. */
  readonly subject: SubjectRunner | undefined;
}

export interface EpochTask {
  readonly row: Readonly<Record<string, unknown>>;
  readonly epoch: number;
  readonly signal: AbortSignal;
}

/**
 * Runs one epoch of a case: requests an answer from the subject, if any, then scores it with every eval. Throws
 * DATASET_INVALID or EXPRESSION_FAILED if the row does not fit. Rethrows errors of `tools`.
 */
export async function runEpoch(suite: Suite, task: EpochTask, tools: EpochTools): Promise<EpochRecord> {
  const deadline = startDeadline(suite.timeoutMs, task.signal);
  try {
    const answer = await requestAnswer({ ...task, signal: deadline.signal }, tools.subject, deadline);
    if (answer?.error !== undefined) return failedEpoch(suite, task, answer);
    return await judge(suite, { ...task, signal: deadline.signal }, { tools, answer, deadline });
  } finally {
    deadline.clear();
  }
}

async function requestAnswer(
  { row, epoch, signal }: EpochTask,
  subject: SubjectRunner | undefined,
  deadline: Deadline,
): Promise<Answer | undefined> {
  const watch = startStopwatch();
  try {
    return await watch.run(() => subject?.answer({ scope: { case: row, epoch }, epoch, signal }));
  } catch (thrown) {
    const error = deadline.timeoutFaultOf(thrown);
    const { durationMs, queueMs } = wholeMs(watch.read());
    return { ...noAnswer, duration_ms: durationMs, queue_ms: queueMs, error };
  }
}

const noAnswer: Answer = { ...emptyOutput, duration_ms: 0, queue_ms: 0, cached: false, attempts: 1 };

interface JudgeContext {
  readonly tools: EpochTools;
  readonly answer: Answer | undefined;
  readonly deadline: Deadline;
}

async function judge(
  suite: Suite,
  { row, epoch, signal }: EpochTask,
  { tools, answer, deadline }: JudgeContext,
): Promise<EpochRecord> {
  const { content, context, evals, threshold } = prepareCase(suite, row, answer && toView(answer));
  const settled = await Promise.allSettled(
    evals.map(async (preparedEval) => await scoreWithin(deadline, preparedEval, { tools, signal })),
  );
  const results = settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
  const { messages, tool_calls, metadata, variables } = context;
  return {
    epoch,
    content,
    messages,
    tool_calls,
    metadata,
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
    ...(threshold === undefined ? {} : { threshold }),
    ...(answer === undefined ? {} : { subject: toSubjectRecord(answer) }),
    results,
  };
}

async function scoreWithin(
  deadline: Deadline,
  preparedEval: PreparedEval,
  { tools, signal }: { readonly tools: EpochTools; readonly signal: AbortSignal },
): Promise<EvalResult> {
  try {
    return deadline.markTimeout(await scoreEval(preparedEval, tools, signal));
  } catch (thrown) {
    const error = deadline.timeoutFaultOf(thrown);
    const { evaluation, threshold } = preparedEval;
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

function failedEpoch(suite: Suite, { row, epoch }: EpochTask, answer: Answer): EpochRecord {
  const { error, messages, tool_calls, metadata, text } = answer;
  const detail = `the subject gave no answer: ${error?.message ?? ''}`;
  const results = findEvalsOfCase(suite, row).map(({ evaluation, threshold }) => ({
    ...unscoredResult(evaluation.id, threshold, detail),
    ...(error && { error }),
  }));
  return { epoch, content: text, messages, tool_calls, metadata, subject: toSubjectRecord(answer), results };
}

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

interface Deadline {
  readonly signal: AbortSignal;
  timeoutFaultOf(thrown: unknown): Fault;
  markTimeout(result: EvalResult): EvalResult;
  clear(): void;
}

function startDeadline(timeoutMs: number | undefined, signal: AbortSignal): Deadline {
  if (timeoutMs === undefined) {
    const rethrow = (thrown: unknown): never => {
      throw thrown;
    };
    return { signal, timeoutFaultOf: rethrow, markTimeout: (result) => result, clear() {} };
  }
  const expiry = new AbortController();
  const { message, hint } = new RuntimeError('STEP_TIMEOUT', `the case took longer than ${timeoutMs} ms`, {
    hint: 'Raise timeout_ms of the suite, or find out what is slow.',
  });
  const fault: Fault = { code: 'STEP_TIMEOUT', message, hint };
  const isTimedOut = (code: string | undefined) => expiry.signal.aborted && code === 'ABORTED';
  const { clear } = startTimer({ timeoutMs }, () => expiry.abort());
  return {
    signal: AbortSignal.any([signal, expiry.signal]),
    timeoutFaultOf: (thrown) => {
      if (!isTimedOut(toRuntimeError(thrown).code)) throw thrown;
      return fault;
    },
    markTimeout: (result) =>
      isTimedOut(result.error?.code) ? { ...result, detail: fault.message, error: fault } : result,
    clear,
  };
}

/**
 * Removes secrets for reports and stores: known values everywhere, and credentials in fault messages, hints and
 * details.
 */
export function scrubEpoch(record: EpochRecord, scrubber: Scrubber): EpochRecord {
  const hidden = scrubMembers(record, (text) => scrubber.values(text));
  const { subject, results } = hidden;
  return {
    ...hidden,
    ...(subject && { subject: scrubMessages(subject, scrubber) }),
    results: results.map((result) => scrubMessages(result, scrubber)),
  };
}
