import type { Binding } from '../binding.ts';
import { onlyIf, openOneshot } from '../oneshot.ts';
import { type ProcessContext, startProcess } from '../process.ts';
import type { Transport } from '../transport.ts';
import { openSpares, type SpareLimits } from './spares.ts';

/**
 * One process per exchange, as `openOneshot`, but started ahead: `binding.spares` processes wait for their request. A call that
 * finds none, or that has an environment of its own, starts one.
 */
export function openWarmOneshot(binding: Binding, context: ProcessContext, limits?: SpareLimits): Transport {
  const spares = openSpares(binding, context, limits);
  const oneshot = openOneshot(binding, context, async (forCall, input, { over, requireStart }) => {
    const spare = forCall.env === binding.env ? await spares.serve(input, requireStart) : undefined;
    if (spare === undefined) over.throwIfAborted();
    return spare ?? (await startProcess(forCall, onlyIf(requireStart, context), input));
  });
  return {
    ...oneshot,
    exchange: (message, signal) => oneshot.exchange(message, signal).finally(spares.fill),
    warm: spares.fill,
    close: async () => {
      await Promise.all([oneshot.close(), spares.close()]);
    },
  };
}
