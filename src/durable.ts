import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RuntimeConfig, StateStoreConfig } from './config/config.ts';
import { requirePipeline, requirePipelineText } from './pipeline/load.ts';
import { approve, reject, requirePending, respond } from './pipeline/rulings.ts';
import type { Equipment } from './pipeline/run-context.ts';
import { toPendingDocument, toRunDetails, toRunInfo } from './pipeline/run-document.ts';
import { cancelRun, readInput, requireRun, resumeRun, startRun } from './pipeline/runs.ts';
import { pipelineOfCall } from './pipeline/single-call.ts';
import type { Runtime } from './runtime-api.ts';
import { openStore } from './store/open.ts';
import type { RunRecord, Store } from './store/store.ts';

/** A store that is opened when it is first needed: most calls never need one. */
export interface LazyStore {
  /** Throws STORE_FAILED; a failure is not remembered. */
  open(): Promise<Store>;
  /** Never rejects. */
  close(): Promise<void>;
}

export function lazyStore(config: StateStoreConfig): LazyStore {
  let opening: Promise<Store> | undefined;
  return {
    open: () => {
      opening ??= openStore(config).catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    close: async () => {
      const store = await opening?.catch(() => undefined);
      await store?.close();
    },
  };
}

export interface DurableContext {
  readonly config: RuntimeConfig;
  readonly store: LazyStore;
  readonly equipment: Equipment;
  /** Throws RUNTIME_CLOSED. */
  readonly requireOpen: () => void;
}

/** The parts of a runtime that outlive its process: runs of pipelines, and calls that wait for people. */
export function openDurable(context: DurableContext): Pick<Runtime, 'run' | 'runs' | 'pending'> {
  const { config, equipment, requireOpen } = context;
  const store = async () => {
    requireOpen();
    return await context.store.open();
  };
  const runs = async () => ({ store: await store(), equipment, config: config.file });
  const ruling = async () => ({ store: await store(), tools: equipment.tools });
  const toPipeline = ({ kind, name, file, source }: RunRecord) =>
    kind === 'tool'
      ? pipelineOfCall(name, config.file)
      : requirePipelineText({ file: file ?? config.file, text: source }, config);
  return {
    run: async (file, input, options = {}) => {
      requireOpen();
      const pipeline = requirePipeline(resolve(file instanceof URL ? fileURLToPath(file) : file), config);
      return await startRun(await runs(), pipeline, { ...options, input: readInput(input) });
    },
    runs: {
      list: async (filter = {}) => {
        const opened = await store();
        const open = await opened.listPendings({ open: true }, Date.now());
        const found = await opened.listRuns(filter);
        return found.map((run) => toRunInfo(run, countOf(open, run.id)));
      },
      show: async (id) => {
        const opened = await store();
        const run = await requireRun(opened, id);
        const pendings = await opened.listPendings({ runId: id }, Date.now());
        return toRunDetails(run, await opened.listSteps(id), pendings);
      },
      resume: async (id, options) => await resumeRun(await runs(), { id, toPipeline }, options),
      cancel: async (id, { by, reason = '' }) => await cancelRun(await store(), id, { by, reason }),
      prune: async ({ olderThanMs }) => await (await store()).prune(Date.now() - olderThanMs),
    },
    pending: {
      list: async ({ runId, all = false } = {}) => {
        const found = await (await store()).listPendings({ runId, ...(!all && { open: true }) }, Date.now());
        return found.map(toPendingDocument);
      },
      show: async (id) => toPendingDocument(await requirePending(await store(), id)),
      approve: async (id, decision) => await approve(await ruling(), id, decision),
      reject: async (id, decision) => await reject(await ruling(), id, decision),
      respond: async (id, decision) => await respond(await ruling(), id, decision),
    },
  };
}

function countOf(open: readonly { readonly runId: string }[], id: string): number {
  return open.filter(({ runId }) => runId === id).length;
}
