import { resolve } from 'node:path';
import type { RuntimeConfig } from '../../config/config.ts';
import type { Emit } from '../../contract/event.ts';
import type { RunDocument } from '../../contract/run.ts';
import { noWorkersError } from '../../pipelines/run/runs.ts';
import { iso } from '../../pipelines/run/timeline.ts';
import type { SeenWorker, SharedWork } from '../../store/shared-work.ts';
import type { Store } from '../../store/store.ts';
import type { Runtime } from '../api.ts';
import type { Worker, WorkerInfo } from './api.ts';
import type { BuildOf } from './build.ts';
import type { LazyDispatcher } from './lazy-dispatcher.ts';
import type { SuiteWork } from './open-worker.ts';

export interface WorkersContext {
  readonly config: RuntimeConfig;
  readonly openStore: () => Promise<Store>;
  readonly dispatcher: LazyDispatcher;
  readonly buildOf: BuildOf;
  readonly emit: Emit;
  /** Executes a run that is due until it ends or waits. */
  readonly resume: (id: string, signal: AbortSignal) => Promise<RunDocument>;
  readonly suites: () => Promise<SuiteWork>;
}

export interface WorkersApi extends Pick<Runtime, 'worker' | 'workers'> {
  /** Drains them at once. Never rejects. */
  close(): Promise<void>;
}

/** The methods of a runtime that execute runs for others, and tell who does. */
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
      // Said before a store of one machine is made.
      if (config.stateStore.type !== 'postgres') throw noWorkersError(resolve(config.file));
      const [work, opened] = [await requireWork(), await dispatcher.open()];
      if (opened === undefined) throw noWorkersError(config.file);
      const { openWorker } = await import('./open-worker.ts');
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
