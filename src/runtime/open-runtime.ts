import { RuntimeError } from '../base/errors.ts';
import { once } from '../base/time/once.ts';
import type { Cassette } from '../process/cassette/cassette.ts';
import type { Store } from '../store/store.ts';
import type { Runtime, RuntimeOptions } from './api.ts';
import { lazyResults, lazyStore } from './lazy-store.ts';
import { openNotify } from './notify/open-notify.ts';
import { serveRuntime } from './runs/serve.ts';
import { scrubbedStore } from './scrubbed-store.ts';
import { openEvents } from './stages/events.ts';
import { type LoadedRuntime, loadRuntime } from './stages/load.ts';
import { addScrubber } from './stages/open-scrubbers.ts';
import { openRates } from './stages/rates.ts';
import { bindingsOf, type Entries, resolveEntries } from './stages/resolve.ts';
import { wireRuntime } from './stages/wire.ts';
import { createBuildOf } from './worker/build.ts';
import { lazyDispatcher } from './worker/lazy-dispatcher.ts';

/**
 * Opens a RuntimeConfig file. Starts only servers with `warm: true`, and plugins that describe themselves.
 * Throws CONFIG_INVALID, FILE_UNREADABLE, PLATFORM_UNSUPPORTED.
 */
export async function openRuntime(file: string | URL, options: RuntimeOptions = {}): Promise<Runtime> {
  const loaded = await loadRuntime(file, options);
  return await composeRuntime(loaded, resolveEntries(loaded.config, loaded.host), options);
}

/** The runtime of a config that was read, and of entries that are final; `cassette` in place of the one of the options. */
export async function composeRuntime(
  loaded: LoadedRuntime,
  entries: Entries,
  options: RuntimeOptions,
  cassette?: Cassette,
): Promise<Runtime> {
  const { config, scrubber } = loaded;
  const removeScrubber = addScrubber(scrubber);
  scrubber.add(entries.all.flatMap(({ binding }) => binding.secrets));
  const results = lazyResults(config.stateStore, loaded.host);
  const warn = (message: string) => emit({ type: 'note', name: config.name, level: 'warn', message });
  const dispatcher = lazyDispatcher(config.stateStore, loaded.host, warn);
  const notify = openNotify(loaded);
  const wrap = async (opened: Store) => {
    opened.work?.announceBy(dispatcher.announce);
    return await notify.wrap(scrubbedStore(opened, scrubber), emit);
  };
  const store = lazyStore(config.stateStore, wrap, loaded.host);
  const events = await openEvents(loaded, results.open, options);
  const { emit } = events;
  const closing = new AbortController();
  const closed = closing.signal;
  const rates = await openRates(config, store);
  const wired = await wireRuntime(loaded, entries, { emit, closed, options, rates, cassette });
  const { suspendRuns, closeGateways, ...served } = serveRuntime(loaded, wired, {
    emit,
    closed,
    store,
    results,
    rates,
    dispatcher,
    buildOf: createBuildOf(config.file, bindingsOf(entries), config.overlays),
  });
  const end = once(async () => {
    closing.abort(new RuntimeError('RUNTIME_CLOSED', 'the runtime is closed'));
    await suspendRuns();
    await closeGateways();
    await notify.close();
    await wired.close();
    await events.close();
    await dispatcher.close();
    await rates.close();
    await Promise.all([wired.services.close(), store.close(), results.close(), wired.cassette?.close()]);
    removeScrubber();
  });
  return { ...served, close: end.open, [Symbol.asyncDispose]: end.open };
}
