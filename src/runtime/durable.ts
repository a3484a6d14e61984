import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RuntimeConfig } from '../config/config.ts';
import { RuntimeError, withoutOverflow } from '../errors.ts';
import { requirePipeline, requirePipelineText } from '../pipeline/file/load.ts';
import { approve, reject, requirePending, respond } from '../pipeline/run/decisions.ts';
import { pipelineOfCall } from '../pipeline/run/direct-call.ts';
import { toPendingDocument, toRunDetails, toRunInfo } from '../pipeline/run/document.ts';
import { endExpired } from '../pipeline/run/expired-runs.ts';
import {
  cancelRun,
  type RunOptions,
  readInput,
  requireRun,
  resumeRun,
  startRun,
} from '../pipeline/run/runs.ts';
import type { Equipment } from '../pipeline/state/run-context.ts';
import type { RunRecord } from '../store/store.ts';
import type { Runtime } from './api.ts';
import { removeTexts, textsBeside } from './hook-files.ts';
import type { LazyStore } from './lazy-store.ts';
import { requireOwnRun } from './own-run.ts';

export interface DurableContext {
  readonly config: RuntimeConfig;
  readonly store: LazyStore;
  readonly equipment: Equipment;
  /** Throws RUNTIME_CLOSED. */
  readonly requireOpen: () => void;
}

export interface Durable extends Pick<Runtime, 'run' | 'runs' | 'pending'> {
  /** Sets down every run that is worked on here, to be resumed, and waits until it is. Never rejects. */
  setDown(): Promise<void>;
}

/** The parts of a runtime that outlive its process: runs of pipelines, and calls that wait for people. */
export function openDurable(context: DurableContext): Durable {
  const { config, equipment, requireOpen } = context;
  const crew = newCrew();
  const store = async () => {
    requireOpen();
    return await context.store.open();
  };
  const runs = async () => ({ store: await store(), equipment, config: resolve(config.file) });
  const ruling = async () => ({ store: await store(), tools: equipment.tools });
  const ownRuling = async (id: string) => {
    const desk = await ruling();
    requireOwnRun(await requireRun(desk.store, (await requirePending(desk.store, id)).runId), config);
    return desk;
  };
  /** The store, after whatever has run out of time in it has ended. */
  const settled = async () => {
    await endExpired(await runs(), toPipeline);
    return await store();
  };
  const toPipeline = (run: RunRecord) => {
    requireOwnRun(run, config);
    const { kind, name, file, source } = run;
    if (kind === 'pipeline') return requirePipelineText({ file: file ?? config.file, text: source }, config);
    if (equipment.tools.has(name)) return pipelineOfCall(name, config.file);
    throw new RuntimeError('NAME_UNKNOWN', `there is no tool "${name}" any more`);
  };
  return {
    run: async (file, input, options = {}) => {
      requireOpen();
      const pipeline = requirePipeline(resolve(file instanceof URL ? fileURLToPath(file) : file), config);
      const begun = { ...options, input: readInput(input) };
      return await crew.work(begun, async (one) => await startRun(await runs(), pipeline, one));
    },
    runs: {
      list: async (filter = {}) => {
        const opened = await settled();
        const open = await opened.listPendings({ open: true }, Date.now());
        const found = await opened.listRuns(filter);
        return found.map((run) => toRunInfo(run, countOf(open, run.id)));
      },
      show: async (id) => {
        const opened = await settled();
        const run = await requireRun(opened, id);
        const pendings = await opened.listPendings({ runId: id }, Date.now());
        const [steps, moments] = [await opened.listSteps(id), await opened.listMoments(id)];
        return toRunDetails(run, { steps, pendings, moments });
      },
      resume: async (id, options = {}) =>
        await crew.work(options, async (one) => await resumeRun(await runs(), { id, toPipeline }, one)),
      cancel: async (id, decision) => await cancelRun(await runs(), id, decision),
      prune: async ({ olderThanMs }) => {
        const opened = await settled();
        const count = await opened.prune(Date.now() - olderThanMs);
        const texts = textsBeside(config.stateStore);
        if (texts !== undefined)
          await removeTexts(texts, async (id) => (await opened.findRun(id)) !== undefined);
        return count;
      },
    },
    pending: {
      list: async ({ runId, all = false } = {}) => {
        const found = await (await settled()).listPendings(
          { runId, ...(!all && { open: true }) },
          Date.now(),
        );
        return found.map(toPendingDocument);
      },
      show: async (id) => toPendingDocument(await requirePending(await settled(), id)),
      approve: async (id, decision) =>
        await withoutOverflow(async () => approve(await ownRuling(id), id, decision)),
      reject: async (id, decision) => await reject(await ruling(), id, decision),
      respond: async (id, decision) =>
        await withoutOverflow(async () => respond(await ownRuling(id), id, decision)),
    },
    setDown: crew.setDown,
  };
}

/** The runs that are worked on here, each with a signal that `setDown` aborts too. */
function newCrew() {
  const leaving = new AbortController();
  const working = new Set<Promise<unknown>>();
  return {
    work: async <Options extends RunOptions, Result>(
      options: Options,
      start: (options: Options) => Promise<Result>,
    ): Promise<Result> => {
      const signals = [leaving.signal, ...(options.signal === undefined ? [] : [options.signal])];
      const task = withoutOverflow(() => start({ ...options, signal: AbortSignal.any(signals) }));
      working.add(task);
      try {
        return await task;
      } finally {
        working.delete(task);
      }
    },
    setDown: async () => {
      leaving.abort();
      await Promise.allSettled(working);
    },
  };
}

function countOf(open: readonly { readonly runId: string }[], id: string): number {
  return open.filter(({ runId }) => runId === id).length;
}
