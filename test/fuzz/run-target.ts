import { Worker } from 'node:worker_threads';
import type { FuzzOptions, FuzzOutcome } from './fuzz-loop.ts';
import { type Finding, MOST_CPU_MS } from './try-input.ts';

export interface WorkerData {
  readonly name: string;
  readonly options: Pick<FuzzOptions, 'inputs' | 'seed' | 'seconds' | 'kept'>;
  /** How many inputs were begun, and how long the current one is. */
  readonly progress: SharedArrayBuffer;
  /** The UTF-16 units of the current input. */
  readonly current: SharedArrayBuffer;
}

export interface TargetRun extends FuzzOutcome {
  readonly cpuSeconds: number;
  /** Blocks of code that ran at least once. */
  readonly blocks: number;
}

/** The most units of an input that a run keeps for when it does not come back. */
const MOST_UNITS = 1 << 20;

/** The most memory that a target may have, in MiB. */
const MOST_MEMORY = 768;

/** Fuzzes one target in a thread. An input that does not come back, or takes all memory, ends the run with its finding. */
export async function runTarget(name: string, options: WorkerData['options']): Promise<TargetRun> {
  const progress = new SharedArrayBuffer(8);
  const current = new SharedArrayBuffer(2 * MOST_UNITS);
  const workerData: WorkerData = { name, options, progress, current };
  const worker = new Worker(new URL('worker.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY },
  });
  const stopped = Promise.withResolvers<TargetRun>();
  const counts = new Int32Array(progress);
  const stop = (cause: string) => {
    const units = new Uint16Array(current, 0, counts[1]);
    const input = Array.from(units, (unit) => String.fromCharCode(unit)).join('');
    const finding: Finding = { input, cause, message: cause };
    stopped.resolve({ inputs: counts[0] ?? 0, findings: [finding], corpus: [], cpuSeconds: 0, blocks: 0 });
  };
  worker.on('message', stopped.resolve);
  worker.on('error', (error) => stop(`the thread ended: ${error.message}`));
  const watch = watchProgress(worker, counts, () => stop('an input does not come back'));
  try {
    return await stopped.promise;
  } finally {
    clearInterval(watch);
    await worker.terminate();
  }
}

/** Looks twice a second whether inputs go on; what counts is the thread's own time of the processor. */
function watchProgress(worker: Worker, counts: Int32Array, onStuck: () => void): NodeJS.Timeout {
  let last = { begun: 0, cpu: 0 };
  return setInterval(async () => {
    const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
    const now = { begun: counts[0] ?? 0, cpu: (user + system) / 1_000 };
    if (now.begun !== last.begun || now.begun === 0) last = now;
    // An input that comes back is tried a second time, and then made smaller.
    else if (now.cpu - last.cpu > 15 * MOST_CPU_MS) onStuck();
  }, 500);
}
