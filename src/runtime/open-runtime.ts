import { RuntimeError } from '../base/errors.ts';
import { composeJson } from '../base/json/compose.ts';
import { isObject, type Json } from '../base/json/json.ts';
import { exactMembers } from '../base/json/scan.ts';
import { once } from '../base/time/async.ts';
import { consoleUrlOf } from '../config/mcp.ts';
import { identityOf } from '../config/overlay/identity.ts';
import type { Emit } from '../contract/event.ts';
import { type Scrubber, scrubFault, scrubMessages } from '../contract/scrub.ts';
import type { Cassette } from '../process/cassette/cassette.ts';
import type { ProcessContext } from '../process/process.ts';
import type { Store } from '../store/store.ts';
import type { Runtime, RuntimeOptions } from './api.ts';
import { lazyDecisions, lazyDispatcher, lazyResults, lazyStore } from './lazy-store.ts';
import type { Deliverer } from './notify/deliverer.ts';
import { serveRuntime } from './runs/serve.ts';
import { openEvents } from './stages/events.ts';
import { type LoadedRuntime, loadRuntime } from './stages/load.ts';
import { addScrubber } from './stages/open-scrubbers.ts';
import { openRates } from './stages/rates.ts';
import { bindingsOf, type Entries, resolveEntries } from './stages/resolve.ts';
import { wireRuntime } from './stages/wire.ts';
import { createBuildOf } from './worker/build.ts';

/**
 * Opens a runtime. Starts only servers with `warm: true`, and plugins that describe themselves. Throws CONFIG_INVALID,
 * FILE_UNREADABLE, PLATFORM_UNSUPPORTED.
 */
export async function openRuntime(file: string | URL, options: RuntimeOptions = {}): Promise<Runtime> {
  const loaded = await loadRuntime(file, options);
  return await composeRuntime(loaded, resolveEntries(loaded.config, loaded.host), options);
}

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
  const decisions = lazyDecisions(config.stateStore, loaded.host);
  const events = await openEvents(loaded, { results: results.open, decisions, state: store }, options);
  const { emit, keepCall, telemetry } = events;
  const closing = new AbortController();
  const closed = closing.signal;
  const rates = await openRates(config, store);
  const wired = await wireRuntime(loaded, entries, {
    emit,
    closed,
    options,
    rates,
    keepCall,
    cassette,
    store,
  });
  const { suspendRuns, closeGateways, ...served } = serveRuntime(loaded, wired, {
    emit,
    closed,
    store,
    results,
    decisions,
    keepCall,
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
    const stores = [store.close(), results.close(), decisions.close()];
    await Promise.all([wired.services.close(), wired.cassette?.close(), ...stores]);
    removeScrubber();
  });
  return { ...served, telemetry, close: end.open, [Symbol.asyncDispose]: end.open };
}

interface Notify {
  wrap(store: Store, emit: Emit): Promise<Store>;
  close(): Promise<void>;
}

function openNotify({ config, host, launch, scrubber }: LoadedRuntime): Notify {
  let deliverer: Deliverer | undefined;
  return {
    wrap: async (store, emit) => {
      if (config.notify === undefined) {
        await store.outbox.setRules(identityOf(config), []);
        return store;
      }
      const { notifyingStore, openDeliverer, openTargets, rulesOf } = await import('./notify/deliverer.ts');
      const process: ProcessContext = { launch, emit, scrubber };
      const targets = openTargets(config, { host, process });
      scrubber.add(targets.flatMap(({ secrets }) => secrets));
      await store.outbox.setRules(identityOf(config), rulesOf(targets));
      deliverer = openDeliverer({
        ...{ store, targets, emit, redact: scrubber.storedText },
        consoleUrl: consoleUrlOf(config.console),
      });
      const { kick } = deliverer;
      kick();
      return notifyingStore(store, kick);
    },
    close: async () => await deliverer?.close(),
  };
}

/** Scrubs failure messages before they are stored; results are stored unchanged. */
function scrubbedStore(store: Store, scrubber: Scrubber): Store {
  return {
    ...store,
    setRunStatus: (id, change) => {
      const { error, suspension } = change;
      return store.setRunStatus(id, {
        ...change,
        ...(error && { error: scrubFault(error, scrubber) }),
        ...(suspension?.error && {
          suspension: { ...suspension, error: scrubFault(suspension.error, scrubber) },
        }),
      });
    },
    endStep: (runId, step, outcome, at) => store.endStep(runId, step, scrubOutcome(outcome, scrubber), at),
    addPending: (call) =>
      store.addPending({
        ...call,
        ...scrubMessages({ reason: call.reason, message: call.message }, scrubber),
      }),
  };
}

/** Only failures have an `error`; all other members keep their exact text. */
function scrubOutcome(outcome: Json, scrubber: Scrubber): Json {
  const members = membersOf(outcome);
  const error = members['error']?.value;
  if (!isObject(error)) return outcome;
  const clean = scrubMessages({ error }, scrubber);
  const seen = members['view'] === undefined ? {} : membersOf(members['view']);
  const seenError = seen['error']?.value;
  if (!isObject(seenError)) return composeJson({ ...members, ...clean });
  return composeJson({
    ...members,
    view: { ...seen, ...scrubMessages({ error: seenError }, scrubber) },
    ...clean,
  });
}

function membersOf(json: Json): Readonly<Record<string, Json>> {
  return json.skeleton.startsWith('{') ? Object.fromEntries(exactMembers(json)) : {};
}
