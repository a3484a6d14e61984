import { createHash } from 'node:crypto';
import { type Fault, RuntimeError, toFault } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { formatNumber } from '../../base/json/decimal.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { exact, ifPresent, object, type ValueOf } from '../../base/json/record.ts';
import { number, text } from '../../base/json/shape.ts';
import { sleep } from '../../base/time/deadline.ts';
import { findAnswerFaults, whyNotAsked } from '../../calls/tool-call/approvals.ts';
import type { CallResult, ToolDenied } from '../../calls/tool-call/callable-tool.ts';
import { type DecidedRecord, pendingId } from '../../calls/tool-call/pending-call.ts';
import { parseDuration } from '../../config/duration.ts';
import { type PendingCall, QUESTION } from '../../contract/approval.ts';
import type { EvalContext, Threshold } from '../../contract/eval.ts';
import type { AskStep, EvalStep, PipelineStep, ToolStep, WaitStep } from '../file/pipeline.ts';
import { parseTime } from '../file/validate-shape.ts';
import { type ScoreRecord, scoreRecord } from '../state/answer-record.ts';
import { RunSuspended } from '../state/journal.ts';
import { fault, findRecord, journalStep, plainRecord } from '../state/record.ts';
import { belowName, belowRecord, type EndBelow } from '../state/run-below.ts';
import type { RunContext } from '../state/run-context.ts';
import { hookContextOfRun } from '../state/session.ts';
import { failedStep, okStep, type StepOutcome } from '../state/step-outcome.ts';
import { attemptPathOf, evaluateIn, type Scope, type StepContext } from '../state/step-scope.ts';
import { transientOfTool } from '../suspend/transient-fault.ts';
import { runCalls } from './calls.ts';
import { iso } from './document.ts';
import { toEvalRequest } from './eval-request.ts';
import { readInput, requireInput } from './new-run.ts';

/** Throws the errors of `runCalls`, EXPRESSION_FAILED and NAME_UNKNOWN. */
export async function runToolStep(run: RunContext, placed: StepContext<ToolStep>): Promise<StepOutcome> {
  const { step, name, scope } = placed;
  await run.prepareTools?.([step.tool]);
  const tool = run.tools.get(step.tool);
  if (tool === undefined) throw new RuntimeError('NAME_UNKNOWN', `there is no tool "${step.tool}"`);
  const args = evaluateIn(scope, step.args);
  if (!isObject(args)) {
    throw new RuntimeError('ARGS_INVALID', `tool "${step.tool}": the arguments are not a JSON object`);
  }
  const path = attemptPathOf(placed);
  const call = {
    name: `${path}/call`,
    tool,
    args: stringifyJson(args),
    composed: composeJson(args),
    callId: callIdOf(run, path),
    edition: run.journal.editionOf?.(`${path}/call`),
    // The key is shared by all attempts, so that a tool whose answer was lost does not act again.
    key: `${name}/call`,
  };
  const round = { scope, hookContext: hookContextOfRun(run), concurrency: 1, isDeferred: true };
  const [result] = await runCalls(run, [call], round);
  if (result === undefined) throw new RuntimeError('INTERNAL', `the call of ${name} returned no result`);
  const { outcome, metadata } = result;
  if (outcome.status === 'denied' && outcome.abort === 'session') {
    run.session.ended ??= { ...outcome, isSession: true, metadata: metadata.value };
  }
  const made = toolOutcome(step.tool, result);
  const transient = outcome.status === 'failed' ? transientOfTool(outcome.error, tool, call.name) : undefined;
  return transient === undefined ? made : { ...made, transient };
}

/** The call id for events and hooks; it stays the same after a crash. */
export function callIdOf({ journal: { runId } }: RunContext, name: string): string {
  return `${runId}/${name}`;
}

function toolOutcome(tool: string, { outcome, metadata }: CallResult): StepOutcome {
  const extra = metadata.text === '{}' ? {} : { metadata };
  switch (outcome.status) {
    case 'ok':
      return okStep({ result: outcome.result, ...extra });
    case 'failed':
      return failedStep('failed', outcome.error, extra);
    case 'denied': {
      const { hook, reason, abort } = outcome;
      const ends = abort === 'session' ? { abort } : {};
      return failedStep('denied', toDenial(tool, outcome), { hook, reason, ...ends, ...extra });
    }
    case 'pending':
      throw new RuntimeError('INTERNAL', `tool "${tool}" is still pending`);
  }
}

export function toDenial(tool: string, { hook, reason, error }: ToolDenied): Fault {
  const why = `tool "${tool}" was denied by hook "${hook}": ${reason}`;
  return error ?? toFault(new RuntimeError('DENIED', why));
}

/** Throws EXPRESSION_FAILED, ABORTED, STORE_FAILED. */
export async function runEvalStep(run: RunContext, placed: StepContext<EvalStep>): Promise<StepOutcome> {
  const { step, scope } = placed;
  const content = evaluateIn(scope, step.content);
  const params = evaluateIn(scope, step.params);
  const context = step.context === undefined ? {} : evaluateIn(scope, step.context);
  const score = await journalScore(run, `${attemptPathOf(placed)}/score`, {
    id: step.id,
    type: step.type,
    content: typeof content === 'string' ? content : stringifyJson(content),
    params: isObject(params) ? Json.from(params) : new Json('{}'),
    context: { session_id: run.session.id, ...(isObject(context) ? context : {}) },
    threshold: step.threshold,
    signal: scope.signal,
    isDeferred: true,
  });
  if (step.threshold === undefined || score.passed || step.onFail === 'continue') return okStep(score);
  return failedStep('failed', thresholdFault(step.id, score, step.threshold), score);
}

interface ScoreRequest {
  readonly id: string;
  readonly type: string;
  readonly content: string;
  readonly params: Json;
  readonly context: Partial<EvalContext>;
  readonly threshold: Threshold | undefined;
  readonly signal: AbortSignal;
  readonly isDeferred?: boolean;
}

/** Returns the journaled score, if any. Throws ABORTED, STORE_FAILED, NAME_UNKNOWN. */
export async function journalScore(run: RunContext, name: string, asked: ScoreRequest): Promise<ScoreRecord> {
  const score = async (): Promise<ScoreRecord> => {
    const { id, type, threshold, signal, content, params, context } = asked;
    const request = toEvalRequest(type, { content, params, context });
    const { outcome, passed } = await run.score({ id, type, request, threshold, signal });
    // An eval that was aborted has no score to journal.
    if (signal.aborted && outcome.status === 'unscored' && outcome.error?.code === 'ABORTED') {
      throw new RuntimeError('ABORTED', outcome.error.message);
    }
    if (outcome.status === 'unscored') return { score: null, detail: outcome.reason, data: noData, passed };
    const { score, detail, data = noData } = outcome;
    return { score, detail, data, passed };
  };
  const { isDeferred = false, type, content, params } = asked;
  const work = async () => ({ ...(await score()), eval: type, content: composeJson(content), params });
  const kept = await journalStep(run.journal, { name, kind: scoreRecord }, work, { isDeferred });
  const { score: value, passed, detail, data } = kept;
  return { score: value, passed, detail, data };
}

const noData = new Json('null');

export function thresholdFault(id: string, { score, detail }: ScoreRecord, threshold: Threshold) {
  const why = detail === '' ? '' : `: ${detail}`;
  const message =
    score === null
      ? `eval "${id}" returned no score${why}`
      : `eval "${id}" scored ${formatNumber(score, Object.values(threshold))}, which is not ${boundsOf(threshold)}${why}`;
  return toFault(new RuntimeError('THRESHOLD_MISSED', message));
}

function boundsOf({ min_score, max_score }: Threshold): string {
  if (min_score !== undefined && max_score !== undefined) return `within ${min_score} to ${max_score}`;
  return max_score === undefined ? `at least ${min_score ?? 1}` : `at most ${max_score}`;
}

/** Pauses the clocks of the enclosing steps. Throws RunSuspended, EXPRESSION_FAILED, ABORTED, STORE_FAILED. */
export async function runAskStep(run: RunContext, asked: StepContext<AskStep>): Promise<StepOutcome> {
  const path = `${asked.name}/ask`;
  const place = { name: `${path}/ruling-1`, kind: answerRecord };
  const { error, answer, by, reason } =
    findRecord(run.journal, place.name, answerRecord) ?? (await waitForAnswer(run, asked, { path, place }));
  if (error !== undefined) return failedStep('failed', error, { by, reason });
  return okStep({ answer, by, reason });
}

type AnswerRecord = ValueOf<typeof answerReader>;
const answerReader = object({ answer: exact, by: text, reason: text, error: ifPresent(fault) });
const answerRecord = plainRecord<AnswerRecord>('answer of a person', answerReader);

async function waitForAnswer(
  run: RunContext,
  asked: StepContext<AskStep>,
  { path, place }: { readonly path: string; readonly place: { name: string; kind: typeof answerRecord } },
): Promise<AnswerRecord> {
  const { clocks, signal } = asked.scope;
  const question = toQuestion(run, asked, path);
  for (const clock of clocks) clock.pause();
  try {
    const [decided] = await run.journal.decide([question], { signal });
    if (decided === undefined)
      throw new RuntimeError('INTERNAL', `the question of ${asked.name} has no answer`);
    return await journalStep(run.journal, place, async () => toAnswer(asked.name, decided));
  } finally {
    for (const clock of clocks) clock.resume();
  }
}

function toQuestion(run: RunContext, { step, name, scope }: StepContext<AskStep>, path: string): PendingCall {
  const { runId } = run.journal;
  const { schema, by, expiresMs } = step;
  const question = evaluateIn(scope, step.question);
  const createdAt = Date.now();
  return {
    ...{ id: pendingId(runId, path, 1), runId, step: path, callId: callIdOf(run, name), tool: QUESTION },
    ...{ args: new Json('{}'), origin: 'tool', hook: null, reason: '', previous: null, createdAt },
    message: typeof question === 'string' ? question : stringifyJson(question),
    members: composeJson({ ...(schema !== undefined && { schema }), ...(by !== undefined && { by }) }),
    expiresAt: expiresMs === undefined ? null : createdAt + expiresMs,
  };
}

function toAnswer(name: string, record: DecidedRecord): AnswerRecord {
  const { ruling } = record;
  const { by = '', reason = '' } = 'by' in ruling ? ruling : {};
  const refuse = (error: RuntimeError): AnswerRecord => {
    return { answer: new Json('null'), by, reason, error: toFault(error) };
  };
  switch (ruling.kind) {
    case 'responded': {
      // A program may have stored the answer unchecked.
      const refusal = whyNotAsked(record, by);
      if (refusal !== undefined) return refuse(new RuntimeError('REJECTED', refusal.message));
      const faults = findAnswerFaults(record, ruling.result);
      if (faults.length === 0) return { answer: ruling.result, by, reason };
      const message = `the answer to step "${name}" does not fit its schema: ${faults.join('; ')}`;
      return refuse(new RuntimeError('RESULT_INVALID', message));
    }
    case 'expired':
      return refuse(new RuntimeError('PENDING_EXPIRED', `nobody answered step "${name}" in time`));
    case 'approved':
    case 'rejected':
    case 'cancelled': {
      const why = reason === '' ? '' : `: ${reason}`;
      const message = `the question of step "${name}" was ${ruling.kind} by ${by}, not answered${why}`;
      return refuse(new RuntimeError('REJECTED', message));
    }
  }
}

/**
 * Stores the nested run's id first, so that a restart continues it. Throws INPUT_INVALID, EXPRESSION_FAILED and the
 * errors that suspend a run.
 */
export async function runPipelineStep(
  run: RunContext,
  placed: StepContext<PipelineStep>,
): Promise<StepOutcome> {
  const { step, name, scope, retries = 0 } = placed;
  const { pipeline } = step;
  const path = attemptPathOf(placed);
  const place = { name: belowName(path), kind: belowRecord };
  const readGiven = () => {
    const given = readInput(stringifyJson(evaluateIn(scope, step.input)));
    requireInput(pipeline, given);
    return given;
  };
  const known = findRecord(run.journal, place.name, belowRecord);
  const given = known === undefined ? readGiven() : undefined;
  const edition = run.journal.editionOf?.(place.name) ?? 0;
  const { run_id: id } =
    known ??
    (await journalStep(
      run.journal,
      place,
      async () => ({ run_id: idOf(run.journal.runId, path, edition), retry: run.retry }),
      { holdsSteps: true },
    ));
  const end = await run.runBelow(run, {
    ...{ id, pipeline, step: name, known, scope },
    input: () => given ?? readGiven(),
    isRepeated: retries > 0 || edition > 0,
  });
  return belowOutcome(end, { id, name, pipeline: pipeline.name });
}

/** The same attempt always gets the same id. */
function idOf(runId: string, path: string, edition: number): string {
  const digest = createHash('sha256').update(`${runId}\n${path}\n${edition}`).digest('hex');
  return `run_${digest.slice(0, 16)}`;
}

function belowOutcome(
  { status, output, error, failedAt, transient }: EndBelow,
  { id, name, pipeline }: { readonly id: string; readonly name: string; readonly pipeline: string },
): StepOutcome {
  if (status === 'completed') return okStep({ output, run_id: id });
  const { code = 'INTERNAL', message = '', hint = '' } = error ?? {};
  const where = failedAt === undefined ? '' : `, step "${failedAt}"`;
  const fault = { code, message: `pipeline "${pipeline}"${where}: ${message}`, hint };
  const at = failedAt === undefined ? {} : { failed_at: failedAt };
  const outcome = failedStep(status, fault, { output: null, run_id: id, ...at });
  return {
    ...outcome,
    ...(failedAt !== undefined && { failedAt: `${name}/${failedAt}` }),
    ...(transient && { transient: { ...transient, at: `${name}/${transient.at}` } }),
  };
}

/**
 * Stores the end time first, so that a restart waits only for the rest. Throws RunSuspended for a long wait,
 * EXPRESSION_FAILED, ABORTED, STORE_FAILED.
 */
export async function runWaitStep(
  run: RunContext,
  { step, name, scope }: StepContext<WaitStep>,
): Promise<StepOutcome> {
  const place = { name: `${name}/due`, kind: dueRecord };
  const { now = async () => Date.now() } = run.journal;
  const { due_at: dueAt } = await journalStep(run.journal, place, async () => ({
    due_at: dueOf(step, scope, await now()),
  }));
  // A run that cannot store outcomes must not wait.
  run.journal.requireWritable?.(place.name);
  const until = iso(dueAt);
  let leftMs = dueAt - (await now());
  // The timeouts of enclosing groups must keep running.
  if (scope.clocks.length === 0 && leftMs > (run.longestWaitMs ?? dueAt) && !scope.signal.aborted)
    throw new RunSuspended({ until: dueAt });
  if (leftMs > 0) run.emit({ type: 'step.waiting', run: run.journal.runId, step: name, until });
  for (; leftMs > 0; leftMs = dueAt - (await now())) {
    if (scope.signal.aborted) throw new RuntimeError('ABORTED', `step "${name}" waits until ${until}`);
    // In pieces, since the clock may change and the machine may sleep.
    await sleep(Math.min(leftMs, PIECE_MS), scope.signal);
  }
  return okStep({ until });
}

const PIECE_MS = 30_000;

const dueRecord = plainRecord('end of the wait', object({ due_at: number }));

function dueOf({ wait }: WaitStep, scope: Scope, now: number): number {
  const asked = evaluateIn(scope, 'until' in wait ? wait.until : wait.for);
  const ms = 'until' in wait ? undefined : msOf(asked);
  const time = typeof asked === 'string' ? parseTime(asked) : undefined;
  const due = 'until' in wait ? time : ms === undefined ? undefined : now + ms;
  if (due !== undefined && due >= 0 && due <= LATEST) return Math.round(due);
  const wanted =
    'until' in wait
      ? 'not a time in RFC 3339 with its time zone'
      : 'neither a duration such as 10m nor a number of milliseconds';
  throw new RuntimeError('EXPRESSION_FAILED', `\`wait\` is ${stringifyJson(asked)}, which is ${wanted}`);
}

/** The end of the year 9999. */
const LATEST = 253_402_300_799_999;

function msOf(asked: unknown): number | undefined {
  if (typeof asked === 'string') return parseDuration(asked);
  return typeof asked === 'number' && asked >= 0 ? asked : undefined;
}
