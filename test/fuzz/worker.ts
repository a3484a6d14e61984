import { parentPort, workerData } from 'node:worker_threads';
import { watchCoverage } from './coverage.ts';
import { fuzz } from './fuzz-loop.ts';
import type { WorkerData } from './run-target.ts';
import { targets } from './targets.ts';

// Runs a target in its own thread, which can be terminated if an input hangs.
const { name, options, progress, current }: WorkerData = workerData;
const coverage = watchCoverage();
const load = targets[name];
if (load === undefined) throw new Error(`there is no target ${name}`);
const target = await load();
const counts = new Int32Array(progress);
const units = new Uint16Array(current);
const before = process.threadCpuUsage();
const outcome = await fuzz(target, {
  ...options,
  literals: coverage.literals,
  isFresh: () => coverage.takeFresh() > 0,
  onInput: (input) => {
    const length = Math.min(input.length, units.length);
    for (let at = 0; at < length; at += 1) units[at] = input.charCodeAt(at);
    counts[1] = length;
    counts[0] = (counts[0] ?? 0) + 1;
  },
});
const { user, system } = process.threadCpuUsage(before);
parentPort?.postMessage({
  ...outcome,
  corpus: outcome.corpus.slice(target.seeds.length),
  cpuSeconds: (user + system) / 1e6,
  blocks: coverage.blocks(),
});
