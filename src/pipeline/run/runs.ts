import { randomBytes } from 'node:crypto';
import type { RunDocument } from '../../contract/run.ts';
import { RuntimeError, toFault, toRuntimeError } from '../../errors.ts';
import { DEEPEST, isTextTooDeep, isTooDeep } from '../../json/depth.ts';
import { isObject, Json } from '../../json/json.ts';
import { findDuplicateKey } from '../../json/scan.ts';
import type { Claim, NewRun, RunRecord, Store } from '../../store/store.ts';
import { type Decider, requireDecision } from '../../tool-call/decider.ts';
import type { Pipeline } from '../file/model.ts';
import type { Equipment, RunContext, Session } from '../state/run-context.ts';
import { sessionEvent } from '../state/session-event.ts';
import { readStepEntry } from '../state/step-outcome.ts';
import { openJournal, type Waiting } from '../state/store-journal.ts';
import { toRunDocument } from './document.ts';
import { requireInput, runPipeline } from './run.ts';

/** What runs are made of. */
export interface RunsContext {
  readonly store: Store;
  readonly equipment: Equipment;
  /** The RuntimeConfig file, absolute. */
  readonly config: string;
  /** false: nothing outlives the run, and nobody can decide about its calls. */
  readonly isKept?: boolean;
}

export interface RunOptions extends Partial<Waiting> {
  /** Sets the run down where it is; it can be resumed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts a run and works on it until it ends or waits for a person. Throws INPUT_INVALID, STORE_FAILED,
 * ABORTED; the last two name the run in `details.run_id`.
 */
export async function startRun(
  context: RunsContext,
  pipeline: Pipeline,
  { input, ...options }: RunOptions & { readonly input: Json },
): Promise<RunDocument> {
  requireInput(pipeline, input);
  const { name, file, source } = pipeline;
  const run = newRun({ kind: 'pipeline', name, file, source, config: context.config, input });
  await context.store.createRun(run);
  return await workOn(context, { pipeline, id: run.id, isResumed: false }, options);
}

/** A run that has not begun, under an id of its own. */
export function newRun(run: Omit<NewRun, 'id' | 'createdAt'>): NewRun {
  return { ...run, id: `run_${randomBytes(8).toString('hex')}`, createdAt: Date.now() };
}

/**
 * Goes on with a run that waits or was cut off; one that has ended is only told of again. Throws
 * RUN_UNKNOWN, RUN_BUSY, CONFIG_INVALID, STORE_FAILED, ABORTED.
 */
export async function resumeRun(
  context: RunsContext,
  { id, toPipeline }: { readonly id: string; readonly toPipeline: (run: RunRecord) => Pipeline },
  options: RunOptions = {},
): Promise<RunDocument> {
  const run = await requireRun(context.store, id);
  if (hasEnded(run)) return await describe(context.store, id);
  return await workOn(context, { pipeline: toPipeline(run), id, isResumed: true }, options);
}

/**
 * Ends a run for good: its open pendings are ruled `cancelled`, and a step in flight in another process is
 * the last. Throws USAGE, RUN_UNKNOWN, RUN_ENDED, STORE_FAILED.
 */
export async function cancelRun(
  { store, equipment }: Pick<RunsContext, 'store' | 'equipment'>,
  id: string,
  decision: Decider,
): Promise<RunDocument> {
  const { by, reason } = requireDecision(decision);
  await requireRun(store, id);
  const claim = await store.claimRun(id);
  try {
    const error = toFault(cancelled(id, by, reason));
    if (!(await store.setRunStatus(id, { status: 'cancelled', error, at: Date.now() }))) {
      const { status } = await requireRun(store, id);
      throw new RuntimeError('RUN_ENDED', `run ${id} is ${status} already`);
    }
    // Whoever executes the run tells of its end; of one that waits nobody else does.
    if (claim !== undefined)
      await equipment.tell('session_end', sessionEvent({ session: await openSession(store, id) }));
    return await describe(store, id);
  } finally {
    await claim?.release();
  }
}

function cancelled(id: string, by: string, reason: string): RuntimeError {
  const why = reason === '' ? '' : `: ${reason}`;
  return new RuntimeError('ABORTED', `run ${id} was cancelled by ${by}${why}`, { hint: 'Start a new run.' });
}

/** Throws RUN_UNKNOWN, STORE_FAILED. */
export async function requireRun(store: Store, id: string): Promise<RunRecord> {
  // A caller without types may hand in anything.
  const run = typeof id === 'string' ? await store.findRun(id) : undefined;
  if (run !== undefined) return run;
  throw new RuntimeError('RUN_UNKNOWN', `there is no run "${id}" in ${store.place}`);
}

interface Work {
  readonly pipeline: Pipeline;
  readonly id: string;
  readonly isResumed: boolean;
}

/** Holds the run's claim as long as this process works on it. */
async function workOn(context: RunsContext, work: Work, options: RunOptions): Promise<RunDocument> {
  const { store } = context;
  let claim: Claim | undefined;
  try {
    claim = await store.claimRun(work.id);
    if (claim === undefined) {
      throw new RuntimeError('RUN_BUSY', `run ${work.id} is being executed by another process`);
    }
    const run = await requireRun(store, work.id);
    // It may have ended between the look and the claim.
    if (!hasEnded(run)) await execute(context, { ...work, run }, options);
    return await describe(store, work.id);
  } catch (error) {
    throw naming(error, work.id);
  } finally {
    await claim?.release();
  }
}

async function execute(
  { store, equipment, isKept = true }: RunsContext,
  { pipeline, id, isResumed, run: record }: Work & { readonly run: RunRecord },
  options: RunOptions,
): Promise<void> {
  const { emit } = equipment;
  const signal = options.signal ?? new AbortController().signal;
  const { wait = false, ask, onPending } = options;
  const journal = await openJournal(store, id, { wait, ask, onPending, emit, signal });
  // A single call is no session.
  const tell = record.kind === 'tool' ? async () => {} : equipment.tell;
  const { name } = pipeline;
  const session = { ...(await openSession(store, id)), isResumed };
  const links = record.kind === 'tool' ? [] : equipment.links;
  const run: RunContext = { ...equipment, name, tell, links, isKept, journal, signal, session };
  const about = { run: id, name };
  if (isResumed) await store.setRunStatus(id, { status: 'running', at: Date.now() });
  emit({ type: 'run.started', ...about, isResumed });
  try {
    const end = await runPipeline(run, pipeline, { input: record.input, isResumed });
    const { status, error } = end ?? { status: 'pending' as const, error: null };
    const stands = await store.setRunStatus(id, { ...(end ?? { status }), at: Date.now() });
    if (!stands) throw new RuntimeError('RUN_ENDED', `run ${id} was cancelled`);
    if (end !== undefined) await run.tell('session_end', sessionEvent(run), signal);
    emit({ type: 'run.finished', ...about, status, ...(error && { error }) });
  } catch (error) {
    // Whoever cancelled the run has said so in the store; here it only ends.
    if (toRuntimeError(error).code !== 'RUN_ENDED') throw error;
    await run.tell('session_end', sessionEvent(run), signal);
    emit({ type: 'run.finished', ...about, status: 'cancelled' });
  }
}

/** How far the conversation of a run has come. */
export async function openSession(store: Store, id: string): Promise<Session> {
  const entries = (await store.listSteps(id)).map(({ outcome }) => outcome && readStepEntry(outcome));
  const chats = entries.filter((entry) => entry?.kind === 'chat');
  const turns = chats.filter((entry) => entry?.status === 'ok').length;
  const calls = entries.filter((entry) => entry?.kind === 'chat' || entry?.kind === 'tool');
  const ended = calls.map((entry) => endedBy(entry?.view.value)).find((stopped) => stopped !== undefined);
  return { id, turns, isResumed: true, context: [], ...(ended && { ended }) };
}

/** The hook that ended the session with this turn, if one did. */
function endedBy(view: unknown): Session['ended'] {
  if (!isObject(view) || view['abort'] !== 'session') return undefined;
  const { hook, reason, metadata } = view;
  return { hook: String(hook), reason: String(reason), isSession: true, metadata };
}

async function describe(store: Store, id: string): Promise<RunDocument> {
  const run = await requireRun(store, id);
  const pendings = await store.listPendings({ runId: id }, Date.now());
  return toRunDocument(run, await store.listSteps(id), pendings);
}

function hasEnded({ status }: RunRecord): boolean {
  return status !== 'running' && status !== 'pending';
}

/** The same error, telling how to go on with the run. */
function naming(thrown: unknown, id: string): RuntimeError {
  const error = toRuntimeError(thrown);
  const { code, message, details } = error;
  if (code !== 'ABORTED' && code !== 'STORE_FAILED') return error;
  const hint = `Go on with \`signalbox runs resume ${id}\`.`;
  const options = {
    hint: code === 'ABORTED' ? hint : error.hint,
    details: { ...details, run_id: id },
    cause: error,
  };
  return new RuntimeError(code, `run ${id}: ${message}`, options);
}

/** The input of a run as JSON text; nothing is an empty object. Throws INPUT_INVALID when it is not JSON. */
export function readInput(input: unknown): Json {
  if (input === undefined) return new Json('{}');
  try {
    // What is nested too deeply for a reader is found out now, not in the middle of the run.
    if (typeof input === 'string' ? isTextTooDeep(input) : isTooDeep(input)) {
      throw new Error(`it is nested in more than ${DEEPEST} levels, or contains itself`);
    }
    const json = typeof input === 'string' ? new Json(input.trim()) : Json.from(input);
    void json.value;
    const twice = findDuplicateKey(json.text);
    if (twice !== undefined) throw new Error(`the key "${twice}" stands twice`);
    return json;
  } catch (error) {
    throw new RuntimeError('INPUT_INVALID', `the input cannot be used: ${toRuntimeError(error).message}`, {
      cause: error,
    });
  }
}
