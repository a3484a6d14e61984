import { setTimeout as sleep } from 'node:timers/promises';
import { type Contender, defineWay } from '../run/line.ts';
import { median } from '../run/statistics.ts';
import { openSpec } from '../workspace.ts';
import { spawnOnce } from './bare-spawn.ts';

export interface Paced {
  /** Milliseconds between the end of a call and the start of the next. */
  readonly gapMs: number;
  /** The command directly, or the tool `bench` of a `spec`. */
  readonly work:
    | { readonly kind: 'spawn'; readonly command: readonly string[]; readonly request: string }
    | { readonly kind: 'tool'; readonly spec: object; readonly args: object };
}

/**
 * Makes calls one after another with pauses, as people and models do. Reports the median duration of a call in
 * milliseconds.
 */
export const paced = defineWay<Paced>(import.meta.url);

export async function open({ gapMs, work }: Paced): Promise<Contender> {
  const runtime = work.kind === 'tool' ? await openSpec(work.spec) : undefined;
  const call = async () => {
    if (work.kind === 'spawn') return await spawnOnce(work.command, work.request);
    const document = await runtime?.tools.call('bench', work.args);
    if (document?.status !== 'ok') throw new Error(`the tool did not answer: ${JSON.stringify(document)}`);
  };
  return {
    run: async (count) => {
      const times: number[] = [];
      while (times.length < count) {
        await sleep(gapMs);
        const startedAt = performance.now();
        await call();
        times.push(performance.now() - startedAt);
      }
      return { value: median(times) };
    },
    close: async () => await runtime?.close(),
  };
}
