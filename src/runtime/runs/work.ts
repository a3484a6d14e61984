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
  readonly resume: (id: string, signal: AbortSignal) => Promise<RunDocument>;
  readonly openWorker: (options: WorkerOptions) => Promise<Worker>;
}

/**
 * Resumes runs as they become due until it is stopped. Then active runs continue up to `drainMs` and are suspended.
 * With `once`, returns when no run is due. On Postgres it starts a worker. Throws USAGE, STORE_FAILED.
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

/** Never rejects. Undefined: another process has the run, or it was suspended for the stop. */
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
  throw new RuntimeError('USAGE', `the number of runs at once must be from 1 to 10000, not ${concurrency}`);
}

function lostRunsError(file: string): RuntimeError {
  const message = `there is nothing to resume: the state store of ${resolve(file)} is memory`;
  return new RuntimeError('USAGE', message, { hint: 'Set spec.state_store to {type: sqlite}.' });
}

/** The store does not report the death of a process, so due runs are polled this often. */
const IDLE_MS = 1_000;
const DRAIN_MS = 30_000;

interface DueRunList {
  find(
    isActive: (id: string) => boolean,
  ): Promise<{ readonly ready: string[]; readonly nextAt: number | undefined }>;
  /** Records the result of a run; undefined: another process has it. The run is skipped for a while. */
  note(id: string, run: WorkedRun | undefined): void;
}

function createDueRuns(store: Store): DueRunList {
  const aside = new Map<string, number>();
  return {
    find: async (isActive) => {
      const { runs, nextAt } = await store.listDue({ at: Date.now() });
      const now = performance.now();
      for (const [id, until] of aside) if (until <= now) aside.delete(id);
      const ours = runs.filter(({ id }) => !isActive(id) && !aside.has(id));
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
/**
 * A claimed run gets the status `running` a moment later. Also avoids a busy loop on a run that is due again at once.
 */
const AGAIN_MS = 500;
const FAULT_MS = 5_000;
/** A run that is unreadable or has another config stays so for long. */
const REFUSED_MS = 60_000;
