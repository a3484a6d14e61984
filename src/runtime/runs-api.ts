import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RuntimeError, withoutOverflow } from '../base/errors.ts';
import type { DeclaredTools } from '../calls/tool-call/agent-tool.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { identityOf } from '../config/overlay/identity.ts';
import type { Emit } from '../contract/event.ts';
import type { RunDocument } from '../contract/run.ts';
import { endForgottenRuns } from '../gateway/tools/pending-run.ts';
import { requirePipeline, requirePipelineText } from '../pipelines/file/load.ts';
import { requireRun } from '../pipelines/run/below/require-run.ts';
import { approve, reject, requirePending, respond } from '../pipelines/run/decisions.ts';
import { pipelineOfDirectCall } from '../pipelines/run/direct-call-run.ts';
import { toPendingDocument } from '../pipelines/run/document.ts';
import { endExpired } from '../pipelines/run/expired-runs.ts';
import { queueRetry, retryRun } from '../pipelines/run/retry-run.ts';
import { readInput } from '../pipelines/run/run-input.ts';
import {
  cancelRun,
  queueRun,
  type RunListener,
  type RunOptions,
  resumeRun,
  startRun,
} from '../pipelines/run/runs.ts';
import type { Services } from '../pipelines/state/run-context.ts';
import type { RunRecord } from '../store/store.ts';
import { isOfAgent } from '../store/store-rules.ts';
import { COUNTS_FOR_MS } from './agents/agent-question.ts';
import type { Runtime } from './api.ts';
import { removeTexts, textsFolderOf } from './hook-files.ts';
import type { LazyStore } from './lazy-store.ts';
import { requireOwnRun } from './run-ownership.ts';
import { listResumable } from './runs/resumable.ts';
import { PAGE_SIZE, readPage, toListFilter } from './runs/run-list.ts';
import { listRuns, showRun, showSteps } from './runs/shown-runs.ts';
import { HELD_WAIT_MS } from './runs/work-limits.ts';
import type { BuildOf } from './worker/build.ts';
import type { LazyDispatcher } from './worker/lazy-dispatcher.ts';
import { openWorkersApi, type WorkersContext } from './worker/workers-api.ts';

export interface RunsApiContext {
  readonly config: RuntimeConfig;
  readonly store: LazyStore;
  readonly services: Services;
  readonly declared: DeclaredTools;
  readonly dispatcher: LazyDispatcher;
  readonly buildOf: BuildOf;
  readonly emit: Emit;
  /** What workers do for suites. Throws RUNTIME_CLOSED. */
  readonly suites: WorkersContext['suites'];
  /** Throws RUNTIME_CLOSED. */
  readonly requireOpen: () => void;
}

export interface RunsApi extends Pick<Runtime, 'runs' | 'pending' | 'work' | 'worker' | 'workers'> {
  /** As `run` of a runtime, with a listener for that run. */
  run(given: Parameters<Runtime['run']>, listener: RunListener): Promise<RunDocument>;
  /** Suspends every active run, to be resumed later, and waits for them. Never rejects. */
  suspendRuns(): Promise<void>;
}

/** The methods of a runtime on stored runs and pending calls. */
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
    const { runId, parent } = await requirePending(decisions.store, id);
    const run = await requireRun(decisions.store, parent?.root ?? runId);
    requireOwnRun(run, config, buildOf);
    return { ...decisions, isOfAgent: isOfAgent(run) };
  };
  /** The store, after runs with expired calls have been ended. */
  const storeAfterExpiry = async () => {
    await endExpired(await runs(), toPipeline);
    return await store();
  };
  const toPipeline = (run: RunRecord) => {
    requireOwnRun(run, config, buildOf);
    const { id, kind, name, file, source, pipelines } = run;
    if (isOfAgent(run)) {
      throw new RuntimeError('USAGE', `run ${id} has calls of an agent, which makes them itself`, {
        hint: 'It goes on when the agent asks again; nothing is to be resumed.',
      });
    }
    if (kind === 'pipeline')
      return requirePipelineText({ file: file ?? config.file, text: source, pipelines }, config);
    if (services.tools.has(name)) return pipelineOfDirectCall(name, config.file);
    throw new RuntimeError('NAME_UNKNOWN', `there is no tool "${name}" any more`);
  };
  const pipelineOf = (file: string | URL) =>
    requirePipeline(resolve(file instanceof URL ? fileURLToPath(file) : file), config);
  const resume: Runtime['runs']['resume'] = async (id, options = {}) =>
    await activeRuns.track(options, async (one) => await resumeRun(await runs(), { id, toPipeline }, one));
  const resumeDue = async (id: string, signal: AbortSignal) =>
    await activeRuns.track({ signal, longestWaitMs: HELD_WAIT_MS }, async (one) => {
      return await resumeRun(await runs(), { id, toPipeline, isDue: true }, one);
    });
  const workers = openWorkersApi({ ...context, resume: resumeDue, openStore: store });
  return {
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
      prune: async ({ olderThanMs }) => {
        const opened = await storeAfterExpiry();
        await endForgottenRuns(opened, Date.now() - COUNTS_FOR_MS);
        const count = await opened.prune(Date.now() - olderThanMs);
        const texts = textsFolderOf(config.stateStore);
        if (texts !== undefined)
          await removeTexts(texts, async (id) => (await opened.findRun(id)) !== undefined);
        return count;
      },
    },
    pending: {
      list: async ({ runId, all = false } = {}) => {
        const found = await (await storeAfterExpiry()).listPendings(
          { runId, below: true, ...(!all && { open: true }) },
          Date.now(),
        );
        return found.map(toPendingDocument);
      },
      show: async (id) => toPendingDocument(await requirePending(await storeAfterExpiry(), id)),
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

/** The runs that this process executes, each with a signal that `suspendAll` aborts too. */
function createActiveRuns() {
  const closing = new AbortController();
  const working = new Set<Promise<unknown>>();
  return {
    track: async <Options extends RunOptions, Result>(
      options: Options,
      start: (options: Options) => Promise<Result>,
    ): Promise<Result> => {
      const signals = [closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
      const task = withoutOverflow(() => start({ ...options, signal: AbortSignal.any(signals) }));
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
