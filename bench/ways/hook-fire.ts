import { type Contender, defineWay, spread } from '../run/line.ts';
import { openSpec } from '../workspace.ts';

export interface HookFire {
  /** The `spec` of a RuntimeConfig with filters of `tool` at `before_execution` that all allow. */
  readonly spec: object;
  readonly atOnce: number;
}

/** `runtime.hooks.fire`. */
export const hookFire = defineWay<HookFire>(import.meta.url);

export async function open({ spec, atOnce }: HookFire): Promise<Contender> {
  const runtime = await openSpec(spec);
  const fire = async () => {
    const { verdict, reason } = await runtime.hooks.fire({
      hook: 'tool',
      phase: 'before_execution',
      request: { name: 'refund', args: { amount: 5 } },
    });
    if (verdict !== 'allow') throw new Error(`the verdict was ${verdict}: ${reason}`);
  };
  return { run: (count) => spread(count, atOnce, fire), close: () => runtime.close() };
}
