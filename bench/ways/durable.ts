import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Contender, defineWay } from '../run/line.ts';
import { makeFolder, open as openRuntime } from '../workspace.ts';

export interface Durable {
  /** The `spec` of a RuntimeConfig that declares the tool `bench`. */
  readonly spec: object;
  /** true: pipelines of `steps` steps, run concurrently. false: the same number of direct tool calls. */
  readonly kept: boolean;
  readonly runs: number;
  readonly steps: number;
  /** true: the value is the 99th percentile of the event-loop delay in milliseconds. false: the duration of a step. */
  readonly delay: boolean;
}

/** Pipelines that store every step on disk before the next one begins. */
export const durable = defineWay<Durable>(import.meta.url);

export async function open({ spec, kept, runs, steps, delay }: Durable): Promise<Contender> {
  const head = { apiVersion: 'signalbox/v1', metadata: { name: 'bench' } };
  const list = Array.from({ length: steps }, (_, index) => ({
    id: `step${index}`,
    tool: 'bench',
    args: { city: 'Oslo' },
  }));
  const { path } = makeFolder({
    'runtime.yaml': JSON.stringify({ ...head, kind: 'RuntimeConfig', spec }),
    'bench.pipeline.yaml': JSON.stringify({
      ...head,
      kind: 'Pipeline',
      spec: { runtime: './runtime.yaml', steps: list },
    }),
  });
  const runtime = await openRuntime(path);
  const runKept = async () => {
    const { status } = await runtime.run(join(path, 'bench.pipeline.yaml'));
    if (status !== 'completed') throw new Error(`the run was ${status}`);
  };
  const runBare = async () => {
    for (const { args } of list) {
      const { status } = await runtime.tools.call('bench', args);
      if (status !== 'ok') throw new Error(`the tool was ${status}`);
    }
  };
  return {
    run: async (count) => {
      const delays = monitorEventLoopDelay({ resolution: 1 });
      const startedAt = performance.now();
      delays.enable();
      for (let done = 0; done < count; done += runs * steps) {
        await Promise.all(Array.from({ length: runs }, kept ? runKept : runBare));
      }
      delays.disable();
      const ofStep = (performance.now() - startedAt) / count;
      return { value: delay ? delays.percentile(99) / 1e6 : ofStep };
    },
    close: () => runtime.close(),
  };
}
