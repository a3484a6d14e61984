import { RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { toDocument } from '../../base/json/document-builder.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { exactMembers } from '../../base/json/scan.ts';
import { createSecretHider } from '../../base/text/hide-secrets.ts';
import { once } from '../../base/time/async.ts';
import { unknownName } from '../../base/yaml/wording.ts';
import { type EventInput, readEvent } from '../../calls/hooks/event-input.ts';
import type { PointEvent } from '../../calls/hooks/fire-point.ts';
import { passGate } from '../../calls/hooks/gate.ts';
import { agentTools, resolveToolNames } from '../../calls/tool-call/agent-tool.ts';
import { trackToolCall } from '../../calls/tool-call/call.ts';
import {
  toDecisionDocument,
  toEvalDocument,
  toHookInfos,
  toToolInfo,
} from '../../calls/tool-call/document.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { consoleLinkOf, consoleUrlOf } from '../../config/mcp.ts';
import { toolOfServer } from '../../config/mcp-servers.ts';
import { identityOf } from '../../config/overlay/identity.ts';
import type { KeepCall } from '../../contract/decision.ts';
import type { DecisionDocument, EvalDocument } from '../../contract/document.ts';
import type { Emit, RunEvent } from '../../contract/event.ts';
import { inTraceOf } from '../../contract/operation.ts';
import { withProgress } from '../../contract/progress.ts';
import type { RunDocument } from '../../contract/run.ts';
import { type Redact, scrubError, scrubMembers, scrubMessages } from '../../contract/scrub.ts';
import { nextCallId, nextEventId } from '../../contract/tool.ts';
import { lazyGuard } from '../../models/guard/lazy-guard.ts';
import { type EvalInput, toEvalRequest } from '../../pipelines/run/eval-request.ts';
import type { RunListener } from '../../pipelines/run/runs.ts';
import type { WatchKind } from '../../store/changes.ts';
import type { ResultStore } from '../../store/result-store.ts';
import type {
  AgentEvent,
  CallOptions,
  Change,
  EvalOptions,
  FireOptions,
  GatewayOptions,
  JudgeOptions,
  Runtime,
} from '../api.ts';
import type { StartedRun } from '../api-options.ts';
import { callDirectly } from '../direct-call.ts';
import { type LazyGateway, lazyGateway } from '../gateway/lazy-gateway.ts';
import type { Lazy, LazyDecisions, LazyDispatcher, LazyStore } from '../lazy-store.ts';
import { scrubEvent } from '../stages/events.ts';
import type { LoadedRuntime } from '../stages/load.ts';
import type { Rates } from '../stages/rates.ts';
import type { WiredRuntime } from '../stages/wire.ts';
import type { BuildOf } from '../worker/build.ts';

const never = new AbortController().signal;

interface ServeContext {
  readonly rates: Rates;
  readonly emit: Emit;
  readonly closed: AbortSignal;
  readonly store: LazyStore;
  readonly dispatcher: LazyDispatcher;
  readonly buildOf: BuildOf;
  readonly results: Lazy<ResultStore>;
  readonly decisions: LazyDecisions;
  readonly keepCall: KeepCall | undefined;
}

type ServedRuntime = Omit<Runtime, 'close' | 'telemetry' | typeof Symbol.asyncDispose> & {
  suspendRuns(): Promise<void>;
  closeGateways(): Promise<void>;
};

/** The methods of a runtime. Rarely used parts are loaded on first use. */
export function serveRuntime(
  loaded: LoadedRuntime,
  wired: WiredRuntime,
  { emit, closed, store, results, decisions, keepCall, rates, dispatcher, buildOf }: ServeContext,
): ServedRuntime {
  const { config, scrubber, host } = loaded;
  const { tools, upstreams, declared, evals, services, cassette, links, concurrency } = wired;
  const requireOpen = () => closed.throwIfAborted();
  const isDurable = config.stateStore.type !== 'memory';
  const runs = once(async () => {
    requireOpen();
    return (await import('../runs-api.ts')).openRunsApi({
      ...{ config, store, services, declared, requireOpen, dispatcher, buildOf, emit },
      schemaOf: (tool) => shown(tools.get(tool)?.inputSchema ?? null),
      callOnce: async (tool, args, options) => await callDirectly(direct, { tool, args }, options),
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
  const recorded = once(async () => {
    requireOpen();
    const { openDecisionsApi } = await import('../decisions-api.ts');
    return openDecisionsApi({ openStore: decisions.find, openState: store.open });
  });
  /** Rejects if the runtime is closed; scrubs thrown errors and failure messages. */
  const clean = <Result>(result: Result) =>
    isObject(result) && isFailure(result) ? scrubMessages(result, scrubber) : result;
  const fail = (thrown: unknown): never => {
    throw scrubError(toRuntimeError(thrown), scrubber);
  };
  const method = <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) => {
    return (...given: Given): Promise<Result> => {
      try {
        requireOpen();
        return work(...given).then(clean, fail);
      } catch (thrown) {
        return Promise.reject(thrown).catch(fail);
      }
    };
  };
  const runSuite = suites.method((api) => api.run);
  const startRun = runs.method((api) => api.run);
  const gateways: { close(): Promise<void> }[] = [];
  let shared: LazyGateway | undefined;
  const openGateway = (options: GatewayOptions = {}) => {
    requireOpen();
    const gateway = lazyGateway(() => {
      requireOpen();
      return { config, links, declared, store, env: host, scrubber, rates, emit, keepCall };
    }, options);
    gateways.push(gateway);
    return gateway;
  };
  const showRun = runs.method((api) => api.runs.show);
  const readDocument = runs.method((api) => api.runs.document);
  const summarizeRun = runs.method((api) => api.runs.summary);
  const pageSteps = runs.method((api) => api.runs.pageSteps);
  const audit = once(async () => (await import('../gateway/audit.ts')).openAuditApi(config.stateStore, host));
  const checkPending = runs.method((api) => api.pending.check);
  const agents = openAgents({ config, wired, store, emit });
  const find = (name: string) => tools.get(name);
  const direct = { store, config: identityOf(config), emit, buildOf, isDurable, find, clean, fail };
  /** Throws why the tool cannot be called. */
  const requireTool = async (name: string) => {
    const refusal = await upstreams?.prepare(String(name));
    const refuse = (): never => {
      throw refusal ?? unknownName('tool', String(name), tools.keys());
    };
    const tool = refusal === undefined ? find(name) : undefined;
    return tool ?? (await refuseCall(emit, String(name), refuse));
  };
  const callRun = runs.method((api) => api.calls.call);
  const callPrepared = async (name: string, args: unknown, options: CallOptions) => {
    const tool = await requireTool(name).catch((thrown: unknown) => {
      const error = toRuntimeError(thrown);
      if (error.code === 'NAME_UNKNOWN') throw error;
      return { status: 'failed', error: toFault(error) } as const;
    });
    if ('status' in tool) return tool;
    const { identity } = options;
    if (identity !== undefined) return await callRun(tool, args, { ...options, identity });
    return await callDirectly(direct, { tool, args }, options);
  };
  const callTracked = method((name: string, args: unknown, options: CallOptions) =>
    withProgress(options.onProgress, () => inTraceOf(options, () => callPrepared(name, args, options))),
  );
  const callTool: Runtime['tools']['call'] = (name, args, options = {}) => {
    // Without servers that list their tools, and without an identity, nothing is awaited before the call.
    const tool = upstreams === undefined && isPlain(options) && !closed.aborted ? find(name) : undefined;
    return tool === undefined
      ? callTracked(name, args, options)
      : callDirectly(direct, { tool, args }, options);
  };
  // Only filled-in values are redacted in declarations. A forwarded value that equals a name must not hide the name.
  const shown = <Value>(declared: Value): Value =>
    scrubMembers(declared, createSecretHider(config.environment?.secrets ?? []).text);
  return {
    file: config.file,
    overlays: config.overlays ?? [],
    name: config.name,
    isDurable,
    mcp: { ...config.mcp, limits: config.gateway.limits },
    console: {
      ...config.console,
      url: consoleUrlOf(config.console),
      records: {
        decisions: config.decisions !== undefined,
        content: config.decisions?.content === true,
        audit: config.gateway.audit !== undefined,
      },
    },
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
      show: async (id, options) => redactDocument(await showRun(id, options), scrubber.storedJson),
      document: async (id) => redactDocument(await readDocument(id), scrubber.storedJson),
      summary: async (id, options) => redactDocument(await summarizeRun(id, options), scrubber.storedJson),
      pageSteps: async (id, options) => redactDocument(await pageSteps(id, options), scrubber.storedJson),
      steps: async function* (id, options) {
        try {
          const { steps } = (await runs.open()).runs;
          for await (const step of steps(id, options)) yield redactDocument(step, scrubber.storedJson);
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
      principal: runs.method((api) => api.runs.principal),
      prune: runs.method((api) => api.runs.prune),
    },
    pending: {
      list: runs.method((api) => api.pending.list),
      page: runs.method((api) => api.pending.page),
      counts: runs.method((api) => api.pending.counts),
      show: runs.method((api) => api.pending.show),
      outcome: method(runs.method((api) => api.pending.outcome)),
      check: async (id, options) => scrubMessages(await checkPending(id, options), scrubber),
      issueTicket: runs.method((api) => api.pending.issueTicket),
      useTicket: runs.method((api) => api.pending.useTicket),
      approve: runs.method((api) => api.pending.approve),
      reject: runs.method((api) => api.pending.reject),
      respond: runs.method((api) => api.pending.respond),
    },
    watch: (kinds, { signal = never } = {}) => ({
      [Symbol.asyncIterator]: () => {
        const left = new AbortController();
        const ended = AbortSignal.any([closed, signal, left.signal]);
        const changes = watchStores({ store, results, requireOpen, scrubber }, kinds, ended);
        return {
          next: () => changes.next(),
          // A generator would first wait for the next change.
          return: () => {
            left.abort();
            return changes.return();
          },
        };
      },
    }),
    decisions: {
      page: recorded.method((api) => api.page),
      counts: recorded.method((api) => api.counts),
      conversation: recorded.method((api) => api.conversation),
    },
    audit: { page: method(audit.method((api) => api.page)) },
    suspendRuns: async () => await (await runs.opened())?.suspendRuns(),
    upstreams: {
      ...(upstreams?.api ?? withoutServers),
      call: async (name, tool, args, { definition, exchange, ...options }) => {
        const called = toolOfServer(name, tool);
        const work = async () => await callTool(called, args, options);
        return await (upstreams?.exchanging({ name: called, definition, exchange }, work) ?? work());
      },
    },
    tools: {
      list: () =>
        shown([
          ...config.tools.map((tool) => toToolInfo(tool, find(tool.name)?.approval)),
          ...(upstreams?.infos() ?? []),
        ]),
      call: callTool,
      start: (name, args, options = {}) => {
        const started = runs.open().then(async ({ calls }) => {
          const begin = async () => calls.start(await requireTool(name), args, options);
          return await inTraceOf(options, begin);
        });
        const id = method(async () => await (await started).id)();
        const done = method(async () => await (await started).done)();
        // Both reject with the same error, so a caller may read only one.
        for (const promise of [id, done]) promise.catch(() => {});
        return { id, done };
      },
      outcome: method(runs.method((api) => api.calls.outcome)),
    },
    evals: {
      list: () => [...evals.keys()],
      call: method(
        async (type, input, options) =>
          await inTraceOf(options, () => callEval(wired, { type, input }, options)),
      ),
      run: async (suite, options) => await inTraceOf(options, () => runSuite(suite, options)),
      clearCache: suites.method((api) => api.clearCache),
      history: suites.method((api) => api.history),
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
      fire: method(
        async (event, options) => await inTraceOf(options, () => fireEvent(wired, event, options)),
      ),
    },
    agents: {
      ...agents,
      judge: method(async (event, options) => await inTraceOf(options, () => agents.judge(event, options))),
    },
    providers: { list: () => shown(config.providers.map(({ id, type, model }) => ({ id, type, model }))) },
    gateway: openGateway,
    callers: method(async (options) => {
      const { openCallers } = await import('../../gateway/http/callers.ts');
      const report = (message: string) => emit({ type: 'note', name: 'auth', level: 'warn', message });
      const opened = await openCallers({
        config: config.mcp,
        privateHosts: config.privateHosts,
        store: config.stateStore,
        env: host,
        report,
        ...options,
      });
      gateways.push(opened);
      return opened;
    }),
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
      return lazyGuard({ fire: services.fire, emit, stream, providerId, windowChars: window, keepCall });
    },
  };
}

const noServer = (name: string): never => unknownName('MCP server', name, []);

const withoutServers: Omit<Runtime['upstreams'], 'call'> = {
  list: () => [],
  connect: async (name) => (name === undefined ? undefined : noServer(name)),
  channel: async (name) => noServer(name),
  http: async (name) => noServer(name),
  login: async (name) => noServer(name),
  logout: async (name) => noServer(name),
  judge: async (name) => noServer(name),
  pins: async (name) => noServer(name),
  accept: async (name) => noServer(name),
};

/** A refused call is an operation that failed. */
async function refuseCall(emit: Emit, tool: string, refuse: () => never): Promise<never> {
  return await trackToolCall(
    emit,
    { tool, callId: nextCallId() },
    async () => refuse(),
    (never) => never,
  );
}

function isPlain(options: CallOptions): boolean {
  if (!isObject(options)) return false;
  const { identity, onProgress, trace } = options;
  return identity === undefined && onProgress === undefined && trace === undefined;
}

function isFailure({ status }: Readonly<Record<string, unknown>>): boolean {
  return failures.has(status);
}

const failures: ReadonlySet<unknown> = new Set(['failed', 'denied', 'suspended', 'unscored']);

async function callEval(
  { evals, services }: Pick<WiredRuntime, 'evals' | 'services'>,
  { type, input }: { readonly type: string; readonly input: EvalInput },
  { id = type, threshold, signal = neverAborted }: EvalOptions = {},
): Promise<EvalDocument> {
  const request = toEvalRequest(type, input);
  // Invalid params are a usage error of a direct call only; in suites and pipelines they may depend on the case.
  if (!evals.has(type)) (await import('../../builtins/checks/all.ts')).requireParams(request);
  const { outcome, passed } = await services.score({ id, type, request, threshold, signal });
  return toEvalDocument(outcome, passed);
}

const neverAborted = new AbortController().signal;

interface AgentsContext {
  readonly config: RuntimeConfig;
  readonly wired: WiredRuntime;
  readonly store: LazyStore;
  readonly emit: Emit;
}

function openAgents({ config, wired, store, emit }: AgentsContext): Runtime['agents'] {
  const { pending, holdMs } = config.agents ?? { pending: 'refuse', holdMs: 0 };
  const waitMs = pending === 'hold' ? holdMs : 0;
  const hasApprovals = config.approvals !== undefined || config.tools.some(({ approval }) => approval);
  return {
    hasApprovals,
    holdMs: hasApprovals ? waitMs : 0,
    judge: async ({ caller, ...event }: AgentEvent, options: JudgeOptions = {}) => {
      const {
        signal = new AbortController().signal,
        withinMs = Number.POSITIVE_INFINITY,
        cwd = '',
      } = options;
      const fire = async (fired: AgentEvent) => await fireEvent(wired, fired, { signal });
      if (caller === undefined || !hasApprovals) return await fire(event);
      const since = performance.now();
      const { judgeAgentCall } = await import('../agents/agent-call.ts');
      const placed = { ...caller, cwd: caller.cwd === '' ? cwd : caller.cwd };
      return await judgeAgentCall(event, placed, {
        ...{ fire, signal, emit, config: identityOf(config), openStore: store.open },
        tools: agentTools(wired.declared, wired.links),
        isDurable: config.stateStore.type !== 'memory',
        linkOf: (id) => consoleLinkOf(consoleUrlOf(config.console), 'inbox', id),
        holdMs: Math.min(waitMs, withinMs - (performance.now() - since) - ANSWER_MS),
      });
    },
  };
}

const ANSWER_MS = 1_000;

async function fireEvent(
  {
    links,
    groups,
    tools,
    declared,
    checkArgs,
  }: Pick<WiredRuntime, 'links' | 'groups' | 'tools' | 'declared' | 'checkArgs'>,
  event: EventInput | PointEvent,
  { signal, onHear, wholeFaults }: FireOptions = {},
): Promise<DecisionDocument> {
  const call = nextEventId();
  if (!isPointEvent(event)) {
    if (hasBlocks(event)) {
      const { judgeResult } = await import('../agents/agent-result.ts');
      const options = { call, signal, onHear };
      const decision = await judgeResult(event, { links, tools: agentTools(declared, links), options });
      return toDecisionDocument(decision, { wholeFaults });
    }
    const resolved = resolveToolNames(readEvent(event), agentTools(declared, links));
    const { decision } = await passGate(links, resolved, { call, signal, check: checkArgs, onHear });
    return toDecisionDocument(decision, { wholeFaults });
  }
  const { fireForeignPoint } = await import('../foreign-links.ts');
  const host = { tool_count: tools.size };
  const decision = await fireForeignPoint(event, { groups, call, signal, host, onHear });
  return toDecisionDocument(decision, { wholeFaults });
}

/** Whether the event has a tool result of MCP. The event may be anything: it is not checked yet. */
function hasBlocks(event: EventInput): boolean {
  const { hook, phase, response } = isObject(event) ? event : {};
  const isResult = hook === 'tool' && phase === 'after_execution' && isObject(response);
  return isResult && Array.isArray(response['content']);
}

function isPointEvent(event: EventInput | PointEvent): event is PointEvent {
  return isObject(event) && 'dialect' in event;
}

function toStartedRun(
  begin: (listener: RunListener) => Promise<RunDocument>,
  toShown: (event: RunEvent) => RunEvent,
): StartedRun {
  const queue = openEventQueue(toShown);
  const kept = Promise.withResolvers<string>();
  // The promise of the document rejects with the same error.
  kept.promise.catch(() => {});
  const begun = begin({ onKept: kept.resolve, onEvent: queue.push });
  // A separate promise, so that an unhandled failure is reported like any other rejection.
  const document = begun.then((ended) => {
    queue.end();
    return ended;
  });
  begun.catch((error: unknown) => {
    kept.reject(error);
    queue.end(error);
  });
  let isRead = false;
  const read = () => {
    if (isRead) {
      throw new RuntimeError('USAGE', 'the events of a run can have only one reader', {
        hint: 'Pass the events on from that reader.',
      });
    }
    isRead = true;
    document.catch(() => {});
    return queue.reader;
  };
  return Object.assign(document, { id: kept.promise, [Symbol.asyncIterator]: read });
}

interface EventQueue {
  /** Never waits. If the reader is too slow, the oldest events are dropped and counted. */
  push(event: RunEvent): void;
  end(error?: unknown): void;
  readonly reader: AsyncIterableIterator<RunEvent>;
}

export function openEventQueue(toShown: (event: RunEvent) => RunEvent): EventQueue {
  let waiting: RunEvent[] = [];
  let size = 0;
  let dropped = 0;
  let end: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;
  const take = (): RunEvent | undefined => {
    const [first] = waiting;
    if (first === undefined) return undefined;
    if (dropped > 0) {
      const { run } = first;
      const gap = { type: 'events.dropped', run, count: dropped } as const;
      dropped = 0;
      return gap;
    }
    waiting.shift();
    size -= sizeOf(first);
    return first;
  };
  const next = async (): Promise<IteratorResult<RunEvent>> => {
    for (;;) {
      const event = take();
      if (event !== undefined) return { value: toShown(event), done: false };
      if (end !== undefined) {
        const { error } = end;
        end = {};
        if (error !== undefined) throw error;
        return { value: undefined, done: true };
      }
      await new Promise<void>((resolve) => {
        const others = wake;
        wake = () => {
          others?.();
          resolve();
        };
      });
    }
  };
  const tell = () => {
    const waker = wake;
    wake = undefined;
    waker?.();
  };
  return {
    push: (event) => {
      if (end !== undefined) return;
      waiting.push(event);
      size += sizeOf(event);
      while (waiting.length > MOST_EVENTS || (size > MOST_CHARACTERS && waiting.length > 1)) {
        const oldest = waiting.shift();
        size -= oldest === undefined ? 0 : sizeOf(oldest);
        dropped += 1;
      }
      tell();
    },
    end: (error) => {
      end ??= error === undefined ? {} : { error };
      tell();
    },
    reader: {
      next,
      return: async () => {
        end = {};
        waiting = [];
        dropped = 0;
        tell();
        return { value: undefined, done: true };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    },
  };
}

const MOST_EVENTS = 1_000;
const MOST_CHARACTERS = 1_000_000;

function sizeOf(event: RunEvent): number {
  switch (event.type) {
    case 'text':
      return event.text.length;
    case 'pending.opened':
      return event.message.length + event.reason.length;
    default:
      return 'error' in event ? (event.error?.message.length ?? 0) : 0;
  }
}

export function redactDocument<Document extends object>(document: Document, redact: Redact): Document {
  const text = stringifyJson(document);
  const shown = redact(text);
  if (shown === text) return document;
  return toDocument(Object.fromEntries(exactMembers(new Json(shown)))) as Document;
}

async function* watchStores(
  {
    store,
    results,
    requireOpen,
    scrubber,
  }: Pick<ServeContext, 'store' | 'results'> & {
    readonly requireOpen: () => void;
    readonly scrubber: LoadedRuntime['scrubber'];
  },
  kinds: readonly WatchKind[],
  ended: AbortSignal,
): AsyncGenerator<Change, void> {
  requireOpen();
  try {
    const { requireKinds, watchChanges } = await import('../watch.ts');
    requireKinds(kinds);
    const opened = await store.open();
    const isElsewhere = kinds.includes('suites') && !opened.changes.kinds.includes('suites');
    const more = isElsewhere ? (await results.open()).changes : undefined;
    yield* watchChanges([opened.changes, ...(more ? [more] : [])], kinds, ended);
  } catch (thrown) {
    throw scrubError(toRuntimeError(thrown), scrubber);
  }
}
