import type { Binding } from '../binding.ts';
import { closedError, onlyIf, openOneshot } from '../oneshot.ts';
import { type ProcessContext, startProcess } from '../process.ts';
import type { Transport } from '../transport.ts';
import { openForks } from './forks.ts';

/**
 * One process per exchange, as `openOneshot`, but forked from one that has imported what the script imports. What cannot be forked
 * runs as one-shot, and a note says why, once.
 */
export function openForkedOneshot(binding: Binding, context: ProcessContext): Transport {
  const noted = new Set<string>();
  const note = (reason: string) => {
    if (noted.has(reason)) return;
    noted.add(reason);
    const message = `runs as one-shot, not forked: ${reason}`;
    context.emit({ type: 'note', name: binding.name, level: 'warn', message });
  };
  // The process that forks would have to be given descriptors of this one, which nothing in a sandbox may see.
  const isBoxed = binding.sandbox !== null;
  const forks = openForks(binding, context, note);
  const oneshot = openOneshot(binding, context, async (forCall, input, { over, requireStart }) => {
    const isUsual = forCall.env === binding.env;
    if (!isUsual) note('a call brought variables of its own');
    if (isBoxed) note('in a sandbox each process is started by itself');
    const helper = isUsual && !isBoxed && binding.refused === null ? await forks.find() : undefined;
    if (over.aborted) throw closedError(binding.name);
    const launch = helper?.launch ?? context.launch;
    return await startProcess(forCall, onlyIf(requireStart, { ...context, launch }), input);
  });
  return {
    ...oneshot,
    warm: () => void (isBoxed || forks.find()),
    close: async () => {
      forks.stop();
      await oneshot.close();
      await forks.close();
    },
  };
}
