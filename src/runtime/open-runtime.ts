import { RuntimeError } from '../errors.ts';
import { once } from '../time/once.ts';
import type { Runtime, RuntimeOptions } from './api.ts';
import { lazyResults, lazyStore } from './lazy-store.ts';
import { scrubbedStore } from './scrubbed-store.ts';
import { openEvents } from './stages/events.ts';
import { loadRuntime } from './stages/load.ts';
import { resolveEntries } from './stages/resolve.ts';
import { serveRuntime } from './stages/serve.ts';
import { wireRuntime } from './stages/wire.ts';

/**
 * Opens a RuntimeConfig file. Starts only servers with `warm: true`, and plugins that describe themselves.
 * Throws CONFIG_INVALID, FILE_UNREADABLE, PLATFORM_UNSUPPORTED.
 */
export async function openRuntime(file: string | URL, options: RuntimeOptions = {}): Promise<Runtime> {
  const loaded = await loadRuntime(file, options);
  const { config, host, scrubber } = loaded;
  const entries = resolveEntries(config, host);
  scrubber.add(entries.all.flatMap(({ binding }) => binding.secrets));
  const results = lazyResults(config.stateStore);
  const store = lazyStore(config.stateStore, (opened) => scrubbedStore(opened, scrubber));
  const events = await openEvents(loaded, results.open, options);
  const { emit } = events;
  const closing = new AbortController();
  const closed = closing.signal;
  const wired = await wireRuntime(loaded, entries, { emit, closed, options });
  const { suspendRuns, closeGateways, ...served } = serveRuntime(loaded, wired, {
    emit,
    closed,
    store,
    results,
  });
  const end = once(async () => {
    closing.abort(new RuntimeError('RUNTIME_CLOSED', 'the runtime is closed'));
    await suspendRuns();
    await closeGateways();
    await wired.close();
    await events.close();
    const { services, cassette } = wired;
    await Promise.all([services.close(), store.close(), results.close(), cassette?.close()]);
  });
  return { ...served, close: end.open, [Symbol.asyncDispose]: end.open };
}
