import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RuntimeError, withoutOverflow } from '../base/errors.ts';
import type { DeclaredTools } from '../calls/tool-call/agent-tool.ts';
import { requireDecider } from '../calls/tool-call/approvals.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { filesOf, identityOf } from '../config/overlay/identity.ts';
import type { PendingInfo, PendingRecord } from '../contract/approval.ts';
import type { Emit } from '../contract/event.ts';
import { inTraceOf } from '../contract/operation.ts';
import type { RunDocument, RunInfo, RunPage } from '../contract/run.ts';
import { endForgottenRuns } from '../gateway/judge/pending-run.ts';
import { createPipelineLoader, requirePipelineText } from '../pipelines/file/load.ts';
import {
  approve,
  checkApproval,
  type DecisionContext,
  refusedCheck,
  reject,
  requirePending,
  respond,
  unknownPending,
} from '../pipelines/run/decisions.ts';
import { pipelineOfDirectCall } from '../pipelines/run/direct-call-run.ts';
import { iso } from '../pipelines/run/document.ts';
import { endExpired } from '../pipelines/run/expired-runs.ts';
import { buildTextOf, readInput, readLabels, requireRun } from '../pipelines/run/new-run.ts';
import { queueRetry, retryRun } from '../pipelines/run/retry-run.ts';
import {
  cancelRun,
  describe,
  noWorkersError,
  queueRun,
  type RunListener,
  type RunOptions,
  resumeRun,
  startRun,
} from '../pipelines/run/runs.ts';
import type { Services } from '../pipelines/state/run-context.ts';
import { hostEnv } from '../process/env.ts';
import { IDENTITY_MS } from '../store/identities.ts';
import type { SeenWorker, SharedWork } from '../store/shared-work.ts';
import type { RunRecord, Store } from '../store/store.ts';
import { isOfAgent } from '../store/store-rules.ts';
import type { Runtime } from './api.ts';
import type { RunListFilter } from './api-options.ts';
import { timeOf, unknownPage } from './cursor.ts';
import { removeTexts, textsFolderOf } from './hook-files.ts';
import type { LazyDispatcher, LazyStore } from './lazy-store.ts';
import { type CallRuns, type CallRunsContext, openCallRuns } from './runs/call-runs.ts';
import { countPendings, listPendings, pagePendings, showPending } from './runs/shown-pendings.ts';
import {
  findRuns,
  type ListFilter,
  listRuns,
  pageSteps,
  showRun,
  showSteps,
  summarizeRun,
} from './runs/shown-runs.ts';
import { issueTicket, useTicket } from './runs/tickets.ts';
import type { Worker, WorkerInfo } from './worker/api.ts';
import type { BuildOf } from './worker/build.ts';
import type { SuiteWork } from './worker/open-worker.ts';

export interface RunsApiContext {
  readonly config: RuntimeConfig;
  readonly store: LazyStore;
  readonly services: Services;
  readonly declared: DeclaredTools;
  /** The input schema of a tool without secrets; null if there is none. */
  readonly schemaOf: (tool: string) => PendingInfo['input_schema'];
  readonly dispatcher: LazyDispatcher;
  readonly buildOf: BuildOf;
  readonly emit: Emit;
  readonly suites: WorkersContext['suites'];
  readonly requireOpen: () => void;
  readonly callOnce: CallRunsContext['callOnce'];
}

export interface RunsApi extends Pick<Runtime, 'runs' | 'pending' | 'work' | 'worker' | 'workers'> {
  readonly calls: CallRuns;
  run(given: Parameters<Runtime['run']>, listener: RunListener): Promise<RunDocument>;
  suspendRuns(): Promise<void>;
}

export function openRunsApi(context: RunsApiContext): RunsApi {
  const { config, services, declared, buildOf, requireOpen } = context;
  const activeRuns = createActiveRuns();
  const store = async () => {
    requireOpen();
    return await context.store.open();
  };
  const runs = async () => {
    const opened = await store();
    const isDurable = config.stateStore.type !== 'memory';
    const about = { config: identityOf(config), buildOf: opened.work && buildOf };
    return { store: opened, services, ...about, isDurable, toPipeline };
  };
  const decisionContext = async () => ({ store: await store(), declared });
  const ownDecisionContext = async (id: string) => {
    const decisions = await decisionContext();
    return await toOwn(decisions, await requirePending(decisions.store, id));
  };
  const toOwn = async (decisions: DecisionContext, { runId, parent }: PendingRecord) => {
    const run = await requireRun(decisions.store, parent?.root ?? runId);
    requireOwnRun(run, config, buildOf);
    return { ...decisions, isOfAgent: isOfAgent(run) };
  };
  const pages = async () => ({ ...(await decisionContext()), schemaOf: context.schemaOf });
  const storeAfterExpiry = async () => {
    await endExpired(await runs(), toPipeline);
    return await store();
  };
  const pagesAfterExpiry = async () => {
    await storeAfterExpiry();
    return await pages();
  };
  const toPipeline = (run: RunRecord) => {
    requireOwnRun(run, config, buildOf);
    const { id, kind, name, file, source, pipelines } = run;
    if (isOfAgent(run)) {
      throw new RuntimeError('USAGE', `run ${id} has calls of an agent, and only the agent can make them`, {
        hint: 'The run continues when the agent makes the call again; you need not resume it.',
      });
    }
    if (kind === 'pipeline')
      return requirePipelineText({ file: file ?? config.file, text: source, pipelines }, config);
    if (services.tools.has(name)) return pipelineOfDirectCall(name, config.file);
    throw new RuntimeError('NAME_UNKNOWN', `tool "${name}" does not exist any more`);
  };
  const loadPipeline = createPipelineLoader(config);
  const pipelineOf = (file: string | URL) =>
    loadPipeline(resolve(file instanceof URL ? fileURLToPath(file) : file));
  const resume: Runtime['runs']['resume'] = async (id, options = {}) =>
    await activeRuns.track(options, async (one) => await resumeRun(await runs(), { id, toPipeline }, one));
  const resumeDue = async (id: string, signal: AbortSignal) =>
    await activeRuns.track({ signal, longestWaitMs: HELD_WAIT_MS }, async (one) => {
      return await resumeRun(await runs(), { id, toPipeline, isDue: true }, one);
    });
  const workers = openWorkersApi({ ...context, resume: resumeDue, openStore: store });
  const { callOnce } = context;
  const calls = openCallRuns({ runs, buildOf: () => buildOf(''), callOnce, track: activeRuns.track });
  return {
    calls,
    ...{ worker: workers.worker, workers: workers.workers },
    work: async (options = {}) => {
      requireOpen();
      const { work } = await import('./runs/work.ts');
      return await work(
        {
          ...{ config, emit: context.emit, resume: resumeDue, openStore: store },
          openWorker: workers.worker,
        },
        options,
      );
    },
    run: async ([file, input, options = {}], listener) => {
      requireOpen();
      const pipeline = pipelineOf(file);
      const runOptions = { ...options, input: readInput(input) };
      return await activeRuns.track(
        runOptions,
        async (one) => await startRun(await runs(), pipeline, one, listener),
      );
    },
    runs: {
      list: async (filter = {}) => {
        const wanted = toListFilter(filter);
        return await listRuns(await storeAfterExpiry(), wanted);
      },
      page: async (filter = {}) => {
        const wanted = toListFilter({ limit: PAGE_SIZE, ...filter });
        return await readPage(await storeAfterExpiry(), wanted);
      },
      show: async (id, options = {}) => await showRun(await storeAfterExpiry(), id, options),
      summary: async (id, options = {}) => await summarizeRun(await storeAfterExpiry(), id, options),
      pageSteps: async (id, options = {}) => await pageSteps(await storeAfterExpiry(), id, options),
      document: async (id) => await describe(await storeAfterExpiry(), id, true),
      steps: async function* (id, options = {}) {
        yield* showSteps(await storeAfterExpiry(), id, options);
      },
      queue: async (file, input, { id, labels } = {}) => {
        requireOpen();
        const asked = { input: readInput(input), id, labels };
        const queued = await queueRun(await runs(), pipelineOf(file), asked);
        return { run_id: queued.id, status: queued.status };
      },
      resume,
      resumable: async ({ pipeline, labels } = {}) =>
        await listResumable(await storeAfterExpiry(), toListFilter({ pipeline, labels })),
      retry: async (id, { from, ...options } = {}) =>
        await activeRuns.track(
          options,
          async (one) => await retryRun(await runs(), { id, from, toPipeline }, one),
        ),
      queueRetry: async (id, { from } = {}) => {
        await queueRetry(await runs(), { id, from, toPipeline });
        return { run_id: id, status: 'queued' };
      },
      cancel: async (id, decision) => await cancelRun(await runs(), id, decision),
      principal: async (id) => {
        const opened = await store();
        await requireRun(opened, id);
        return (await opened.findIdentity({ run: id }))?.principal ?? null;
      },
      prune: async ({ olderThanMs }) => {
        const opened = await storeAfterExpiry();
        await endForgottenRuns(opened, Date.now() - IDENTITY_MS);
        const count = await opened.prune(Date.now() - olderThanMs);
        const texts = textsFolderOf(config.stateStore);
        if (texts !== undefined)
          await removeTexts(texts, async (id) => (await opened.findRun(id)) !== undefined);
        return count;
      },
    },
    pending: {
      list: async (filter = {}) => await listPendings(await pagesAfterExpiry(), filter),
      page: async (filter = {}) =>
        await pagePendings(await (filter.after === undefined ? pagesAfterExpiry() : pages()), filter),
      counts: async (filter = {}) => await countPendings(await pages(), filter),
      check: async (id, { args, by } = {}) => {
        if (by !== undefined) requireDecider(by);
        const decisions = await decisionContext();
        const record = typeof id === 'string' ? await decisions.store.findPending(id) : undefined;
        if (record === undefined) return refusedCheck(id, unknownPending(decisions.store, id));
        const now = await decisions.store.now();
        return await withoutOverflow(async () => {
          try {
            return checkApproval(await toOwn(decisions, record), record, { args, by, now });
          } catch (error) {
            return refusedCheck(id, error);
          }
        });
      },
      outcome: calls.outcomeOfPending,
      show: async (id, options) => await showPending(await pagesAfterExpiry(), id, options),
      issueTicket: async (id) => {
        const opened = await store();
        return await issueTicket(opened, (await requirePending(opened, id)).id);
      },
      useTicket: async (id, ticket) => await useTicket(await store(), id, ticket),
      approve: async (id, decision) =>
        await withoutOverflow(async () => approve(await ownDecisionContext(id), id, decision)),
      reject: async (id, decision) => await reject(await decisionContext(), id, decision),
      respond: async (id, decision) =>
        await withoutOverflow(async () => respond(await ownDecisionContext(id), id, decision)),
    },
    suspendRuns: async () => {
      await workers.close();
      await activeRuns.suspendAll();
    },
  };
}

function createActiveRuns() {
  const closing = new AbortController();
  const working = new Set<Promise<unknown>>();
  return {
    track: async <Options extends RunOptions, Result>(
      options: Options,
      start: (options: Options) => Promise<Result>,
    ): Promise<Result> => {
      const signals = [closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
      const work = () => start({ ...options, signal: AbortSignal.any(signals) });
      const task = withoutOverflow(async () => await inTraceOf(options, work));
      working.add(task);
      try {
        return await task;
      } finally {
        working.delete(task);
      }
    },
    suspendAll: async () => {
      closing.abort();
      await Promise.allSettled(working);
    },
  };
}

/** The longest `wait` that a worker holds in memory; a longer one suspends the run. */
export const HELD_WAIT_MS = 1_000;

/**
 * Runs that can be resumed now, including those whose pause after a failure is not over; oldest first. Throws
 * STORE_FAILED.
 */
export async function listResumable(
  store: Store,
  filter: Pick<ListFilter, 'name' | 'labels'>,
): Promise<RunInfo[]> {
  const { runs } = await store.listDue({ at: Date.now(), withFaults: true });
  const due = new Set(runs.map(({ id }) => id));
  const found: RunInfo[] = [];
  for (const status of ['suspended', 'waiting', 'pending', 'cut_off'] as const)
    found.push(...(await listRuns(store, { ...filter, status })).filter(({ run_id }) => due.has(run_id)));
  return found.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
}

export const PAGE_SIZE = 100;

export function toListFilter(filter: RunListFilter): ListFilter {
  const { pipeline, status, labels, since, until, limit, after, parent, children: all } = filter;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0))
    throw new RuntimeError('USAGE', '`limit` must be a whole number');
  return {
    ...{ name: pipeline, status, labels: readLabels(labels), limit, parent, all },
    ...{ since: timeOf('since', since), until: timeOf('until', until) },
    after: after === undefined ? undefined : readPlace(after),
  };
}

export async function readPage(store: Store, { limit = PAGE_SIZE, ...filter }: ListFilter): Promise<RunPage> {
  const found = await findRuns(store, { ...filter, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return { runs: shown.map(({ info }) => info), ...(last && { next: String(last.place) }) };
}

function readPlace(after: string): number {
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw unknownPage(after);
}

/**
 * Throws USAGE if the run belongs to another RuntimeConfig with the same store, because a run continues with its own
 * tools. Runs of a moved or copied project belong to its config.
 */
export function requireOwnRun(run: RunRecord, config: RuntimeConfig, buildOf: BuildOf): void {
  const { id, config: theirs, build } = run;
  // The same build may have other paths on another machine.
  if (build !== undefined && build === buildOf(buildTextOf(run))) return;
  if (theirs === identityOf(config)) return;
  const { file, overlays } = filesOf(theirs);
  // Another set of overlays may drop approvals that the run requires.
  const isMoved = overlays.length === (config.overlays?.length ?? 0) && file !== resolve(config.file);
  if (isMoved && !sharesStore(theirs, config)) return;
  const files = [file, ...overlays];
  throw new RuntimeError(
    'USAGE',
    `run ${id} was started with ${files.join(' and ')}, not with ${namesOf(config)}`,
    {
      hint: `Add ${files.map((each) => `--config ${each}`).join(' ')}.`,
    },
  );
}

function namesOf({ file, overlays = [] }: RuntimeConfig): string {
  return [file, ...overlays].join(' and ');
}

function sharesStore(identity: string, { stateStore: ours }: RuntimeConfig): boolean {
  try {
    const { file, overlays } = filesOf(identity);
    const theirs = loadConfig(file, '', { env: hostEnv(), overlays }).config?.stateStore;
    if (ours.type === 'postgres') return theirs?.type === 'postgres' && theirs.urlEnv === ours.urlEnv;
    return ours.type === 'sqlite' && theirs?.type === 'sqlite' && theirs.file === ours.file;
  } catch {
    return false;
  }
}

export interface WorkersContext {
  readonly config: RuntimeConfig;
  readonly openStore: () => Promise<Store>;
  readonly dispatcher: LazyDispatcher;
  readonly buildOf: BuildOf;
  readonly emit: Emit;
  readonly resume: (id: string, signal: AbortSignal) => Promise<RunDocument>;
  readonly suites: () => Promise<SuiteWork>;
}

export interface WorkersApi extends Pick<Runtime, 'worker' | 'workers'> {
  close(): Promise<void>;
}

export function openWorkersApi(context: WorkersContext): WorkersApi {
  const { config, dispatcher, buildOf, emit, resume } = context;
  const open = new Set<Worker>();
  const requireWork = async (): Promise<SharedWork> => {
    const { work } = await context.openStore();
    if (work === undefined) throw noWorkersError(config.file);
    return work;
  };
  return {
    worker: async (options = {}) => {
      // Checked before a local store is created.
      if (config.stateStore.type !== 'postgres') throw noWorkersError(resolve(config.file));
      const [work, opened] = [await requireWork(), await dispatcher.open()];
      if (opened === undefined) throw noWorkersError(config.file);
      const { openWorker } = await import('./worker/open-worker.ts');
      const worker = await openWorker(
        {
          ...{ config, work, buildOf, emit, dispatcher: opened },
          resume,
          suites: await context.suites(),
        },
        options,
      );
      open.add(worker);
      return worker;
    },
    workers: { list: async () => (await (await requireWork()).listWorkers()).map(toInfo) },
    close: async () => {
      await Promise.all([...open].map((worker) => worker.drain(0)));
    },
  };
}

function toInfo(worker: SeenWorker): WorkerInfo {
  const { id, machine, pid, version, concurrency, busy, builds, isLive, isDraining } = worker;
  return {
    ...{ id, machine, pid, version, concurrency, busy, builds },
    status: isLive ? (isDraining ? 'draining' : 'working') : 'silent',
    started_at: iso(worker.startedAt),
    seen_at: iso(worker.seenAt),
  };
}
