import { Worker } from 'node:worker_threads';
import type { FuzzOptions, FuzzOutcome } from './fuzz-loop.ts';
import { type Finding, MOST_CPU_MS } from './try-input.ts';

export interface WorkerData {
  readonly name: string;
  readonly options: Pick<FuzzOptions, 'inputs' | 'seed' | 'seconds' | 'kept'>;
  /** The number of started inputs and the length of the current one. */
  readonly progress: SharedArrayBuffer;
  readonly current: SharedArrayBuffer;
}

export interface TargetRun extends FuzzOutcome {
  readonly cpuSeconds: number;
  readonly blocks: number;
}

/** The most units of an input that are kept in case it hangs. */
const MOST_UNITS = 1 << 20;

const MOST_MEMORY = 768;

/** Fuzzes one target in a thread. An input that hangs or exhausts memory becomes a finding and ends the run. */
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

function watchProgress(worker: Worker, counts: Int32Array, onStuck: () => void): NodeJS.Timeout {
  let last = { begun: 0, cpu: 0 };
  return setInterval(async () => {
    const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
    const now = { begun: counts[0] ?? 0, cpu: (user + system) / 1_000 };
    if (now.begun !== last.begun || now.begun === 0) last = now;
    // A slow input that returns is repeated, then minimized.
    else if (now.cpu - last.cpu > 15 * MOST_CPU_MS) onStuck();
  }, 500);
}
