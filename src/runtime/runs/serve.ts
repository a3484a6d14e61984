import { toRuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { createSecretHider } from '../../base/text/hide-secrets.ts';
import { once } from '../../base/time/once.ts';
import { unknownName } from '../../base/yaml/unknown-name.ts';
import { toHookInfos, toToolInfo } from '../../calls/tool-call/document.ts';
import { identityOf } from '../../config/overlay/identity.ts';
import type { Emit } from '../../contract/event.ts';
import { scrubError, scrubMembers, scrubMessages } from '../../contract/scrub.ts';
import { lazyGuard } from '../../models/guard/lazy-guard.ts';
import type { ResultStore } from '../../store/result-store.ts';
import { openAgents } from '../agents/agents-api.ts';
import type { GatewayOptions, Runtime } from '../api.ts';
import { callDirectly } from '../direct-call.ts';
import { callEval } from '../eval-call.ts';
import { fireEvent } from '../fire-event.ts';
import { type LazyGateway, lazyGateway } from '../gateway/lazy-gateway.ts';
import type { Lazy, LazyStore } from '../lazy-store.ts';
import { scrubEvent } from '../stages/events.ts';
import type { LoadedRuntime } from '../stages/load.ts';
import type { Rates } from '../stages/rates.ts';
import type { WiredRuntime } from '../stages/wire.ts';
import type { BuildOf } from '../worker/build.ts';
import type { LazyDispatcher } from '../worker/lazy-dispatcher.ts';
import { redactDocument } from './redacted-document.ts';
import { toStartedRun } from './started-run.ts';

interface ServeContext {
  readonly rates: Rates;
  readonly emit: Emit;
  /** Aborted, with RUNTIME_CLOSED, when the runtime is closed. */
  readonly closed: AbortSignal;
  readonly store: LazyStore;
  readonly dispatcher: LazyDispatcher;
  readonly buildOf: BuildOf;
  readonly results: Lazy<ResultStore>;
}

/** A runtime without its end; `suspendRuns` suspends every active run. */
export type ServedRuntime = Omit<Runtime, 'close' | typeof Symbol.asyncDispose> & {
  /** Never rejects. */
  suspendRuns(): Promise<void>;
  /** Ends its gateways. Never rejects. */
  closeGateways(): Promise<void>;
};

/** The methods of a runtime. What most programs never call is neither read from disk nor opened before its first use. */
export function serveRuntime(
  loaded: LoadedRuntime,
  wired: WiredRuntime,
  { emit, closed, store, results, rates, dispatcher, buildOf }: ServeContext,
): ServedRuntime {
  const { config, scrubber, host } = loaded;
  const { tools, declared, evals, services, cassette, links, concurrency } = wired;
  const requireOpen = () => closed.throwIfAborted();
  const isDurable = config.stateStore.type !== 'memory';
  const runs = once(async () => {
    requireOpen();
    return (await import('../runs-api.ts')).openRunsApi({
      ...{ config, store, services, declared, requireOpen, dispatcher, buildOf, emit },
      suites: async () => (await suites.open()).shared,
    });
  });
  const suites = once(async () => {
    requireOpen();
    return (await import('../suites-api.ts')).openSuites({
      ...{ config, links, check: wired.checkArgs, services, env: host, replay: wired.replay, scrubber },
      ...{ results: results.open, isRecording: wired.isRecording, misses: () => cassette?.misses() ?? 0 },
      findRecordingFault: async () => await cassette?.findRecordingFault(),
      ...{ concurrency, batchSizeOf: wired.batchSizeOf, requireOpen, announce: dispatcher.announce, buildOf },
    });
  });
  /** The method of an open runtime, with what it throws and the failure messages of its document scrubbed. */
  const method =
    <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      try {
        requireOpen();
        const result = await work(...given);
        return isObject(result) && isFailure(result) ? scrubMessages(result, scrubber) : result;
      } catch (thrown) {
        throw scrubError(toRuntimeError(thrown), scrubber);
      }
    };
  const startRun = runs.method((api) => api.run);
  const gateways: LazyGateway[] = [];
  /** Of all SDKs of this process. */
  let shared: LazyGateway | undefined;
  const openGateway = (options: GatewayOptions = {}) => {
    requireOpen();
    const gateway = lazyGateway(() => {
      requireOpen();
      return { config, links, declared, store, env: host, scrubber, rates, emit };
    }, options);
    gateways.push(gateway);
    return gateway;
  };
  const showRun = runs.method((api) => api.runs.show);
  const agents = openAgents({ config, wired, store, emit });
  const direct = { store, config: identityOf(config), emit, buildOf, isDurable };
  const find = (name: string) => tools.get(name);
  // Only filled-in values stand in what a config declares: a forwarded value that equals a name must not hide the name.
  const shown = <Value>(declared: Value): Value =>
    scrubMembers(declared, createSecretHider(config.environment?.secrets ?? []).text);
  return {
    file: config.file,
    overlays: config.overlays ?? [],
    name: config.name,
    isDurable,
    logFormat: config.logging.format,
    run: (...given) =>
      toStartedRun(
        (listener) => startRun(given, listener),
        (event) => (event.type === 'events.dropped' ? event : scrubEvent(event, scrubber)),
      ),
    work: runs.method((api) => api.work),
    worker: runs.method((api) => api.worker),
    workers: { list: runs.method((api) => api.workers.list) },
    runs: {
      list: runs.method((api) => api.runs.list),
      page: runs.method((api) => api.runs.page),
      show: async (id, options) => redactDocument(await showRun(id, options), scrubber.storedText),
      steps: async function* (id, options) {
        try {
          const { steps } = (await runs.open()).runs;
          for await (const step of steps(id, options)) yield redactDocument(step, scrubber.storedText);
        } catch (thrown) {
          throw scrubError(toRuntimeError(thrown), scrubber);
        }
      },
      queue: runs.method((api) => api.runs.queue),
      resume: runs.method((api) => api.runs.resume),
      resumable: runs.method((api) => api.runs.resumable),
      retry: runs.method((api) => api.runs.retry),
      queueRetry: runs.method((api) => api.runs.queueRetry),
      cancel: runs.method((api) => api.runs.cancel),
      prune: runs.method((api) => api.runs.prune),
    },
    pending: {
      list: runs.method((api) => api.pending.list),
      show: runs.method((api) => api.pending.show),
      approve: runs.method((api) => api.pending.approve),
      reject: runs.method((api) => api.pending.reject),
      respond: runs.method((api) => api.pending.respond),
    },
    suspendRuns: async () => await (await runs.opened())?.suspendRuns(),
    tools: {
      list: () => shown(config.tools.map(toToolInfo)),
      call: method(async (name, args, options = {}) => {
        const tool = find(name) ?? unknownName('tool', String(name), tools.keys());
        return await callDirectly({ ...direct, tool, find }, args, options);
      }),
    },
    evals: {
      list: () => [...evals.keys()],
      call: method(async (type, input, options) => await callEval(wired, { type, input }, options)),
      run: suites.method((api) => api.run),
      clearCache: suites.method((api) => api.clearCache),
      runs: {
        list: suites.method((api) => api.runs.list),
        open: suites.method((api) => api.runs.open),
        rate: suites.method((api) => api.runs.rate),
        unrate: suites.method((api) => api.runs.unrate),
        prune: suites.method((api) => api.runs.prune),
      },
    },
    hooks: {
      list: () => shown(toHookInfos(config)),
      fire: method(async (event, options) => await fireEvent(wired, event, options)),
    },
    agents: { ...agents, judge: method(agents.judge) },
    providers: { list: () => shown(config.providers.map(({ id, type, model }) => ({ id, type, model }))) },
    gateway: openGateway,
    fetch: ({ fetch: inner = globalThis.fetch } = {}) => {
      requireOpen();
      shared ??= openGateway();
      return shared.guardFetch(inner);
    },
    closeGateways: async () => {
      await Promise.all(gateways.map((gateway) => gateway.close()));
    },
    guard: ({ providerId, stream = 'hold', window } = {}) => {
      requireOpen();
      return lazyGuard({ fire: services.fire, stream, providerId, windowChars: window });
    },
  };
}

function isFailure(document: Readonly<Record<string, unknown>>): boolean {
  return ['failed', 'denied', 'suspended', 'unscored'].includes(String(document['status']));
}
