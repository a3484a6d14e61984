import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostEnv } from '../binding/env.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { loadConfig, requireConfig } from '../config/load.ts';
import type { Emit, RuntimeEvent } from '../contract/event.ts';
import type { HookEvent } from '../contract/hook.ts';
import { RuntimeError, toRuntimeError, withoutOverflow } from '../errors.ts';
import { sweepTempFolders } from '../files/temp-folder.ts';
import type { EventInput } from '../hooks/event-input.ts';
import { readEvent } from '../hooks/event-input.ts';
import type { PointEvent } from '../hooks/fire-point.ts';
import { passGate } from '../hooks/gate.ts';
import { isObject } from '../json/json.ts';
import { createScrubber, type RuntimeScrubber } from '../log/scrub.ts';
import { toEvalRequest } from '../pipeline/run/eval-request.ts';
import { lazyGuard } from '../provider/guard/lazy-guard.ts';
import { checkChangedArgs } from '../tool-call/before-execution.ts';
import { toDecisionDocument, toEvalDocument, toHookInfos, toToolInfo } from '../tool-call/document.ts';
import { openLauncher } from '../transport/launch/open.ts';
import { unknownName } from '../yaml/unknown-name.ts';
import type { Runtime, RuntimeOptions } from './api.ts';
import { secretsOf } from './config-secrets.ts';
import { callDirectly } from './direct-call.ts';
import { openHookFiles, textsFolderOf } from './hook-files.ts';
import { lazyPlugins, lazyRunsApi } from './lazy.ts';
import { lazyResults, lazyStore } from './lazy-store.ts';
import { lazySuites } from './lazy-suites.ts';
import { requirePlatform } from './platform.ts';
import { scrubbedStore, scrubEvents, withScrubbedErrors } from './scrubbed-boundaries.ts';
import { openServices } from './services.ts';
import { openShadowRecorder } from './shadow-recorder.ts';
import { createWiring, openRuntimeCassette, resolveEntries } from './wiring.ts';

export type { CassetteOptions } from '../cassette/cassette.ts';
export { parseDuration } from '../config/duration.ts';
export type { EventInput as LooseEvent } from '../hooks/event-input.ts';
export type { PointEvent } from '../hooks/fire-point.ts';
export type { EvalInput } from '../pipeline/run/eval-request.ts';
export type { RunOptions } from '../pipeline/run/runs.ts';
export { type FoundState, findResults, findStates } from '../project/find-state.ts';
export type { HooksImport } from '../project/import-hooks.ts';
export { writeTemplate } from '../project/init-template.ts';
export type { PlannedRow, SuitePlan } from '../project/plan-suite.ts';
export type { SuiteProgress } from '../suite/file/model.ts';
export { formatDuration, formatPercent } from '../suite/report/numbers.ts';
export type { Reporter, Sink } from '../suite/report/reporter.ts';
export type { Progress } from '../suite/report/terminal/progress.ts';
export type { CaseRecord, RunHeader, RunSource, SuiteReport } from '../suite/run/record.ts';
export type { Selection } from '../suite/select/select.ts';
export type { DecisionInput as Decider } from '../tool-call/decider.ts';
export { formatProblem, problemsOf } from '../yaml/problem.ts';
export type * from './api.ts';

/** Imports the module that validates files of every kind, on first use. */
export const loadChecker = async () => await import('../project/validate-file.ts');

/** Imports the module for results of suites (reporters, comparisons), on first use. */
export const loadResults = async () => await import('../suite/run/results.ts');

/** Imports the module that lists the cases of a suite without running them, on first use. */
export const loadPlan = async () => await import('../project/plan-suite.ts');

/** Imports the module that converts hooks of other systems into config entries, on first use. */
export const loadImporter = async () => await import('../project/import-hooks.ts');

/**
 * Opens a RuntimeConfig file. Starts only servers with `warm: true`, and plugins that describe themselves.
 * Throws CONFIG_INVALID, FILE_UNREADABLE, PLATFORM_UNSUPPORTED.
 */
export async function openRuntime(file: string | URL, options: RuntimeOptions = {}): Promise<Runtime> {
  requirePlatform();
  const host = options.env ?? hostEnv();
  // In the background: folders of killed processes must not delay the start.
  void sweepTempFolders();
  const path = toPath(file);
  const searchPath = host['PATH'] ?? '';
  const { config: declared = requireConfig(path, searchPath), problems } = loadConfig(path, searchPath);
  const { concurrency = declared.concurrency } = options;
  const launch = await openLauncher(options.launcher ?? 'auto');
  const earlyEvents: RuntimeEvent[] = [];
  const scrubber = createScrubber(secretsOf(declared, host));
  const config = await lazyPlugins(
    {
      ...declared,
      ...(concurrency !== undefined && { concurrency }),
      ...(options.logLevel && { logging: { ...declared.logging, level: options.logLevel } }),
    },
    host,
    { launch, scrubber, emit: (event) => earlyEvents.push(event) },
    options.signal,
  );
  const entries = resolveEntries(config, host);
  scrubber.add(entries.all.flatMap(({ binding }) => binding.secrets));
  const log = await openEmit(config, scrubber, options);
  const results = lazyResults(config.stateStore);
  const shadowRecorder = openShadowRecorder(config, results.open, log);
  const emit = scrubEvents((event) => {
    log(event);
    shadowRecorder.listen(event);
  }, scrubber);
  for (const event of earlyEvents) emit(event);
  for (const { file: directCall, line, column, severity, message } of problems) {
    const level = severity === 'warning' ? 'warn' : 'debug';
    emit({ type: 'note', name: `${directCall}:${line}:${column}`, level, message });
  }
  const cassette =
    options.cassette &&
    (await openRuntimeCassette(options.cassette, {
      config,
      all: entries.all,
      emit,
      redact: scrubber.storedText,
    }));
  const hookFiles = openHookFiles({
    report: (message) => emit({ type: 'note', name: config.name, level: 'warn', message }),
    aliasesOf: (tool) => config.tools.find(({ name }) => name === tool)?.aliases,
    textsFolder: textsFolderOf(config.stateStore),
  });
  const { prepare, writeLongText } = hookFiles;
  const closingController = new AbortController();
  const context = {
    launch,
    emit,
    scrubber,
    cassette,
    prepare,
    writeLongText,
    closing: closingController.signal,
  };
  const wiring = createWiring(config, context, options.signal);
  for (const { binding, missingEnv } of entries.all) {
    for (const name of missingEnv) {
      emit({
        type: 'note',
        name: binding.name,
        level: 'warn',
        message: `the environment has no ${name}; it is left out`,
      });
    }
  }
  const foreignLinks =
    entries.foreign.length === 0
      ? []
      : await (await import('./foreign-links.ts')).openForeignLinks(entries.foreign, wiring.foreignWiring);
  const links = wiring.links(entries, foreignLinks);
  const groups = links.flatMap((link) => ('group' in link ? [link.group] : []));
  const tools = new Map(
    entries.tools.map((entry) => [
      entry.config.name,
      wiring.callableTool(entry.config, entry.resolved, links),
    ]),
  );
  const evals = new Map(
    entries.evals.map(({ config: { name }, resolved }) => [name, wiring.evalPort(resolved)]),
  );
  const find = (name: string) => tools.get(name);
  let closing: Promise<void> | undefined;
  const requireOpen = () => {
    if (closing !== undefined) throw new RuntimeError('RUNTIME_CLOSED', 'the runtime is closed');
  };
  const { record = options.cassette?.record, replay = options.cassette?.replay } = options;
  const services = openServices({
    config,
    tools,
    evals,
    links,
    emit,
    env: host,
    record,
    replay,
    cassette,
    scrubber,
    requireOpen,
  });
  const store = scrubbedStore(lazyStore(config.stateStore), scrubber);
  const checkArgs = (changed: HookEvent) =>
    changed.phase === 'before_execution'
      ? checkChangedArgs(tools.get(changed.request.name), changed)
      : undefined;
  const { suspendRuns, ...runsApi } = lazyRunsApi({ config, store, services, requireOpen });
  const suites = lazySuites({
    config,
    links,
    check: checkArgs,
    services,
    env: host,
    replay,
    scrubber,
    results: results.open,
    isRecording: record !== undefined,
    misses: () => cassette?.misses() ?? 0,
    concurrency: wiring.concurrency,
    window: 4 * wiring.concurrency,
    requireOpen,
  });
  const close = async () => {
    await suspendRuns();
    await Promise.all([...wiring.observerQueues, ...groups].map((each) => each.close()));
    closingController.abort();
    await Promise.all(wiring.transports.map((transport) => transport.close()));
    await shadowRecorder.close();
    hookFiles.close();
    await Promise.all([services.close(), store.close(), results.close(), cassette?.close()]);
  };
  const isDurable = config.stateStore.type !== 'memory';
  const scrubbedMethod = <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
    withScrubbedErrors(work, scrubber);
  const runtime: Runtime = {
    file: config.file,
    name: config.name,
    isDurable,
    logFormat: config.logging.format,
    ...runsApi,
    tools: {
      list: () => config.tools.map(toToolInfo),
      call: scrubbedMethod(async (name, args, callOptions = {}) => {
        requireOpen();
        const tool = tools.get(name) ?? unknownName('tool', String(name), tools.keys());
        const directCall = { tool, store, config: resolve(config.file), emit, isDurable, find };
        return await withoutOverflow(() => callDirectly(directCall, args, callOptions));
      }),
    },
    evals: {
      list: () => [...evals.keys()],
      call: scrubbedMethod(async (type, input, { id = type, threshold, signal = neverAborted } = {}) => {
        requireOpen();
        return await withoutOverflow(async () => {
          const request = toEvalRequest(type, input);
          // Wrong params are a usage error of a direct call only; in suites and pipelines they may depend on
          // the case.
          if (!evals.has(type)) (await import('../checks/all.ts')).requireParams(request);
          const { outcome, passed } = await services.score({ id, type, request, threshold, signal });
          return toEvalDocument(outcome, passed);
        });
      }),
      ...suites,
    },
    hooks: {
      list: () => toHookInfos(config),
      fire: scrubbedMethod(async (loose, { signal, onHear } = {}) => {
        requireOpen();
        const call = `event_${randomUUID()}`;
        return await withoutOverflow(async () => {
          if (isPointEvent(loose)) {
            const host = { tool_count: tools.size };
            const { fireForeignPoint } = await import('./foreign-point.ts');
            return toDecisionDocument(await fireForeignPoint(loose, { groups, call, signal, host, onHear }));
          }
          const passage = { call, signal, check: checkArgs, onHear };
          const { decision } = await passGate(links, readEvent(loose), passage);
          return toDecisionDocument(decision);
        });
      }),
    },
    providers: { list: () => config.providers.map(({ id, type, model }) => ({ id, type, model })) },
    guard: ({ providerId, stream = 'hold', window } = {}) => {
      requireOpen();
      return lazyGuard({ fire: services.fire, stream, providerId, windowChars: window });
    },
    close: () => {
      closing ??= close();
      return closing;
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
  return runtime;
}

/** A caller without types may hand in anything. */
function isPointEvent(loose: EventInput | PointEvent): loose is PointEvent {
  return isObject(loose) && 'dialect' in loose;
}

/** The default signal, which is never aborted. */
const neverAborted = new AbortController().signal;

function toPath(file: string | URL): string {
  return file instanceof URL ? fileURLToPath(file) : file;
}

async function openEmit(
  config: RuntimeConfig,
  scrubber: RuntimeScrubber,
  options: RuntimeOptions,
): Promise<Emit> {
  const listeners = options.onEvent === undefined ? [] : [options.onEvent];
  if (options.log !== false) {
    const { openLog } = await import('../log/log.ts');
    const { fd = 2, write, isTerminal = process.stderr.isTTY } = options.log ?? {};
    const { hasColour = isTerminal && (hostEnv()['NO_COLOR'] ?? '') === '' } = options.log ?? {};
    const logging = { ...config.logging, ...(options.logLevel && { level: options.logLevel }) };
    const target = { fd, ...(write && { write }), isTerminal, hasColour };
    listeners.push(openLog({ logging, name: config.name, scrubber, target }));
  }
  return (event) => {
    for (const listener of listeners) notifyListener(listener, event);
  };
}

/** Calls a listener; an error that it throws becomes a process warning. */
function notifyListener(listener: Emit, event: RuntimeEvent): void {
  try {
    listener(event);
  } catch (error) {
    process.emitWarning(`a listener of Signalbox threw: ${toRuntimeError(error).message}`);
  }
}
