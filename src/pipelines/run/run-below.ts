import { RuntimeError } from '../../base/errors.ts';
import { fenced } from '../../base/time/fence.ts';
import { type Emit, isRunEvent, type RuntimeEvent, wrapEmit } from '../../contract/event.ts';
import type { Claim, RunRecord, Store } from '../../store/store.ts';
import { isEnded, isReopenable } from '../../store/store-rules.ts';
import type { Pipeline } from '../file/pipeline.ts';
import type { WaitOptions } from '../state/decision-wait.ts';
import { type Journal, RunSuspended } from '../state/journal.ts';
import { type CurrentSteps, redoRecord, retryName, toCurrentSteps } from '../state/retries.ts';
import type { EndBelow, RequestedBelow, RunBelow } from '../state/run-below.ts';
import type { RunContext } from '../state/run-context.ts';
import { newSession, openSession, sessionEvent } from '../state/session.ts';
import { stepEntryOf } from '../state/step-outcome.ts';
import { type EarlierRuns, openJournal } from '../state/store-journal.ts';
import { type FaultPause, notDueError, type RunPause, toSetDown } from '../suspend/set-down.ts';
import { isRunEnd, type RunEnd, runPipeline } from './execute-run.ts';
import { newRun, toRecord } from './new-run.ts';
import { keepRetry, planResume } from './plan-retry.ts';

interface BelowContext {
  readonly store: Store;
  /** The outermost run, which this process has claimed. */
  readonly root: string;
  readonly config: string;
  readonly options: WaitOptions;
}

export function createRunBelow(context: BelowContext): RunBelow<RunContext> {
  const { store, root } = context;
  return async (parent, asked) => {
    const { id, known } = asked;
    const covered = store.coverRun(id, root);
    try {
      const found = known === undefined ? undefined : await store.findRun(id);
      const record = found ?? (await begin(context, parent, asked));
      const goesOn = !isEnded(record.status) || (await reopen(context, parent, { asked, record }));
      const setDown = goesOn
        ? await execute(context, parent, { asked, record, claim: covered, isResumed: found !== undefined })
        : undefined;
      return await readEnd(store, id, setDown);
    } finally {
      await covered.release();
    }
  };
}

async function begin(
  { store, root, config }: BelowContext,
  parent: RunContext,
  { id, pipeline, step, input }: RequestedBelow,
): Promise<RunRecord> {
  const { name, file } = pipeline;
  const kin = { id: parent.journal.runId, root, step: `${parent.place}${step}` };
  // The outermost run stores its text.
  const own = { kind: 'pipeline', name, file, source: '', config, input: input(), parent: kin } as const;
  const run = newRun(own, id);
  await store.createRun(run);
  await requireGoingOn(store, root, id);
  return toRecord(run);
}

/** Cancelling the outermost run ends its nested runs; one created later is ended here. Throws RUN_ENDED. */
async function requireGoingOn(store: Store, root: string, id: string): Promise<void> {
  if ((await store.findRunStatus(root)) !== 'cancelled') return;
  await store.setRunStatus(id, { status: 'cancelled', at: Date.now() });
  throw new RuntimeError('RUN_ENDED', `run ${root} was cancelled`);
}

interface Work {
  readonly asked: RequestedBelow;
  readonly record: RunRecord;
}

/** Continues a run that failed before the outermost one was retried; returns whether it did. */
async function reopen(
  { store, root }: BelowContext,
  parent: RunContext,
  { asked: { id, pipeline, step, known }, record }: Work,
): Promise<boolean> {
  if (!isReopenable(record.status)) return false;
  const steps = toCurrentSteps(id, await store.listSteps(id));
  if (Math.max(known?.retry ?? 0, steps.last?.of ?? 0) >= parent.retry) return false;
  const { retriedFrom: from = '' } = parent.journal;
  const inner = from.startsWith(`${step}/`) ? from.slice(step.length + 1) : undefined;
  const request = { run: record, pipeline, steps, from: inner };
  const stands = await keepRetry(store, request, { status: 'running', of: parent.retry });
  await requireGoingOn(store, root, id);
  return stands;
}

/** Returns the fault that suspended the run. Throws RunSuspended if it waits. */
async function execute(
  { store, root, options }: BelowContext,
  parent: RunContext,
  { asked, record, claim, isResumed }: Work & { readonly claim: Claim; readonly isResumed: boolean },
): Promise<FaultPause | undefined> {
  const { id, pipeline, step, scope, isRepeated } = asked;
  const emit = relocate(parent.emit, { from: id, to: parent.journal.runId, step });
  const earlier = isRepeated ? await findEarlier(store, record) : undefined;
  const place = `${parent.place}${step}/`;
  const waiting = {
    ...options,
    emit,
    signal: parent.signal,
    root,
    place,
    claim,
    around: parent.journal.around,
    isNew: !isResumed,
  };
  if (isResumed) await redoFaults(store, { id, pipeline, of: parent.retry });
  const journal = await openJournal(store, id, waiting, earlier);
  const session = isResumed ? await openSession(store, record) : newSession(id);
  const { name } = pipeline;
  const run: RunContext = {
    ...{ ...parent, emit, name, journal, place, onStep: undefined },
    // The outermost run must support suspension as well.
    suspendsOnFault: parent.suspendsOnFault === true && pipeline.onFault !== 'fail',
    session: { ...session, isResumed },
  };
  if (isResumed) await store.setRunStatus(id, { status: 'running', at: Date.now() });
  try {
    const { signal, clocks, handles } = scope;
    const within = { signal, clocks, handles };
    const came = await runPipeline(run, pipeline, { input: record.input, isResumed, within });
    const setDown = await keep(
      store,
      { record, journal },
      isRunEnd(came) ? came : (cutOff(parent, asked) ?? came),
    );
    if (setDown !== undefined) return setDown;
  } catch (error) {
    if (isRunEnded(error)) await notifyEnd(run);
    throw error;
  }
  await notifyEnd(run);
  return undefined;
}

/** Without a fence, since no process can continue an ended run. */
async function notifyEnd(run: RunContext): Promise<void> {
  await fenced(undefined, () => run.notifySession('session_end', sessionEvent(run), run.signal));
}

/** Returns the fault that suspends the run. Throws RunSuspended if it waits, RUN_ENDED, STORE_FAILED. */
async function keep(
  store: Store,
  { record, journal }: { readonly record: RunRecord; readonly journal: Journal },
  came: RunEnd | RunPause,
): Promise<FaultPause | undefined> {
  if (!(await keepEnd(store, { record, journal }, came)))
    throw new RuntimeError('RUN_ENDED', `run ${record.id} was cancelled`);
  if (isRunEnd(came)) return undefined;
  if (came.status === 'suspended') return came;
  throw new RunSuspended({ until: came.until, waitsForCalls: came.status === 'pending' });
}

/** Stores how a run ended or why it pauses; false if it had ended before. Throws STORE_FAILED. */
export async function keepEnd(
  store: Store,
  { record, journal }: { readonly record: RunRecord; readonly journal: Journal },
  came: RunEnd | RunPause,
): Promise<boolean> {
  if (isRunEnd(came)) {
    journal.requireWritable?.('');
    // The end follows the last outcomes in the same transaction, and fails if one of them does.
    const ending = store.setRunStatus(record.id, { ...came, at: Date.now() });
    return (await Promise.all([ending, journal.settle?.()]))[0];
  }
  await journal.settle?.();
  // Due runs are found by the clock of the store.
  const at = await store.now();
  return await store.setRunStatus(record.id, toSetDown(record, came, at));
}

function isRunEnded(error: unknown): boolean {
  return error instanceof RuntimeError && error.code === 'RUN_ENDED';
}

/** The end of a waiting run whose parent step was aborted; undefined: it keeps waiting. */
function cutOff({ signal }: RunContext, { scope, step }: RequestedBelow): RunEnd | undefined {
  if (!scope.signal.aborted || signal.aborted) return undefined;
  const message = `step "${step}" was cancelled while it waited`;
  return { status: 'failed', output: null, error: { code: 'ABORTED', message, hint: '' } };
}

function relocate(
  emit: Emit,
  { from, to, step }: { readonly from: string; readonly to: string; readonly step: string },
): Emit {
  const tell = (event: RuntimeEvent) => {
    if (!isRunEvent(event) || event.run !== from) emit(event);
    else if ('step' in event) emit({ ...event, run: to, step: `${step}/${event.step}` });
  };
  return wrapEmit(emit, tell);
}

async function findEarlier(store: Store, { id, parent }: RunRecord): Promise<EarlierRuns | undefined> {
  if (parent === undefined) return undefined;
  const all = await store.summarizeRuns({ parent: parent.id }, Date.now());
  const before = all
    .filter((run) => run.parent?.step === parent.step)
    .toSorted((one, other) => one.place - other.place);
  const own = before.findIndex((run) => run.id === id);
  const [first, ...others] = before.slice(0, Math.max(own, 0));
  if (first === undefined) return undefined;
  const records: CurrentSteps[] = [];
  for (const run of [first, ...others]) records.push(toCurrentSteps(run.id, await store.listSteps(run.id)));
  return {
    first: first.id,
    records: records.flatMap(({ redone, current }) => [...redone, ...current.values()]),
    count: records.reduce((sum, { retries }) => sum + 1 + retries, 0),
  };
}

async function readEnd(store: Store, id: string, setDown?: FaultPause): Promise<EndBelow> {
  if (setDown !== undefined) {
    const { error, transient } = setDown;
    const failedAt = await findFailed(store, { id, status: 'suspended', error });
    return { status: 'failed', output: null, error, failedAt, transient };
  }
  const run = await store.findRun(id);
  const { status, output = null, error = null } = run ?? {};
  switch (status) {
    case 'completed':
      return { status, output, error, failedAt: undefined };
    case 'failed':
    case 'denied': {
      const failedAt = error === null ? undefined : await findFailed(store, { id, status, error });
      return { status, output: null, error, failedAt };
    }
    default:
      throw new RuntimeError('RUN_ENDED', `run ${id} is ${status ?? 'gone'}`);
  }
}

async function findFailed(
  store: Store,
  run: Pick<RunRecord, 'id' | 'status'> & { readonly error: NonNullable<RunRecord['error']> },
): Promise<string | undefined> {
  const { current } = toCurrentSteps(run.id, await store.listSteps(run.id));
  const failed = [...current.values()].flatMap((record) => {
    const entry = /[/[]/.test(record.step) ? undefined : stepEntryOf(run, record);
    const isCause = entry?.error?.code === run.error.code && entry.error.message === run.error.message;
    return isCause ? [entry?.failedAt ?? record.step] : [];
  });
  return failed.at(-1);
}

/** Plans what a suspended run repeats after a fault. `of` is the outermost run's retry. Throws STORE_FAILED. */
export async function redoFaults(
  store: Store,
  { id, pipeline, of }: { readonly id: string; readonly pipeline: Pipeline; readonly of?: number },
): Promise<void> {
  const run = await store.findRun(id);
  if (run?.status !== 'suspended') return;
  const steps = toCurrentSteps(id, await store.listSteps(id));
  const redo = planResume({ run, pipeline, steps });
  // A process that was killed here has already stored the plan.
  if (redo.length === 0) return;
  await store.endStep(
    id,
    retryName(steps.retries + 1),
    redoRecord.write({ redo, ...(of !== undefined && { of }) }),
    Date.now(),
  );
}

/** Throws RUN_BUSY if another process has continued the run, and STORE_FAILED. */
export async function requireDue(store: Store, id: string): Promise<void> {
  const { runs } = await store.listDue({ at: Date.now(), id });
  if (runs.length === 0) throw notDueError(id);
}

/** Whether a start with this id continues the run: it waits neither for a person nor for a worker. */
export async function isLeft(store: Store, { id, status, parent }: RunRecord): Promise<boolean> {
  // The parent run continues a nested run.
  if (parent !== undefined || isEnded(status) || status === 'queued') return false;
  if (status !== 'pending') return true;
  return (await store.listPendings({ runId: id, below: true, open: true }, Date.now())).length === 0;
}
