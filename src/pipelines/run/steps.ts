import { createHash } from 'node:crypto';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { isTextTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { stringifyJson } from '../../base/json/json.ts';
import { isDeeperThan } from '../../base/json/parted.ts';
import { object } from '../../base/json/record.ts';
import { exactMembers } from '../../base/json/scan.ts';
import { number } from '../../base/json/shape.ts';
import { sleep } from '../../base/time/deadline.ts';
import { parseDuration } from '../../config/duration.ts';
import { runChat } from '../chat.ts';
import type { GroupStep, ParallelStep, PipelineStep, Step, WaitStep } from '../file/pipeline.ts';
import { parseTime } from '../file/time.ts';
import { RunSuspended } from '../state/journal.ts';
import { findRecord, journalStep, plainRecord } from '../state/record.ts';
import { belowName, belowRecord, type EndBelow } from '../state/run-below.ts';
import type { RunContext } from '../state/run-context.ts';
import { startClock } from '../state/step-clock.ts';
import {
  combineOutcomes,
  failedStep,
  failedStepFromError,
  okStep,
  type StepEntry,
  type StepOutcome,
  skippedStep,
  stepRecord,
} from '../state/step-outcome.ts';
import {
  attemptPathOf,
  evaluateIn,
  forkScope,
  recordOutcome,
  type Scope,
  type StepContext,
} from '../state/step-scope.ts';
import { isSuspension } from '../state/suspension.ts';
import { runAskStep } from './ask-step.ts';
import { runEvalStep } from './eval-step.ts';
import { openFailFast } from './fail-fast.ts';
import { runForEach, runWhile } from './loops.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { runRetried } from './retried-step.ts';
import { readInput, requireInput } from './run-input.ts';
import { iso } from './timeline.ts';
import { runToolStep } from './tool-step.ts';

/**
 * Runs steps in order, each under its condition, loop, timeout and on_error. Returns the outcome that
 * stopped them, if any. Throws what suspends the run: RunSuspended, and RuntimeError ABORTED, STORE_FAILED,
 * RUN_ENDED.
 */
export async function runSteps(
  run: RunContext,
  steps: readonly Step[],
  scope: Scope,
): Promise<StepOutcome | undefined> {
  for (const step of steps) {
    const outcome = await runStep(run, step, scope);
    recordOutcome(scope, step.id, outcome);
    if (outcome.status !== 'failed' && outcome.status !== 'denied') continue;
    const at = outcome.failedAt ?? `${scope.prefix}${step.id}`;
    const stop = await afterFailure(run, step, { scope, outcome: { ...outcome, failedAt: at }, at });
    if (stop !== undefined) return stop;
  }
  return undefined;
}

interface Failure {
  readonly scope: Scope;
  readonly outcome: StepOutcome;
  /** The path of the innermost step that failed. */
  readonly at: string;
}

async function afterFailure(
  run: RunContext,
  { onError }: Step,
  { scope, outcome, at }: Failure,
): Promise<StepOutcome | undefined> {
  if (onError.kind === 'continue') return undefined;
  if (onError.kind === 'stop') return outcome;
  const { code = 'INTERNAL', message = '', hint = '' } = outcome.error ?? {};
  // The path relative to the handler, which may be inside a loop.
  const step = at.startsWith(scope.prefix) ? at.slice(scope.prefix.length) : at;
  const more = { ...scope.variables, error: { code, message, hint, step } };
  // The handler shares the views, so that later steps see its results.
  const handles = onError.then === 'stop' ? () => true : scope.handles;
  const stop = await runSteps(run, onError.steps, { ...scope, variables: more, handles });
  // What was handled has ended, whatever it came of.
  if (onError.then === 'stop') return { ...(stop ?? outcome), transient: undefined };
  return stop;
}

async function runStep(run: RunContext, step: Step, around: Scope): Promise<StepOutcome> {
  const scope = step.onError.kind === 'stop' ? around : { ...around, handles: () => true };
  const name = `${scope.prefix}${step.id}`;
  return await runJournaled(run, { step, name, scope }, async () => {
    if (step.condition !== undefined && !isTrue(evaluateIn(scope, step.condition))) {
      return step.kind === 'steps' && step.otherwise.length > 0
        ? await runGroup(run, step.otherwise, scope)
        : skippedStep;
    }
    return await runParts(run, { step, name, scope });
  });
}

async function runJournaled(
  run: RunContext,
  placed: StepContext & { readonly item?: boolean },
  work: () => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const { step, name, scope, item = false } = placed;
  const kind = item || !isLoop(step) ? step.kind : step.forEach === undefined ? 'while' : 'for_each';
  if (run.journal.find(name) !== undefined) restoreViews(run, step, scope);
  // No step begins after the timeout of an enclosing step, or while the run is being suspended.
  else if (scope.signal.aborted) throw new RuntimeError('ABORTED', `step "${name}" was not begun`);
  const about = { run: run.journal.runId, step: name, kind } as const;
  const timed = async (): Promise<StepEntry> => {
    run.emit({ type: 'step.started', ...about });
    const startedAt = performance.now();
    const outcome = await unlessSuspended(run, async () => requireReadable(await work()));
    const durationMs = Math.round(performance.now() - startedAt);
    const { status, error } = outcome;
    run.emit({ type: 'step.finished', ...about, status, durationMs, ...(error && { error }) });
    return { ...outcome, kind, durationMs };
  };
  return await journalStep(run.journal, { name, kind: stepRecord }, timed, { holdsSteps: true });
}

/** Returns the outcome. Throws RESULT_INVALID if its view is nested too deeply for expressions. */
function requireReadable(outcome: StepOutcome): StepOutcome {
  if (!isDeeperThan(outcome.view, MAX_JSON_DEPTH, isTextTooDeep)) return outcome;
  throw new RuntimeError('RESULT_INVALID', `its result is nested in more than ${MAX_JSON_DEPTH} levels`);
}

/** Turns an error of the step's work into its outcome. Rethrows errors that suspend the run. */
async function unlessSuspended(run: RunContext, work: () => Promise<StepOutcome>): Promise<StepOutcome> {
  try {
    return await work();
  } catch (error) {
    if (isSuspension(run, error)) throw error;
    return failedStepFromError(error);
  }
}

/** Restores the views of the steps inside a journaled step from the journal. */
function restoreViews(run: RunContext, step: Step, scope: Scope): void {
  if (isLoop(step)) return;
  for (const { id } of nestedSteps(step)) {
    const entry = findRecord(run.journal, `${scope.prefix}${id}`, stepRecord);
    if (entry !== undefined) recordOutcome(scope, id, entry);
  }
}

function isTrue(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new RuntimeError('EXPRESSION_FAILED', `\`if\` is ${stringifyJson(value)}, neither true nor false`);
}

/** The step as often as its loop asks for it. */
async function runParts(run: RunContext, placed: StepContext): Promise<StepOutcome> {
  const { forEach, whileLoop } = placed.step;
  const part = (own: StepContext) => runJournaled(run, { ...own, item: true }, () => runOnce(run, own));
  if (forEach !== undefined) return await runForEach(run, { ...placed, loop: forEach, part });
  if (whileLoop !== undefined) return await runWhile(run, { ...placed, loop: whileLoop, part });
  return await runOnce(run, placed);
}

async function runOnce(run: RunContext, placed: StepContext): Promise<StepOutcome> {
  return await runRetried(run, placed, (attempt) => runAttempt(run, attempt));
}

/** One attempt at the step, under its own clock. */
async function runAttempt(run: RunContext, placed: StepContext): Promise<StepOutcome> {
  const { timeoutMs } = placed.step;
  if (timeoutMs === undefined) return await unlessSuspended(run, () => runKind(run, placed));
  const { scope, name } = placed;
  const clock = startClock(timeoutMs);
  const signal = AbortSignal.any([scope.signal, clock.signal]);
  try {
    const timed = { ...placed, scope: { ...scope, signal, clocks: [...scope.clocks, clock] } };
    const outcome = await unlessSuspended(run, () => runKind(run, timed));
    if (outcome.status === 'ok' || outcome.status === 'skipped' || !clock.signal.aborted) return outcome;
    const late = new RuntimeError('STEP_TIMEOUT', `step "${name}" took longer than ${timeoutMs} ms`);
    return failedStep('failed', toFault(late));
  } finally {
    clock.pause();
  }
}

async function runKind(run: RunContext, placed: StepContext): Promise<StepOutcome> {
  const { step, scope } = placed;
  switch (step.kind) {
    case 'tool':
      return await runToolStep(run, { ...placed, step });
    case 'eval':
      return await runEvalStep(run, { ...placed, step });
    case 'chat':
      return await runChat(run, { ...placed, step });
    case 'steps':
      return await runNested(run, step, scope);
    case 'ask':
      return await runAskStep(run, { ...placed, step });
    case 'wait':
      return await runWaitStep(run, { ...placed, step });
    case 'parallel':
      return await runParallel(run, { ...placed, step });
    case 'pipeline':
      return await runPipelineStep(run, { ...placed, step });
  }
}

/** Runs a group. Inside a loop its view includes the views of its inner steps. */
async function runNested(run: RunContext, step: GroupStep, scope: Scope): Promise<StepOutcome> {
  const outcome = await runGroup(run, step.steps, scope);
  return withInnerViews(step, scope, outcome);
}

async function runGroup(run: RunContext, steps: readonly Step[], scope: Scope): Promise<StepOutcome> {
  const stop = await runSteps(run, steps, scope);
  return combineOutcomes(stop === undefined ? [] : [stop], {});
}

async function runParallel(
  run: RunContext,
  { step, name, scope }: StepContext<ParallelStep>,
): Promise<StepOutcome> {
  const failFast = step.failFast ? openFailFast(run, { name, isInside: isInsideOf(step, scope) }) : undefined;
  const signal = failFast ? AbortSignal.any([scope.signal, failFast.signal]) : scope.signal;
  const outcomes: StepOutcome[] = [];
  const views: Scope['steps'][] = [];
  const work = async (branch: Step, index: number): Promise<void> => {
    if (failFast?.hasFailed() && run.journal.find(`${scope.prefix}${branch.id}`) === undefined) return;
    const own = forkScope(scope, { signal });
    views.push(own.steps);
    try {
      const stop = await runSteps(run, [branch], own);
      if (stop !== undefined) outcomes[index] = stop;
      await failFast?.note(stop);
    } catch (error) {
      if (failFast?.isCutOff(error) !== true) throw error;
    }
  };
  await mapConcurrently(step.steps, step.concurrency ?? step.steps.length, work).catch((error: unknown) => {
    if (failFast?.isCutOff(error) !== true) throw error;
  });
  // Only now: no branch sees another one.
  Object.assign(scope.steps, ...views);
  const outcome = failFast?.outcome({}) ?? combineOutcomes(outcomes.filter(Boolean), {});
  return withInnerViews(step, scope, outcome);
}

/** Whether a path of the journal is of a step inside this one. */
function isInsideOf(step: ParallelStep, { prefix }: Scope): (path: string) => boolean {
  const inner = nestedSteps(step).map(({ id }) => `${prefix}${id}`);
  return (path) => inner.some((own) => path.startsWith(`${own}/`) || path.startsWith(`${own}[`));
}

function withInnerViews(step: GroupStep | ParallelStep, scope: Scope, outcome: StepOutcome): StepOutcome {
  if (!isLoop(step)) return outcome;
  const inner = Object.fromEntries(
    nestedSteps(step).flatMap(({ id }) => (Object.hasOwn(scope.steps, id) ? [[id, scope.steps[id]]] : [])),
  );
  const view = Object.fromEntries(exactMembers(outcome.view));
  return { ...outcome, view: composeJson({ ...view, steps: inner }) };
}

/** All nested steps, handlers included, except those inside a nested loop, whose items hold their views. */
function nestedSteps(step: Step): readonly Step[] {
  return childSteps(step).flatMap(withNestedSteps);
}

/** Whether it runs many times, each under a path of its own. */
function isLoop({ forEach, whileLoop }: Step): boolean {
  return forEach !== undefined || whileLoop !== undefined;
}

function withNestedSteps(step: Step): readonly Step[] {
  const handlers = step.onError.kind === 'handle' ? step.onError.steps : [];
  return [step, ...(isLoop(step) ? [] : nestedSteps(step)), ...handlers.flatMap(withNestedSteps)];
}

function childSteps(step: Step): readonly Step[] {
  switch (step.kind) {
    case 'parallel':
      return step.steps;
    case 'steps':
      return [...step.steps, ...step.otherwise];
    default:
      return [];
  }
}

/**
 * Runs a pipeline as a run of its own. Which one is kept before it begins, so that after a crash the same run is gone on with.
 * Throws INPUT_INVALID, EXPRESSION_FAILED, and what suspends a run.
 */
async function runPipelineStep(run: RunContext, placed: StepContext<PipelineStep>): Promise<StepOutcome> {
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
  return toStepOutcome(end, { id, name, pipeline: pipeline.name });
}

/** The same for the same attempt, whoever makes it. */
function idOf(runId: string, path: string, edition: number): string {
  const digest = createHash('sha256').update(`${runId}\n${path}\n${edition}`).digest('hex');
  return `run_${digest.slice(0, 16)}`;
}

function toStepOutcome(
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
 * Lets time go by, in this process or, where it is long, in none (RunSuspended). When it is over is kept first, so that a run that is set down or killed waits for what
 * is left of it. Throws EXPRESSION_FAILED, ABORTED, STORE_FAILED.
 */
async function runWaitStep(
  run: RunContext,
  { step, name, scope }: StepContext<WaitStep>,
): Promise<StepOutcome> {
  const place = { name: `${name}/due`, kind: dueRecord };
  const { now = async () => Date.now() } = run.journal;
  const { due_at: dueAt } = await journalStep(run.journal, place, async () => ({
    due_at: dueOf(step, scope, await now()),
  }));
  // Nothing is waited for where nothing may be done.
  run.journal.requireWritable?.(place.name);
  const until = iso(dueAt);
  let leftMs = dueAt - (await now());
  // The time of a group around it goes on meanwhile.
  if (scope.clocks.length === 0 && leftMs > (run.longestWaitMs ?? dueAt) && !scope.signal.aborted)
    throw new RunSuspended({ until: dueAt });
  if (leftMs > 0) run.emit({ type: 'step.waiting', run: run.journal.runId, step: name, until });
  for (; leftMs > 0; leftMs = dueAt - (await now())) {
    if (scope.signal.aborted) throw new RuntimeError('ABORTED', `step "${name}" waits until ${until}`);
    // In pieces, since the clock may be set, and the machine sleep.
    await sleep(Math.min(leftMs, PIECE_MS), scope.signal);
  }
  return okStep({ until });
}

const PIECE_MS = 30_000;

/** ms since 1970. */
const dueRecord = plainRecord('end of the wait', object({ due_at: number }));

function dueOf({ wait }: WaitStep, scope: Scope, now: number): number {
  const asked = evaluateIn(scope, 'until' in wait ? wait.until : wait.for);
  const due = 'until' in wait ? timeOf(asked) : addTo(now, msOf(asked));
  if (due !== undefined && due >= 0 && due <= LATEST) return Math.round(due);
  const wanted =
    'until' in wait ? 'no time by RFC 3339 with its zone' : 'no duration such as 10m, and no milliseconds';
  throw new RuntimeError('EXPRESSION_FAILED', `\`wait\` is ${stringifyJson(asked)}, which is ${wanted}`);
}

/** The end of the year 9999. */
const LATEST = 253_402_300_799_999;

function timeOf(asked: unknown): number | undefined {
  return typeof asked === 'string' ? parseTime(asked) : undefined;
}

function msOf(asked: unknown): number | undefined {
  if (typeof asked === 'string') return parseDuration(asked);
  return typeof asked === 'number' && asked >= 0 ? asked : undefined;
}

function addTo(now: number, ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : now + ms;
}
