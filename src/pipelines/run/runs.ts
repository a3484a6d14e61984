import { RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import type { Json } from '../../base/json/json.ts';
import { currentFence } from '../../base/time/fence.ts';
import { type DecisionInput, requireDecision } from '../../calls/tool-call/approvals.ts';
import {
  type Emit,
  isRunEvent,
  isRunEventType,
  type RunEvent,
  type RuntimeEvent,
  wrapEmit,
} from '../../contract/event.ts';
import type { RunDocument, RunStatus, StepDocument } from '../../contract/run.ts';
import type { TraceContext } from '../../contract/trace.ts';
import type { Claim, RunRecord, Store } from '../../store/store.ts';
import { isEnded } from '../../store/store-rules.ts';
import { envBelow } from '../file/below.ts';
import type { Pipeline } from '../file/pipeline.ts';
import { openChangeWaiter } from '../state/change-waiter.ts';
import type { WaitOptions } from '../state/decision-wait.ts';
import type { Journal } from '../state/journal.ts';
import { toCurrentSteps } from '../state/retries.ts';
import type { RunContext, Services } from '../state/run-context.ts';
import { newSession, openSession, sessionEvent } from '../state/session.ts';
import { openJournal } from '../state/store-journal.ts';
import { MOST_TRIES, notDueError } from '../suspend/set-down.ts';
import { toRunDocument, toStepDocument, toStepDocuments } from './document.ts';
import { isRunEnd, runPipeline } from './execute-run.ts';
import { busyError, keepRun, requireOutermost, requireRun, type StartOptions } from './new-run.ts';
import { createRunBelow, isLeft, keepEnd, redoFaults, requireDue } from './run-below.ts';

export interface RunsContext {
  readonly store: Store;
  readonly services: Services;
  readonly config: string;
  /** Returns the build that a worker needs to continue a run of this text; absent if the store has no workers. */
  readonly buildOf?: ((source: string) => string) | undefined;
  /** false: the run is not stored, and its pending calls cannot be decided later. */
  readonly isKept?: boolean;
  /** Whether runs outlive this process and can be continued. Default: false. */
  readonly isDurable?: boolean;
  /** Returns the pipeline of a stored run. Absent: a start with an existing id only returns that run. */
  readonly toPipeline?: (run: RunRecord) => Pipeline;
}

export interface RunOptions extends Partial<WaitOptions> {
  /** Suspends the run when aborted; it can be resumed. */
  readonly signal?: AbortSignal | undefined;
  /** A `wait` with more time left, in ms, suspends the run. Default: this process waits. */
  readonly longestWaitMs?: number | undefined;
  /**
   * Called when this process has the run and begins to execute it; must not throw. With it, a fault that ends the
   * execution later is logged too, since nobody may read the promise.
   */
  readonly onBegin?: (() => void) | undefined;
  /** The trace that the caller continues. Throws USAGE if it is not valid by W3C Trace Context. */
  readonly trace?: TraceContext | undefined;
}

export interface RunListener {
  /** Called with the id once the run is stored, before its first step. */
  readonly onKept?: ((id: string) => void) | undefined;
  /** Must not throw. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
}

/**
 * Continues an interrupted run of the same id; returns any other. Throws USAGE, INPUT_INVALID, ENV_MISSING,
 * RUN_ID_TAKEN, STORE_FAILED, ABORTED; the last two have `details.run_id`.
 */
export async function startRun(
  context: RunsContext,
  pipeline: Pipeline,
  { input, id: wanted, labels, ...options }: RunOptions & StartOptions & { readonly input: Json },
  { onKept, onEvent }: RunListener = {},
): Promise<RunDocument> {
  const kept = await keepRun(context, pipeline, { input, id: wanted, labels }, () =>
    requireEnv(context, pipeline),
  );
  const { id, claim, made } = kept;
  onKept?.(id);
  if (made === undefined) return await goOnWithStarted(context, { id, onEvent }, options);
  return await workOn(
    context,
    { pipeline, id, isResumed: false, claim, made, onEvent },
    options,
    describeEnd,
  );
}

async function goOnWithStarted(
  context: RunsContext,
  { id, onEvent }: Pick<Work, 'id' | 'onEvent'>,
  options: RunOptions,
): Promise<RunDocument> {
  const { store, toPipeline } = context;
  const run = await requireRun(store, id);
  const isOurs = toPipeline !== undefined && (await isLeft(store, run));
  const claim = isOurs ? await store.claimRun(id) : undefined;
  if (claim === undefined || toPipeline === undefined) return await describe(store, id, true);
  try {
    const pipeline = toPipeline(run);
    requireEnv(context, pipeline);
    const reopen = () => redoFaults(store, { id, pipeline });
    const work = { pipeline, id, isResumed: true, claim, onEvent, reopen };
    return await workOn(context, work, options, describeEnd);
  } finally {
    await claim.release();
  }
}

/** Throws ENV_MISSING before anything is stored or done. */
export function requireEnv({ services }: Pick<RunsContext, 'services'>, pipeline: Pipeline): void {
  const env = envBelow(pipeline);
  if (env.length > 0) services.readEnv(env);
}

/**
 * Returns an existing run of the same id. Throws USAGE, also for a store without workers, INPUT_INVALID, RUN_ID_TAKEN,
 * STORE_FAILED.
 */
export async function queueRun(
  context: RunsContext,
  pipeline: Pipeline,
  { input, id: wanted, labels }: StartOptions & { readonly input: Json },
): Promise<{ readonly id: string; readonly status: RunStatus }> {
  if (context.store.work === undefined) throw noWorkersError(context.config);
  const { id, made } = await keepRun(context, pipeline, { input, id: wanted, labels, isDispatched: true });
  return { id, status: made === undefined ? (await requireRun(context.store, id)).status : 'queued' };
}

/** USAGE: the store belongs to a single machine. */
export function noWorkersError(config: string): RuntimeError {
  return new RuntimeError('USAGE', `the state store of ${config} does not support workers`, {
    hint: 'Set spec.state_store to {type: postgres, url_env: DATABASE_URL}: docs/operate/workers.md.',
  });
}

interface ResumeRequest {
  readonly id: string;
  readonly toPipeline: (run: RunRecord) => Pipeline;
  /** Throws RUN_BUSY if the run is no longer due. Fails a run whose fault has recurred too often. */
  readonly isDue?: boolean;
}

/** Returns a run that has ended. Throws RUN_UNKNOWN, RUN_BUSY, CONFIG_INVALID, ENV_MISSING, STORE_FAILED, ABORTED. */
export async function resumeRun(
  context: RunsContext,
  { id, toPipeline, isDue = false }: ResumeRequest,
  options: RunOptions = {},
): Promise<RunDocument> {
  const run = await requireOutermost(context.store, id, 'resume');
  // A caller that continues due runs must not report the results of others.
  if (isDue && isEnded(run.status)) throw notDueError(id);
  if (isEnded(run.status)) return await describe(context.store, id);
  const pipeline = toPipeline(run);
  requireEnv(context, pipeline);
  const isResumed = run.status !== 'queued' || (await context.store.pageSteps(id, { limit: 1 })).length > 0;
  const reopen = async () => {
    if (isDue && run.status !== 'queued') await requireDue(context.store, id);
    await redoFaults(context.store, { id, pipeline });
  };
  return await workOn(context, { pipeline, id, isResumed, isDue, reopen }, options, describeEnd);
}

/** Decides open pending calls as `cancelled`. Throws USAGE, RUN_UNKNOWN, RUN_ENDED, STORE_FAILED. */
export async function cancelRun(
  { store, services }: Pick<RunsContext, 'store' | 'services'>,
  id: string,
  decision: DecisionInput,
): Promise<RunDocument> {
  const { by, reason } = requireDecision(decision);
  await requireOutermost(store, id, 'cancel');
  const claim = await store.claimRun(id);
  try {
    const error = toFault(cancelled(id, by, reason));
    const open = claim === undefined ? [] : await openBelow(store, id);
    if (!(await store.setRunStatus(id, { status: 'cancelled', error, at: Date.now() }))) {
      const { status } = await requireRun(store, id);
      throw new RuntimeError('RUN_ENDED', `run ${id} is already ${status}`);
    }
    // The executing process notifies the end; without one it is done here.
    if (claim !== undefined) {
      for (const ended of [...open, id]) {
        const session = await openSession(store, await requireRun(store, ended));
        await services.notifySession('session_end', sessionEvent({ session }));
      }
    }
    return await describe(store, id);
  } finally {
    await claim?.release();
  }
}

function cancelled(id: string, by: string, reason: string): RuntimeError {
  const why = reason === '' ? '' : `: ${reason}`;
  return new RuntimeError('ABORTED', `run ${id} was cancelled by ${by}${why}`, { hint: 'Start a new run.' });
}

interface Work {
  readonly pipeline: Pipeline;
  readonly id: string;
  readonly isResumed: boolean;
  /** A new run is claimed before it is stored, so that no one treats it as interrupted. */
  readonly claim?: Claim | undefined;
  /** The run if it was created under this claim: what the store has about it is known. */
  readonly made?: RunRecord | undefined;
  readonly onEvent?: RunListener['onEvent'];
  readonly isDue?: boolean;
  /** Reopens an ended or suspended run once it is claimed. */
  readonly reopen?: () => Promise<void>;
}

/** What a read of a new run that has completed would return. */
export interface Finished {
  readonly run: RunRecord;
  /** Absent if there are many, or one failed. */
  readonly steps: readonly StepDocument[] | undefined;
  readonly find: Journal['find'];
}

/** `report` runs under the claim; its last argument is absent if the run must be read. */
export async function workOn<Report>(
  context: RunsContext,
  work: Work,
  options: RunOptions,
  report: (store: Store, id: string, finished?: Finished) => Promise<Report>,
): Promise<Report> {
  const { store, services } = context;
  let claim: Claim | undefined;
  let hasBegun = false;
  try {
    claim = work.claim ?? (await store.claimRun(work.id));
    if (claim === undefined) throw busyError(work.id);
    await work.reopen?.();
    const run = work.made ?? (await requireRun(store, work.id));
    let finished: Finished | undefined;
    if (!isEnded(run.status)) {
      const onBegin = () => {
        hasBegun = true;
        options.onBegin?.();
      };
      const owned = { ...work, claim, run };
      const { signal } = options;
      // A cancelled pipeline ends before its next step; a call has none.
      if (run.kind === 'pipeline') finished = await execute(context, owned, { ...options, onBegin });
      else
        finished = await untilCancelled(store, { id: work.id, signal }, async (either) =>
          execute(context, owned, { ...options, onBegin, signal: either }),
        );
    }
    return await report(store, work.id, finished);
  } catch (thrown) {
    const error = withRunId(thrown, work.id);
    const isLogged = hasBegun && options.onBegin !== undefined && error.code !== 'ABORTED';
    if (isLogged) services.emit({ type: 'note', name: work.id, level: 'warn', message: error.message });
    throw error;
  } finally {
    await claim?.release();
  }
}

async function execute(
  { store, services, config, isKept = true, isDurable = false }: RunsContext,
  {
    pipeline,
    id,
    isResumed,
    onEvent,
    isDue,
    claim,
    made,
    run: record,
  }: Work & { readonly claim: Claim; readonly run: RunRecord },
  options: RunOptions,
): Promise<Finished | undefined> {
  const emit = onEvent === undefined ? services.emit : emitBoth(services.emit, onEvent);
  const signal = options.signal ?? new AbortController().signal;
  const { wait = false, ask, onPending, longestWaitMs } = options;
  const hasTries = !isDue || (record.suspension?.tries ?? 0) < MOST_TRIES;
  const suspendsOnFault =
    isKept && isDurable && record.kind === 'pipeline' && pipeline.onFault !== 'fail' && hasTries;
  const isNew = made !== undefined;
  const steps = new Map<string, StepDocument>();
  // The store may remove secrets from failures, so a run with one is read back; so is a long one.
  let isKnown = isNew;
  const journal = await openJournal(store, id, {
    ...{ wait, ask, onPending, emit, signal, claim },
    around: currentFence(),
    isNew,
  });
  const notifySession = record.kind === 'tool' ? async () => {} : services.notifySession;
  const { name } = pipeline;
  const session = { ...(isNew ? newSession(id) : await openSession(store, record)), isResumed };
  const links = record.kind === 'tool' ? [] : services.links;
  const labels = labelsOf(record);
  const run: RunContext = {
    ...services,
    emit,
    name,
    labels,
    notifySession,
    links,
    isKept,
    isByHost: record.kind === 'tool',
    suspendsOnFault,
    longestWaitMs,
    journal,
    onStep: (step, entry) => {
      isKnown &&= entry.error === undefined && steps.size < MOST_STEPS;
      if (isKnown) steps.set(step, toStepDocument(step, entry));
    },
    signal,
    session,
    retry: journal.retries ?? 0,
    place: '',
    runBelow: createRunBelow({ store, root: id, config, options: { wait, ask, onPending } }),
  };
  const about = { run: id, name };
  if (isResumed || record.status === 'queued')
    await store.setRunStatus(id, { status: 'running', at: Date.now() });
  options.onBegin?.();
  emit({ type: 'run.started', ...about, isResumed });
  try {
    const came = await runPipeline(run, pipeline, {
      ...{ input: record.input, isResumed },
      isCall: record.kind === 'tool',
    });
    const { status } = came;
    const error = 'error' in came ? came.error : null;
    if (!(await keepEnd(store, { record, journal }, came)))
      throw new RuntimeError('RUN_ENDED', `run ${id} was cancelled`);
    if (isRunEnd(came)) await run.notifySession('session_end', sessionEvent(run), signal);
    emit({ type: 'run.finished', ...about, status, ...(error && { error }) });
    if (!isNew || !isRunEnd(came) || status !== 'completed') return undefined;
    return {
      run: { ...record, ...came },
      steps: isKnown ? [...steps.values()] : undefined,
      find: journal.find,
    };
  } catch (error) {
    // The cancelling process has stored the status; only the end is notified here.
    const isEnd = toRuntimeError(error).code === 'RUN_ENDED';
    if (!isEnd && !(signal.aborted && (await store.findRunStatus(id)) === 'cancelled')) throw error;
    await run.notifySession('session_end', sessionEvent(run), signal);
    emit({ type: 'run.finished', ...about, status: 'cancelled' });
    return undefined;
  }
}

/** A run with more steps is read back, so that a long loop holds nothing of its turns. */
const MOST_STEPS = 1_000;

/** Runs the work with a signal that is also aborted when any process cancels the run. */
async function untilCancelled<Result>(
  store: Store,
  { id, signal }: { readonly id: string; readonly signal: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const cancelled = new AbortController();
  const over = new AbortController();
  const waiter = openChangeWaiter(store, over.signal, { idleMs: CANCEL_POLL_MS });
  const look = async () => {
    while ((await store.findRunStatus(id)) !== 'cancelled') await waiter.next(undefined);
    cancelled.abort();
  };
  // A store that fails ends the run anyway.
  look().catch(() => {});
  try {
    return await work(AbortSignal.any([cancelled.signal, ...(signal === undefined ? [] : [signal])]));
  } finally {
    over.abort();
    waiter.close();
  }
}

/** A store may report only decisions. */
const CANCEL_POLL_MS = 1_000;

export function labelsOf(record: RunRecord): Readonly<Record<string, unknown>> {
  return record.labels ?? {};
}

export async function describeEnd(store: Store, id: string, finished?: Finished): Promise<RunDocument> {
  if (finished?.steps === undefined) return await describe(store, id);
  // An ended run has no open calls.
  return toRunDocument(finished.run, finished.steps, []);
}

/** `isOfAnother`: another process may be executing the run. */
export async function describe(store: Store, id: string, isOfAnother = false): Promise<RunDocument> {
  const run = await requireRun(store, id);
  const pendings = await store.listPendings({ runId: id, below: true }, Date.now());
  const isUnderWay = run.status === 'running' || run.status === 'queued';
  const status = isUnderWay && !isOfAnother ? 'pending' : run.status;
  const { current } = toCurrentSteps(id, await store.listSteps(id));
  const shown = { ...run, status };
  return toRunDocument(shown, toStepDocuments(shown, [...current.values()]), pendings);
}

async function openBelow(store: Store, root: string): Promise<readonly string[]> {
  const all = await store.summarizeRuns({ root }, Date.now());
  return all.filter(({ status }) => !isEnded(status)).map(({ id }) => id);
}

function emitBoth(emit: Emit, onEvent: (event: RunEvent) => void): Emit {
  const take = (event: RuntimeEvent) => {
    emit(event);
    if (isRunEvent(event)) onEvent(event);
  };
  const { hears } = emit;
  return wrapEmit(emit, take, hears && ((type) => isRunEventType(type) || hears(type)));
}

function withRunId(thrown: unknown, id: string): RuntimeError {
  const error = toRuntimeError(thrown);
  const { code, message, details } = error;
  if ((code !== 'ABORTED' && code !== 'STORE_FAILED') || details['run_id'] === id) return error;
  const hint = `Continue with \`signalbox runs resume ${id}\`.`;
  const options = {
    hint: code === 'ABORTED' ? hint : error.hint,
    details: { ...details, run_id: id },
    cause: error,
  };
  return new RuntimeError(code, `run ${id}: ${message}`, options);
}
