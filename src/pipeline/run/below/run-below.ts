import { RuntimeError } from '../../../errors.ts';
import type { RunRecord, Store } from '../../../store/store.ts';
import { isReopenable } from '../../../store/store-rules.ts';
import type { WaitOptions } from '../../state/decision-wait.ts';
import { RunSuspended } from '../../state/journal.ts';
import { toCurrentSteps } from '../../state/retries.ts';
import type { RequestedBelow, RunBelow } from '../../state/run-below.ts';
import type { RunContext } from '../../state/run-context.ts';
import { openSession, sessionEvent } from '../../state/session.ts';
import { openJournal } from '../../state/store-journal.ts';
import { type RunEnd, runPipeline } from '../execute-run.ts';
import { newRun } from '../new-run.ts';
import { findEarlier } from './earlier-runs.ts';
import { readEnd } from './end-below.ts';
import { keepRetry } from './keep-retry.ts';
import { relocate } from './relocate.ts';

interface BelowContext {
  readonly store: Store;
  /** The outermost run, which is claimed here. */
  readonly root: string;
  readonly config: string;
  readonly options: WaitOptions;
}

/** Begins the runs of pipeline steps, and goes on with those that have begun before. */
export function createRunBelow(context: BelowContext): RunBelow<RunContext> {
  const { store, root } = context;
  return async (parent, asked) => {
    const { id, known } = asked;
    const covered = store.coverRun(id, root);
    try {
      const found = known === undefined ? undefined : await store.findRun(id);
      const record = found ?? (await begin(context, parent, asked));
      if (found === undefined || !hasEnded(found)) {
        await execute(context, parent, { asked, record, isResumed: found !== undefined });
      } else if (await reopen(context, parent, { asked, record })) {
        await execute(context, parent, { asked, record, isResumed: true });
      }
      return await readEnd(store, id);
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
  // The outermost run has its text.
  const own = { kind: 'pipeline', name, file, source: '', config, input: input(), parent: kin } as const;
  const run = newRun(own, id);
  await store.createRun(run);
  await requireGoingOn(store, root, id);
  return { ...run, status: 'running', output: null, error: null, updatedAt: run.createdAt };
}

/** Whoever cancels the outermost run ends those that there are; one that came behind is ended here. Throws RUN_ENDED. */
async function requireGoingOn(store: Store, root: string, id: string): Promise<void> {
  if ((await store.findRunStatus(root)) !== 'cancelled') return;
  await store.setRunStatus(id, { status: 'cancelled', at: Date.now() });
  throw new RuntimeError('RUN_ENDED', `run ${root} was cancelled`);
}

function hasEnded({ status }: RunRecord): boolean {
  return status !== 'running' && status !== 'pending';
}

interface Work {
  readonly asked: RequestedBelow;
  readonly record: RunRecord;
}

/** Has a run go on that failed before the outermost one was retried; whether it did. */
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

async function execute(
  { store, root, options }: BelowContext,
  parent: RunContext,
  { asked, record, isResumed }: Work & { readonly isResumed: boolean },
): Promise<void> {
  const { id, pipeline, step, scope, isRepeated } = asked;
  const emit = relocate(parent.emit, { from: id, to: parent.journal.runId, step });
  const earlier = isRepeated ? await findEarlier(store, record) : undefined;
  const place = `${parent.place}${step}/`;
  const waiting = { ...options, emit, signal: parent.signal, root, place };
  const journal = await openJournal(store, id, waiting, earlier);
  const session = isResumed ? await openSession(store, record) : { id, turns: 0, context: [] };
  const { name } = pipeline;
  const run: RunContext = {
    ...{ ...parent, emit, name, journal, place },
    session: { ...session, isResumed },
  };
  if (isResumed) await store.setRunStatus(id, { status: 'running', at: Date.now() });
  try {
    const end = await runPipeline(run, pipeline, { input: record.input, isResumed, within: scope });
    await journal.settle?.();
    const known = end ?? cutOff(parent, asked);
    const change = known ?? { status: 'pending' as const };
    if (!(await store.setRunStatus(id, { ...change, at: Date.now() })))
      throw new RuntimeError('RUN_ENDED', `run ${id} was cancelled`);
    if (known === undefined) throw new RunSuspended();
  } catch (error) {
    if (isRunEnded(error)) await run.notifySession('session_end', sessionEvent(run), run.signal);
    throw error;
  }
  await run.notifySession('session_end', sessionEvent(run), run.signal);
}

function isRunEnded(error: unknown): boolean {
  return error instanceof RuntimeError && error.code === 'RUN_ENDED';
}

/** The end of a run that waits for a person whom nobody waits for any more; undefined: it waits on. */
function cutOff({ signal }: RunContext, { scope, step }: RequestedBelow): RunEnd | undefined {
  if (!scope.signal.aborted || signal.aborted) return undefined;
  const message = `step "${step}" was given up while it waited for a person`;
  return { status: 'failed', output: null, error: { code: 'ABORTED', message, hint: '' } };
}
