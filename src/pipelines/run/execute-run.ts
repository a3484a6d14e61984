import { type Fault, RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { isTextTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { type Json, parseLossless, stringifyJson } from '../../base/json/json.ts';
import { isDeeperThan } from '../../base/json/parted.ts';
import { exactMembers } from '../../base/json/scan.ts';
import { fenced } from '../../base/time/fence.ts';
import { passGate } from '../../calls/hooks/gate.ts';
import type { OperationEnd } from '../../contract/event.ts';
import { inStep, trackOperation } from '../../contract/operation.ts';
import { runChat } from '../chat.ts';
import type { GroupStep, ParallelStep, Pipeline, Step } from '../file/pipeline.ts';
import { RunSuspended } from '../state/journal.ts';
import { findRecord, journalStep } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import { hookContextOfRun, sessionEvent } from '../state/session.ts';
import {
  combineOutcomes,
  failedStep,
  failedStepFromError,
  type StepEntry,
  type StepOutcome,
  skippedStep,
  stepRecord,
} from '../state/step-outcome.ts';
import {
  evaluateIn,
  forkScope,
  recordOutcome,
  type Scope,
  type StepContext,
  startClock,
} from '../state/step-scope.ts';
import { isSuspension, requireFinished } from '../state/suspension.ts';
import { type SessionStart, sessionStartRecord } from '../state/turn-record.ts';
import type { RunPause } from '../suspend/set-down.ts';
import type { TransientFault } from '../suspend/transient-fault.ts';
import { turnStopOf } from '../turn-hooks.ts';
import { mapConcurrently, openFailFast, runForEach, runRetried, runWhile } from './loops.ts';
import { runAskStep, runEvalStep, runPipelineStep, runToolStep, runWaitStep } from './step-kinds.ts';

export interface RunEnd {
  readonly status: 'completed' | 'failed' | 'denied';
  readonly output: Json | null;
  readonly error: Fault | null;
}

export function isRunEnd(came: RunEnd | RunPause): came is RunEnd {
  return 'output' in came;
}

/** Skips journaled steps. Throws ABORTED and STORE_FAILED, after which the run can be resumed, and RUN_ENDED. */
export async function runPipeline(
  run: RunContext,
  pipeline: Pipeline,
  given: PipelineInput,
): Promise<RunEnd | RunPause> {
  const work = () => fenced(run.journal.fence, () => runFenced(run, pipeline, given));
  if (given.isCall === true) return await work();
  const { emit, name, journal } = run;
  const about = () =>
    ({ operation: 'pipeline', name, run: journal.runId, isResumed: given.isResumed }) as const;
  return await trackOperation(emit, about, work, endOfRun);
}

function endOfRun(came: RunEnd | RunPause): OperationEnd {
  const error = 'error' in came && came.error !== null ? came.error : undefined;
  return { status: operationStatus[came.status], error };
}

const operationStatus: Readonly<Record<(RunEnd | RunPause)['status'], OperationEnd['status']>> = {
  ...{ completed: 'ok', failed: 'failed', denied: 'denied' },
  ...{ pending: 'pending', waiting: 'suspended', suspended: 'suspended' },
};

async function runFenced(
  run: RunContext,
  pipeline: Pipeline,
  { input, isResumed, within }: PipelineInput,
): Promise<RunEnd | RunPause> {
  await startSession(run, isResumed);
  try {
    const scope = {
      ...openScope(run, pipeline, input),
      ...within,
    };
    const end = await runToEnd(run, pipeline, scope);
    return pauseOf(run, scope, end) ?? (await runFinally(run, pipeline, { scope, end }));
  } catch (error) {
    if (error instanceof RunSuspended)
      return { status: error.waitsForCalls ? 'pending' : 'waiting', until: error.until };
    if (isSuspension(run, error)) throw error;
    return endOfError(error);
  }
}

interface PipelineInput {
  readonly input: Json;
  readonly isResumed: boolean;
  /** The run is a single call, which is an operation of its own. */
  readonly isCall?: boolean;
  /** The parent step's signal, which does not end `finally`, its clocks and fault handlers. Absent: the run's. */
  readonly within?: Pick<Scope, 'signal' | 'clocks' | 'handles'>;
}

type StepsEnd = RunEnd & {
  readonly failedAt?: string | undefined;
  readonly transient?: TransientFault | undefined;
};

async function runToEnd(run: RunContext, pipeline: Pipeline, scope: Scope): Promise<StepsEnd> {
  try {
    const stop = await runSteps(run, pipeline.steps, scope);
    if (stop !== undefined) return endOfStep(stop);
    return { status: 'completed', output: outputOf(run, pipeline, scope), error: null };
  } catch (error) {
    if (isSuspension(run, error)) throw error;
    return endOfError(error);
  }
}

function endOfStep({ status, error, ...more }: StepOutcome): StepsEnd {
  const { failedAt, transient } = more;
  const end = { status: status === 'denied' ? 'denied' : 'failed', output: null } as const;
  return { ...end, error: error ?? null, failedAt, transient };
}

function pauseOf(
  { suspendsOnFault }: RunContext,
  { handles }: Scope,
  { transient, error }: Pick<StepsEnd, 'transient' | 'error'>,
): RunPause | undefined {
  if (suspendsOnFault !== true || transient === undefined || error === null) return undefined;
  if (handles?.(error) === true) return undefined;
  return { status: 'suspended', error: bareFault(error), transient };
}

function endOfError(thrown: unknown): RunEnd {
  const { code, message, hint } = toRuntimeError(thrown);
  return { status: 'failed', output: null, error: { code, message, hint } };
}

/** Runs every step of `finally`, even after one fails. A failure here ends or suspends only a run that completed. */
async function runFinally(
  run: RunContext,
  pipeline: Pipeline,
  { scope, end }: { readonly scope: Scope; readonly end: StepsEnd },
): Promise<RunEnd | RunPause> {
  const { failedAt, ...stands } = end;
  const { status } = end;
  const error = end.error && { ...bareFault(end.error), step: failedAt ?? '' };
  const outcome = { status: status === 'completed' ? 'ok' : status, error };
  let failure: StepOutcome | undefined;
  // A fault that does not end the run does not suspend it.
  const endsOtherwise = () => status !== 'completed' || (failure && failure.transient === undefined) === true;
  const handles = (fault: Fault) => endsOtherwise() || scope.handles?.(fault) === true;
  const variables = { ...scope.variables, outcome };
  const own = { ...scope, signal: run.signal, clocks: [], variables, handles };
  for (const step of pipeline.finally) {
    const stop = await runSteps(run, [step], own);
    if (stop === undefined) continue;
    failure ??= stop;
    if (status === 'completed') continue;
    const message = `[${stop.error?.code}] ${stop.error?.message}; \`finally\` does not change the result of the run`;
    run.emit({ type: 'note', name: stop.failedAt ?? step.id, level: 'warn', message });
  }
  if (failure === undefined || status !== 'completed') return runEndOf(stands);
  const failed = endOfStep(failure);
  return pauseOf(run, scope, failed) ?? runEndOf(failed);
}

function runEndOf({ status, output, error }: StepsEnd): RunEnd {
  return { status, output, error };
}

function bareFault({ code, message, hint }: Fault): Fault {
  return { code, message, hint };
}

/** The vars are those of the run's start, except for the environment. */
function openScope(run: RunContext, { env, vars }: Pipeline, input: Json): Scope {
  const known: Record<string, unknown> = {};
  const variables = {
    run: { id: run.journal.runId, labels: run.labels },
    env: env.length === 0 ? {} : run.readEnv(env),
    vars: known,
  };
  const scope: Scope = {
    input: parseLossless(input.text),
    steps: {},
    variables,
    prefix: '',
    signal: run.signal,
    clocks: [],
  };
  for (const { name, value } of vars) known[name] = evaluateIn(scope, value);
  return scope;
}

async function startSession(run: RunContext, isResumed: boolean): Promise<void> {
  if (!isResumed) await run.notifySession('session_start', sessionEvent(run));
  if (run.links.length === 0) return;
  const names = sessionStartsIn(run.journal);
  const known = names.slice(0, -1);
  for (const name of known) applySessionStart(run, name, findRecord(run.journal, name, sessionStartRecord));
  const next = names.at(-1) ?? sessionStart;
  // A resumed run whose start was never journaled fires its start now.
  const isAgain = next !== sessionStart;
  const links = isAgain
    ? run.links.filter(({ group }) => group.dialect.firesStartOnResume === true)
    : run.links;
  if (links.length === 0) return;
  const step = { name: next, kind: sessionStartRecord };
  const start = await journalStep(run.journal, step, async () => {
    const event = { hook: 'session', phase: 'session_start', event: sessionEvent(run) } as const;
    const hookContext = hookContextOfRun(run);
    const { decision } = await passGate(links, event, {
      call: run.journal.runId,
      hookContext,
      signal: run.signal,
    });
    requireFinished(run, decision.error);
    const stopped = turnStopOf(decision);
    return { context: decision.context, ...(stopped && { stopped }) };
  });
  applySessionStart(run, next, start);
}

const sessionStart = '@session/start';

function sessionStartsIn({ find }: RunContext['journal']): string[] {
  const names = [sessionStart];
  for (let count = 1; find(names.at(-1) ?? '') !== undefined; count += 1) {
    names.push(count === 1 ? '@session/resume' : `@session/resume-${count}`);
  }
  return names;
}

function applySessionStart({ session }: RunContext, from: string, start: SessionStart | undefined): void {
  if (start === undefined) return;
  const { context, stopped } = start;
  if (context.length > 0) session.context.push({ from, texts: context });
  session.ended ??= stopped;
}

function outputOf({ journal }: RunContext, { output, steps }: Pipeline, scope: Scope): Json {
  const last = steps.at(-1);
  const value = output === undefined ? last && scope.steps[last.id] : evaluateIn(scope, output);
  const composed = composeJson(value ?? null);
  return journal.adopt?.(composed) ?? composed;
}

/** Returns the outcome that stopped the steps. Throws RunSuspended, ABORTED, STORE_FAILED and RUN_ENDED. */
async function runSteps(
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
  const step = at.startsWith(scope.prefix) ? at.slice(scope.prefix.length) : at;
  const more = { ...scope.variables, error: { code, message, hint, step } };
  // The handler shares the views, so that later steps see its results.
  const handles = onError.then === 'stop' ? () => true : scope.handles;
  const stop = await runSteps(run, onError.steps, { ...scope, variables: more, handles });
  // A handled failure is final, even if its fault was transient.
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
  else if (scope.signal.aborted) throw new RuntimeError('ABORTED', `step "${name}" did not start`);
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
  const stored = { name, kind: stepRecord };
  const entry = await inStep(name, () => journalStep(run.journal, stored, timed, { holdsSteps: true }));
  run.onStep?.(name, entry);
  return entry;
}

/** Throws RESULT_INVALID if the view is nested too deeply for expressions. */
function requireReadable(outcome: StepOutcome): StepOutcome {
  if (!isDeeperThan(outcome.view, MAX_JSON_DEPTH, isTextTooDeep)) return outcome;
  throw new RuntimeError('RESULT_INVALID', `its result has more than ${MAX_JSON_DEPTH} nested levels`);
}

/** Turns an error of the step into its outcome. Rethrows errors that suspend the run. */
async function unlessSuspended(run: RunContext, work: () => Promise<StepOutcome>): Promise<StepOutcome> {
  try {
    return await work();
  } catch (error) {
    if (isSuspension(run, error)) throw error;
    return failedStepFromError(error);
  }
}

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

const kinds: {
  readonly [Kind in Step['kind']]: (
    run: RunContext,
    placed: StepContext<Extract<Step, { readonly kind: Kind }>>,
  ) => Promise<StepOutcome>;
} = {
  ...{ tool: runToolStep, eval: runEvalStep, chat: runChat, ask: runAskStep, wait: runWaitStep },
  ...{ steps: runNested, parallel: runParallel, pipeline: runPipelineStep },
};

async function runKind(run: RunContext, placed: StepContext): Promise<StepOutcome> {
  const { step } = placed;
  // TypeScript cannot see that the entry of a kind takes the steps of that kind.
  return await kinds[step.kind](run, { ...placed, step: step as never });
}

async function runNested(run: RunContext, { step, scope }: StepContext<GroupStep>): Promise<StepOutcome> {
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
  // Merged at the end, so that branches do not see each other.
  Object.assign(scope.steps, ...views);
  const outcome = failFast?.outcome({}) ?? combineOutcomes(outcomes.filter(Boolean), {});
  return withInnerViews(step, scope, outcome);
}

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

/** Excludes steps inside a nested loop, whose items hold their views. */
function nestedSteps(step: Step): readonly Step[] {
  return childSteps(step).flatMap(withNestedSteps);
}

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
