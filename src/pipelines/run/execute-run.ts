import { type Fault, toRuntimeError } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { type Json, parseLossless } from '../../base/json/json.ts';
import { fenced } from '../../base/time/fence.ts';
import { passGate } from '../../calls/hooks/gate.ts';
import type { Pipeline } from '../file/pipeline.ts';
import { RunSuspended } from '../state/journal.ts';
import { findRecord, journalStep } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import { hookContextOfRun, sessionEvent } from '../state/session.ts';
import type { StepOutcome } from '../state/step-outcome.ts';
import { evaluateIn, type Scope } from '../state/step-scope.ts';
import { isSuspension, requireFinished } from '../state/suspension.ts';
import { type SessionStart, sessionStartRecord } from '../state/turn-record.ts';
import type { RunPause } from '../suspend/set-down.ts';
import type { TransientFault } from '../suspend/transient-fault.ts';
import { turnStopOf } from '../turn-hooks.ts';
import { runSteps } from './steps.ts';

/** The end of a run. */
export interface RunEnd {
  readonly status: 'completed' | 'failed' | 'denied';
  readonly output: Json | null;
  readonly error: Fault | null;
}

export function isRunEnd(came: RunEnd | RunPause): came is RunEnd {
  return 'output' in came;
}

/**
 * Runs a pipeline from its start, with journaled steps skipped, until it ends or goes no further for now: it waits for people
 * or a time, or a fault that may be gone later would be its end. Throws ABORTED when `signal` ended it, STORE_FAILED and RUN_ENDED; after the first two it
 * can be resumed.
 */
export async function runPipeline(
  run: RunContext,
  pipeline: Pipeline,
  given: PipelineInput,
): Promise<RunEnd | RunPause> {
  return await fenced(run.journal.fence, () => runFenced(run, pipeline, given));
}

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

/** How a pipeline is run. */
interface PipelineInput {
  readonly input: Json;
  readonly isResumed: boolean;
  /** What ends its steps before their time, but not those of `finally`, and the clocks that wait with it, and which faults do not end what is around it; absent: what suspends the run. */
  readonly within?: Pick<Scope, 'signal' | 'clocks' | 'handles'>;
}

/** The end of the steps. `failedAt`: the path of the innermost one that failed. */
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

/** In place of an end by a fault that may be gone later. */
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

/**
 * Runs every step of `finally`, also after one of them has failed. The end that the steps came to stands; only a run that
 * went well ends as the first failure here, or is suspended by it.
 */
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
  // A fault that the run does not end by sets nothing down.
  const endsOtherwise = () => status !== 'completed' || (failure && failure.transient === undefined) === true;
  const handles = (fault: Fault) => endsOtherwise() || scope.handles?.(fault) === true;
  const variables = { ...scope.variables, outcome };
  const own = { ...scope, signal: run.signal, clocks: [], variables, handles };
  for (const step of pipeline.finally) {
    const stop = await runSteps(run, [step], own);
    if (stop === undefined) continue;
    failure ??= stop;
    if (status === 'completed') continue;
    const message = `[${stop.error?.code}] ${stop.error?.message}; the run ends as it did before \`finally\``;
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

/** The scope of the steps of the file. Its vars are what they were when the run began, but for the environment. */
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

/** Fires the session start (or resume) hooks; context of foreign hooks is kept for the next model call. */
async function startSession(run: RunContext, isResumed: boolean): Promise<void> {
  if (!isResumed) await run.notifySession('session_start', sessionEvent(run));
  if (run.links.length === 0) return;
  const names = sessionStartsIn(run.journal);
  const known = names.slice(0, -1);
  for (const name of known) applySessionStart(run, name, findRecord(run.journal, name, sessionStartRecord));
  const next = names.at(-1) ?? sessionStart;
  // A session whose start was never journaled fires its start now, also in a resumed run.
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

/** The journal names of the session start and its resumes so far, and last the name of the next one. */
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
