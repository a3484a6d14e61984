import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Contender, defineWay } from '../run/line.ts';
import { openSpec } from '../workspace.ts';
import { spawnOnce } from './bare-spawn.ts';

export interface LoopDelay {
  readonly perSecond: number;
  /** What to start: nothing, the command directly, or the tool `bench` of a `spec`. */
  readonly load:
    | { readonly kind: 'idle' }
    | { readonly kind: 'spawn'; readonly command: readonly string[]; readonly request: string }
    | { readonly kind: 'tool'; readonly spec: object; readonly args: object };
}

/**
 * Starts calls at a fixed rate and measures the delay of a one-millisecond timer, in milliseconds at the 99th
 * percentile. If the machine cannot keep up, calls are not postponed; more of them are then in flight.
 */
export const loopDelay = defineWay<LoopDelay>(import.meta.url);

export async function open({ perSecond, load }: LoopDelay): Promise<Contender> {
  const { call, close } = await openLoad(load);
  return {
    run: async (count) => {
      const delays = monitorEventLoopDelay({ resolution: 1 });
      delays.enable();
      await pace(count, perSecond, call);
      delays.disable();
      return { value: delays.percentile(99) / 1e6 };
    },
    close,
  };
}

async function openLoad(load: LoopDelay['load']) {
  if (load.kind === 'idle') return { call: async () => {}, close: async () => {} };
  if (load.kind === 'spawn') {
    return { call: () => spawnOnce(load.command, load.request), close: async () => {} };
  }
  const runtime = await openSpec(load.spec);
  const call = async () => {
    const document = await runtime.tools.call('bench', load.args);
    if (document.status !== 'ok') throw new Error(`the tool did not answer: ${JSON.stringify(document)}`);
  };
  return { call, close: () => runtime.close() };
}

/** Starts each call at its scheduled time and waits for all. */
async function pace(count: number, perSecond: number, call: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const calls: Promise<void>[] = [];
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(count, ((performance.now() - startedAt) * perSecond) / 1000);
      while (calls.length < due) calls.push(call());
      if (calls.length < count) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  await Promise.all(calls);
}
