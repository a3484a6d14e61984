import { type Fault, RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { shorten } from '../../base/text/phrases.ts';
import { whenAborted } from '../../base/time/async.ts';
import { type CallableTool, readArgs } from '../../calls/tool-call/callable-tool.ts';
import { isQuestion } from '../../contract/approval.ts';
import type { CallOutcome, ToolDocument } from '../../contract/document.ts';
import { requirePending } from '../../pipelines/run/decisions.ts';
import {
  type CallName,
  claimCallRun,
  directCallName,
  readCallDocument,
  toCallDocument,
  toPendingCallDocument,
} from '../../pipelines/run/direct-call-run.ts';
import { newRun, readLabels, requireRun, toRecord } from '../../pipelines/run/new-run.ts';
import {
  type Finished,
  type RunOptions,
  type RunsContext,
  resumeRun,
  workOn,
} from '../../pipelines/run/runs.ts';
import { type ChangeWaiter, openChangeWaiter } from '../../pipelines/state/change-waiter.ts';
import { type CallIdentity, identify, keyWithoutId } from '../../store/identities.ts';
import type { Claim, RunRecord, Store } from '../../store/store.ts';
import { isEnded, isOfAgent } from '../../store/store-rules.ts';
import type { CallOptions, OutcomeOptions, StartCallOptions, StartedCall } from '../api-options.ts';

export interface CallRunsContext {
  readonly runs: () => Promise<RunsContext & Required<Pick<RunsContext, 'toPipeline'>>>;
  /** The build of a worker that can continue a call. */
  readonly buildOf: () => string;
  /** Makes a call, which is stored only if it waits. Undefined: another call is stored under that name. */
  readonly callOnce: (
    tool: CallableTool,
    args: unknown,
    options: CallOptions & { readonly name: CallName },
  ) => Promise<ToolDocument | undefined>;
  /** Passes a signal that also ends the work when the runtime is closed. */
  readonly track: <Options extends RunOptions, Result>(
    options: Options,
    work: (options: Options) => Promise<Result>,
  ) => Promise<Result>;
}

export interface CallRuns {
  start(tool: CallableTool, args: unknown, options: StartCallOptions): StartedCall;
  /** Throws CALL_ID_TAKEN, USAGE, STORE_FAILED. */
  call(tool: CallableTool, args: unknown, options: IdentifiedOptions): Promise<ToolDocument>;
  outcome(run: string, options?: OutcomeOptions): Promise<CallOutcome>;
  outcomeOfPending(id: string, options?: OutcomeOptions): Promise<CallOutcome>;
}

type IdentifiedOptions = CallOptions & { readonly identity: CallIdentity };

/** Tool calls that are runs: any process can continue them and read their outcomes. */
export function openCallRuns(context: CallRunsContext): CallRuns {
  const { runs, track } = context;
  const executions = new Map<string, Execution>();

  const start: CallRuns['start'] = (tool, args, options) => {
    const kept = Promise.withResolvers<string>();
    kept.promise.catch(() => {});
    const beginRead = async () =>
      await begin({ tool, args: readArgs(tool.name, args), onKept: kept.resolve }, options);
    const done = beginRead();
    done.catch(kept.reject);
    return { id: kept.promise, done };
  };

  const begin = async (
    { tool, args, onKept, wholeFaults }: Asked,
    { id: given, labels, signal }: StartCallOptions,
  ): Promise<ToolDocument> => {
    const identity = readIdentity(typeof given === 'object' ? given : { principal: '', id: given });
    const known = readLabels(labels);
    requireNotAborted(signal);
    const { store, config } = await runs();
    const wanted = identify(identity, tool.name, args);
    // Without an ID, no other start is the same call.
    const name = identity.id === undefined ? { ...wanted, key: null } : wanted;
    const waiting = { ...wanted, key: keyWithoutId(wanted), at: Date.now() };
    if (identity.joinsWaiting === true) {
      const found = await store.findIdentity(waiting);
      if (found !== undefined) await store.claimIdentity({ ...wanted, run: found.run, at: waiting.at });
    }
    const claimed = await claimCallRun(store, name, signal);
    const { id } = claimed;
    const followAs = async (options: Pick<FollowCaller, 'claim' | 'made'> = {}) => {
      const document = await follow(id, { signal, isCaller: true, wholeFaults, ...options });
      if (identity.joinsWaiting === true && document.status === 'pending')
        await store.claimIdentity({ ...waiting, run: id });
      return document;
    };
    if (claimed.isTaken) {
      if (claimed.identity.args !== name.args) throw await takenError(store, { id, identity, tool });
      onKept(id);
      return await followAs();
    }
    const { claim } = claimed;
    try {
      const build = store.work && context.buildOf();
      const about = { kind: 'tool', name: tool.name, file: null, source: '', config, input: args } as const;
      const run = newRun({ ...about, build, ...(known && { labels: known }) }, id);
      await store.createRun(run);
      onKept(id);
      return await followAs({ claim, made: toRecord(run) });
    } finally {
      // It has no effect if the work has released it.
      await claim?.release();
    }
  };

  const call: CallRuns['call'] = async (tool, given, { identity: caller, ...options }) => {
    const { signal, approve, wholeFaults } = options;
    const identity = readIdentity(caller);
    const args = tryArgs(tool, given);
    if (!(args instanceof Json)) return { status: 'failed', error: args };
    if (identity.id !== undefined) {
      if (approve !== undefined) throw noApproveError();
      return await begin({ tool, args, wholeFaults, onKept: () => {} }, { id: identity, signal });
    }
    const name = identify(identity, tool.name, args);
    const { store } = await runs();
    for (;;) {
      const found = await store.findIdentity({ key: name.key, at: Date.now() });
      if (found !== undefined && (await store.findRunStatus(found.run)) !== undefined)
        return await follow(found.run, { signal, isCaller: true, wholeFaults });
      const document = await context.callOnce(tool, given, { ...options, name });
      if (document !== undefined) return document;
    }
  };

  /** The document of a call that has ended or waits for a person; a caller waits for the work but not for a person. */
  const follow = async (id: string, options: FollowCaller): Promise<ToolDocument> => {
    const outcome = await wait({ root: id, run: id, step: directCallName }, { ...options, waitMs: 0 });
    if (outcome.status !== 'running') return outcome;
    throw new RuntimeError('INTERNAL', `run ${id} is still running`);
  };

  const wait = async (place: CallPlace, options: Followed): Promise<CallOutcome> =>
    await track({ signal: options.signal }, async ({ signal = neverAborted }) => {
      const { root } = place;
      const opened = await runs();
      const { store } = opened;
      const { waitMs, isCaller = false, wholeFaults } = options;
      const since = performance.now();
      const personMs = () => waitMs - (performance.now() - since);
      const workMs = () => (isCaller ? Number.POSITIVE_INFINITY : personMs());
      const underWay = { status: 'running', run_id: root } as const;
      let waiter: ChangeWaiter | undefined;
      const next = async (ms: number, due: number | null = null) => {
        // After the watch has begun, the store is read once more.
        if (waiter === undefined) waiter = openChangeWaiter(store, signal);
        else await waiter.next(Math.min(Date.now() + ms, due ?? Number.POSITIVE_INFINITY));
      };
      let { claim, made } = options;
      let wasResumed = false;
      try {
        for (;;) {
          const run = made ?? (await requireRun(store, root));
          if (isEnded(run.status) || run.kind === 'pipeline') {
            const document = await readCallDocument(store, { ...place, outermost: run }, { wholeFaults });
            if (document !== undefined) return await deliver(store, root, document);
          }
          const open =
            made === undefined
              ? await store.listPendings({ runId: root, below: true, open: true }, Date.now())
              : [];
          const [first] = open;
          if (first !== undefined) {
            const own = open.find(({ runId, step }) => runId === place.run && step === place.step);
            if (personMs() <= 0) return own === undefined ? underWay : toPendingCallDocument(own);
            await next(personMs(), first.expiresAt);
            continue;
          }
          // A pipeline may wait for something else than this call.
          if (wasResumed && run.kind === 'pipeline') return underWay;
          const { task, hold } = execute(opened, run, { claim, made, isCaller });
          claim = undefined;
          made = undefined;
          const came = isCaller
            ? await Promise.race([task, hold(options.signal)])
            : await within(task, workMs(), signal);
          const source = { run: root, step: directCallName };
          const document = came instanceof Json ? toCallDocument(came, source, { wholeFaults }) : undefined;
          if (document !== undefined) return document;
          if (came === 'over' || (came === 'busy' && workMs() <= 0)) return underWay;
          if (came === 'busy') await next(Math.min(workMs(), BUSY_MS));
          else wasResumed = true;
        }
      } finally {
        waiter?.close();
      }
    });

  /** Executes the run unless this process already does. Cancels the call when every caller that waited has left. */
  const execute = (
    opened: Awaited<ReturnType<CallRunsContext['runs']>>,
    run: RunRecord,
    { claim, made, isCaller }: Pick<FollowCaller, 'claim' | 'made'> & { readonly isCaller: boolean },
  ): Execution => {
    const { id } = run;
    const known = executions.get(id);
    if (known !== undefined) return known;
    const { store, toPipeline } = opened;
    const cancel = new AbortController();
    const { signal } = cancel;
    const forgets: (() => void)[] = [];
    // What continues for an outcome is not cancelled.
    let callers = isCaller ? 0 : 1;
    const hold: Execution['hold'] = (left) => {
      callers += 1;
      const gone = Promise.withResolvers<never>();
      const leave = () => {
        callers -= 1;
        if (callers === 0) cancel.abort();
        else gone.reject(cancelledError());
      };
      if (left?.aborted === true) leave();
      else if (left !== undefined) forgets.push(whenAborted(left, leave));
      return gone.promise;
    };
    const work = async (): Promise<Came> => {
      try {
        return await track({ signal }, async (one): Promise<Came> => {
          const asked = { pipeline: toPipeline(run), id, isResumed: false, claim, made };
          if (claim !== undefined) return await workOn(opened, asked, one, outcomeOfCall);
          await resumeRun(opened, { id, toPipeline }, one);
          return 'paused';
        });
      } catch (error) {
        const { code } = toRuntimeError(error);
        if (code === 'RUN_BUSY') return 'busy';
        if (code === 'ABORTED' && signal.aborted) {
          const cancelled = {
            status: 'cancelled',
            error: toFault(cancelledError()),
            at: Date.now(),
          } as const;
          await store.setRunStatus(id, cancelled);
          return 'paused';
        }
        if (code === 'RUN_ENDED') return 'paused';
        throw error;
      } finally {
        executions.delete(id);
        for (const forget of forgets) forget();
      }
    };
    const task = work();
    // Callers that no longer wait get no error.
    task.catch(() => {});
    const execution = { task, hold };
    executions.set(id, execution);
    return execution;
  };

  return {
    start,
    call,
    outcome: async (id, options = {}) => {
      const { store } = await runs();
      const run = await requireRun(store, id);
      if (isOfAgent(run)) throw ofAgentError(id);
      if (run.kind === 'pipeline') throw ofPipelineError(run);
      return await wait({ root: id, run: id, step: directCallName }, readOptions(options));
    },
    outcomeOfPending: async (id, options = {}) => {
      const { store } = await runs();
      const record = await requirePending(store, id);
      const { runId: run, step, parent } = record;
      const root = parent?.root ?? run;
      if (isOfAgent(await requireRun(store, root))) throw ofAgentError(root);
      if (isQuestion(record)) throw questionError(id);
      return await wait({ root, run, step }, readOptions(options));
    },
  };
}

interface Asked extends Pick<CallOptions, 'wholeFaults'> {
  readonly tool: CallableTool;
  readonly args: Json;
  readonly onKept: (run: string) => void;
}

interface Execution {
  readonly task: Promise<Came>;
  /**
   * Another caller waits. When its signal aborts, it leaves: the promise rejects, or the call is cancelled if nobody else
   * waits, and the caller waits until the process has ended.
   */
  readonly hold: (signal: AbortSignal | undefined) => Promise<never>;
}

/** A record: of the call of a run that this execution created and ended. */
type Came = 'paused' | 'busy' | Json;

async function outcomeOfCall(_store: Store, _run: string, finished?: Finished): Promise<Came> {
  return finished?.find(directCallName) ?? 'paused';
}

/** The call of a step: in the outermost run, or in one below it. */
interface CallPlace {
  readonly root: string;
  readonly run: string;
  readonly step: string;
}

interface FollowCaller extends Pick<CallOptions, 'signal' | 'wholeFaults'> {
  /** The caller of the tool waits for the work however long it takes, and its signal cancels the call. */
  readonly isCaller: true;
  readonly claim?: Claim | undefined;
  /** The run if it was created under this claim. */
  readonly made?: RunRecord | undefined;
}

type Followed = OutcomeOptions & Partial<FollowCaller> & { readonly waitMs: number };

/** How often a run that another process executes is tried: its process may have died. */
const BUSY_MS = 1_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const neverAborted = new AbortController().signal;

async function within<Result>(
  task: Promise<Result>,
  ms: number,
  signal: AbortSignal,
): Promise<Result | 'over'> {
  requireNotAborted(signal);
  const over = Promise.withResolvers<'over'>();
  const timer = setTimeout(() => over.resolve('over'), Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
  const forget = whenAborted(signal, () => over.reject(cancelledError()));
  try {
    return await Promise.race([task, over.promise]);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

async function deliver(store: Store, run: string, document: ToolDocument): Promise<ToolDocument> {
  const identity = await store.findIdentity({ run });
  if (identity !== undefined) await store.endIdentity(keyWithoutId(identity), run);
  return document;
}

function tryArgs(tool: CallableTool, args: unknown): Json | Fault {
  try {
    return readArgs(tool.name, args);
  } catch (error) {
    return toFault(error);
  }
}

/** Throws USAGE. */
function readIdentity(given: unknown): CallIdentity {
  const { principal, id, joinsWaiting } = isObject(given) ? given : {};
  if (typeof principal === 'string' && (id === undefined || (typeof id === 'string' && id !== '')))
    return { principal, id, joinsWaiting: joinsWaiting === true };
  throw new RuntimeError('USAGE', 'the identity of the call is not valid', {
    hint: 'It is {principal, id}: two strings, of which `id` may be absent but not empty.',
  });
}

function readOptions({ waitMs = Number.POSITIVE_INFINITY, signal }: OutcomeOptions): Followed {
  if (typeof waitMs !== 'number' || !(waitMs >= 0))
    throw new RuntimeError('USAGE', '`waitMs` must be a number of milliseconds, 0 or more');
  return { waitMs, signal };
}

function requireNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelledError();
}

function cancelledError(): RuntimeError {
  return new RuntimeError('ABORTED', 'the caller cancelled the call');
}

async function takenError(
  store: Store,
  {
    id,
    identity,
    tool,
  }: { readonly id: string; readonly identity: CallIdentity; readonly tool: CallableTool },
): Promise<RuntimeError> {
  const run = await store.findRun(id);
  const other = run === undefined || run.name === tool.name ? 'other arguments' : `tool "${run.name}"`;
  const message = `the call id ${JSON.stringify(shorten(identity.id ?? ''))} has already been used for ${other}`;
  return new RuntimeError('CALL_ID_TAKEN', message, { details: { run_id: id } });
}

function noApproveError(): RuntimeError {
  return new RuntimeError('USAGE', 'a call with an id is stored, so `approve` cannot decide it', {
    hint: 'Decide with `pending.approve`, and read the result with `pending.outcome`.',
  });
}

function ofAgentError(run: string): RuntimeError {
  return new RuntimeError('USAGE', `run ${run} has calls of an agent, and only the agent can make them`, {
    hint: 'The agent gets the outcome when it makes the call again after the decision.',
  });
}

function ofPipelineError({ id, name }: RunRecord): RuntimeError {
  return new RuntimeError('USAGE', `run ${id} is a run of pipeline "${name}", not of a tool call`, {
    hint: 'Use `runs.show`, or `pending.outcome` with the id of its pending call.',
  });
}

function questionError(id: string): RuntimeError {
  return new RuntimeError('USAGE', `${id} is a question of a pipeline, which has no tool call`, {
    hint: 'Use `pending.show` for the answer, and `runs.resume` to continue the run.',
  });
}
