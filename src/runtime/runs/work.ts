import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { type ErrorCode, RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { untilAborted, within } from '../../base/time/async.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import type { Emit } from '../../contract/event.ts';
import type { RunDocument } from '../../contract/run.ts';
import { openChangeWaiter } from '../../pipelines/state/change-waiter.ts';
import type { Store } from '../../store/store.ts';
import type { WorkedRun, Worker, WorkerOptions, WorkOptions } from '../worker/api.ts';

export interface WorkContext {
  readonly config: RuntimeConfig;
  readonly emit: Emit;
  readonly openStore: () => Promise<Store>;
  /** Executes a run that is due until it ends or waits. Throws RUN_BUSY where it is due no more. */
  readonly resume: (id: string, signal: AbortSignal) => Promise<RunDocument>;
  readonly openWorker: (options: WorkerOptions) => Promise<Worker>;
}

/**
 * Goes on with runs as they are due, until it is stopped; then those under way go on for a while, and are set down. With `once`: until none is.
 * Over Postgres that is a worker. Throws USAGE, STORE_FAILED.
 */
export async function work(context: WorkContext, options: WorkOptions): Promise<void> {
  const { config, openStore, openWorker } = context;
  const { once = false, signal = new AbortController().signal, drainMs = DRAIN_MS, concurrency } = options;
  if (config.stateStore.type === 'memory') throw lostRunsError(config.file);
  if (config.stateStore.type === 'postgres' && !once) {
    const worker = await openWorker({ concurrency, version: options.version });
    options.onReady?.(worker.concurrency);
    await untilAborted(signal);
    await worker.drain(drainMs);
    return;
  }
  const lanes = concurrency ?? availableParallelism();
  requireConcurrency(lanes);
  const store = await openStore();
  options.onReady?.(lanes);
  await goOn({ ...context, store }, { once, signal, drainMs, lanes, onRun: options.onRun ?? (() => {}) });
}

interface Lanes {
  readonly once: boolean;
  readonly signal: AbortSignal;
  readonly drainMs: number;
  readonly lanes: number;
  readonly onRun: (run: WorkedRun) => void;
}

async function goOn(
  { store, resume, emit }: WorkContext & { readonly store: Store },
  { once, signal, drainMs, lanes, onRun }: Lanes,
): Promise<void> {
  const under = new AbortController();
  const active = new Map<string, Promise<void>>();
  const due = createDueRuns(store);
  const waiter = openChangeWaiter(store, signal, { idleMs: IDLE_MS });
  const start = (id: string) => {
    const going = goOnWith(id, { resume, signal: under.signal }).then((told) => {
      active.delete(id);
      due.note(id, told);
      if (told !== undefined) onRun(told);
    });
    active.set(id, going);
  };
  let changed: Promise<void> | undefined;
  try {
    while (!signal.aborted) {
      const { ready, nextAt } = await due.find((id) => active.has(id));
      for (const id of ready.slice(0, lanes - active.size)) start(id);
      if (once && active.size === 0) break;
      changed ??= waiter.next(nextAt).finally(() => {
        changed = undefined;
      });
      await Promise.race([changed, ...active.values()]);
    }
  } catch (error) {
    if (toRuntimeError(error).code !== 'ABORTED') throw error;
  } finally {
    changed?.catch(() => {});
    waiter.close();
    await within(signal.aborted ? drainMs : 0, Promise.all(active.values()));
    under.abort();
    await Promise.all(active.values());
  }
  if (signal.aborted) emit({ type: 'note', name: 'work', level: 'info', message: 'stopped' });
}

/** Never rejects; undefined: somebody else has it, or it was given back. */
async function goOnWith(
  id: string,
  { resume, signal }: Pick<WorkContext, 'resume'> & { readonly signal: AbortSignal },
): Promise<WorkedRun | undefined> {
  const beganAt = performance.now();
  const took = () => Math.round(performance.now() - beganAt);
  try {
    const { status, error } = await resume(id, signal);
    return { run_id: id, status, duration_ms: took(), ...(error && { error }) };
  } catch (thrown) {
    const { code } = toRuntimeError(thrown);
    if (othersCodes.has(code) || (code === 'ABORTED' && signal.aborted)) return undefined;
    return { run_id: id, status: 'left', duration_ms: took(), error: toFault(thrown) };
  }
}

const othersCodes: ReadonlySet<ErrorCode> = new Set(['RUN_BUSY', 'RUN_UNKNOWN', 'RUN_ENDED']);

function requireConcurrency(concurrency: number): void {
  if (Number.isSafeInteger(concurrency) && concurrency >= 1 && concurrency <= 10_000) return;
  throw new RuntimeError('USAGE', `1 to 10000 runs are executed at once, not ${concurrency}`);
}

function lostRunsError(file: string): RuntimeError {
  const message = `there is nothing to go on with: the state store of ${resolve(file)} is memory`;
  return new RuntimeError('USAGE', message, { hint: 'Set spec.state_store to {type: sqlite}.' });
}

/** The longest time between two looks, for what no change of the store tells: that a process is gone. */
const IDLE_MS = 1_000;
const DRAIN_MS = 30_000;

interface DueRunList {
  /** The ids of runs that are due and that nobody executes, the oldest first; and when the next one is due, ms since 1970. Throws STORE_FAILED. */
  find(
    isActive: (id: string) => boolean,
  ): Promise<{ readonly ready: string[]; readonly nextAt: number | undefined }>;
  /** What has become of one, undefined: somebody else has it. What could not be gone on with is left alone for a while. */
  note(id: string, run: WorkedRun | undefined): void;
}

function createDueRuns(store: Store): DueRunList {
  /** Until when runs are left alone, as `performance.now()` has it. */
  const aside = new Map<string, number>();
  return {
    find: async (isActive) => {
      const { runs, nextAt } = await store.listDue({ at: Date.now() });
      const now = performance.now();
      for (const [id, until] of aside) if (until <= now) aside.delete(id);
      const ours = runs.filter(({ id }) => !isActive(id) && !aside.has(id));
      // Only the claim of a run tells whether somebody executes it.
      const claimed = ours.some(({ why }) => why === 'running') ? await store.listClaimed() : none;
      return { ready: ours.flatMap(({ id }) => (claimed.has(id) ? [] : [id])), nextAt };
    },
    note: (id, run) => {
      const refusedMs = run?.error?.code === 'STORE_FAILED' ? FAULT_MS : REFUSED_MS;
      aside.set(id, performance.now() + (run?.status === 'left' ? refusedMs : AGAIN_MS));
    },
  };
}

const none: ReadonlySet<string> = new Set();
/** Whoever has claimed a run says a moment later that it is running; and nothing that is due at once again keeps this process busy. */
const AGAIN_MS = 500;
const FAULT_MS = 5_000;
/** What cannot be read, or is of another config, stays so for long. */
const REFUSED_MS = 60_000;
