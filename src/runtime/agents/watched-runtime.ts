import { RuntimeError } from '../../base/errors.ts';
import { stateOfFile, watchReads } from '../../base/files/read-bounded.ts';
import { stampOf, wholeReach } from '../../process/spare/spares.ts';
import type { Runtime, RuntimeOptions } from '../api.ts';
import { composeRuntime } from '../open-runtime.ts';
import { loadRuntime } from '../stages/load.ts';
import { bindingsOf, resolveEntries } from '../stages/resolve.ts';

export interface WatchedRuntime {
  readonly runtime: Runtime;
  /** Whether a runtime that is opened now would read the same files and start the same servers. */
  isFresh(): boolean;
  close(): Promise<void>;
}

/**
 * Opens a runtime that knows whether its files have changed. Covers each file that is read as text, and the files
 * of processes that stay; every other process starts anew. Throws USAGE for plugins, which only a start of them
 * describes, and for a process with too many files, and the errors of `openRuntime`.
 */
export async function openWatchedRuntime(file: string, options: RuntimeOptions): Promise<WatchedRuntime> {
  const states = new Map<string, string>();
  let isReread = false;
  const stopWatching = watchReads((path, state) => {
    // Another runtime reads the file anew, but this one may still use what it read before.
    if ((states.get(path) ?? state) !== state) isReread = true;
    states.set(path, state);
  });
  try {
    const loaded = await loadRuntime(file, options);
    if (loaded.config.imports.length > 0)
      throw new RuntimeError('USAGE', 'a resident does not serve a config that imports plugins', {
        hint: 'Run `signalbox hook` without a resident.',
      });
    const entries = resolveEntries(loaded.config, loaded.host);
    const stay = bindingsOf(entries).filter(
      ({ mode, isForked, spares }) => mode === 'server' || isForked || spares > 0,
    );
    const stamps = stay.map((binding) => ({ binding, stamp: stampOf(binding, wholeReach) }));
    const tooWide = stamps.find(({ stamp }) => stamp.isCut);
    if (tooWide !== undefined)
      throw new RuntimeError(
        'USAGE',
        `a resident cannot compare the files of "${tooWide.binding.name}": they are too many`,
        { hint: 'Put its script into a folder of its own, and name the script in `command` or `args`.' },
      );
    const runtime = await composeRuntime(loaded, entries, options);
    return {
      runtime,
      isFresh: () =>
        !isReread &&
        states.entries().every(([path, state]) => stateOfFile(path) === state) &&
        stamps.every(
          ({ binding, stamp }) => !stamp.isSettling && stampOf(binding, wholeReach).text === stamp.text,
        ),
      close: async () => {
        stopWatching();
        await runtime.close();
      },
    };
  } catch (thrown) {
    stopWatching();
    throw thrown;
  }
}
