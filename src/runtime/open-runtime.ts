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
import type { LooseEvent } from '../hooks/event.ts';
import { readEvent } from '../hooks/event.ts';
import type { PointEvent } from '../hooks/fire-point.ts';
import { passGate } from '../hooks/gate.ts';
import { isObject } from '../json/json.ts';
import { createScrubber, type OwnScrubber } from '../log/scrub.ts';
import { toEvalRequest } from '../pipeline/run/score.ts';
import { foreignChecks as checks } from '../project/foreign-checks.ts';
import { lazyGuard } from '../provider/guard/lazy-guard.ts';
import { checkChangedArgs } from '../tool-call/before.ts';
import { toDecisionDocument, toEvalDocument, toHookInfos, toToolInfo } from '../tool-call/document.ts';
import { openLaunch } from '../transport/launch/open.ts';
import { unknownName } from '../yaml/unknown-name.ts';
import type { Runtime, RuntimeOptions } from './api.ts';
import { openTape, openWorkshop, resolveEntries } from './assemble.ts';
import { callAlone } from './direct-call.ts';
import { openScribe, textsBeside } from './hook-files.ts';
import { lazyDurable, lazyPlugins } from './lazy.ts';
import { lazyResults, lazyStore } from './lazy-store.ts';
import { lazySuites } from './lazy-suites.ts';
import { requirePlatform } from './platform.ts';
import { scrubbed, scrubbedStore, scrubEvents } from './scrub-doors.ts';
import { secretsOf } from './secrets-of.ts';
import { openEquipment } from './services.ts';
import { openShadowBook } from './shadow-recorder.ts';

export type { CassetteOptions } from '../cassette/cassette.ts';
export { parseDuration } from '../config/duration.ts';
export type { LooseEvent } from '../hooks/event.ts';
export type { PointEvent } from '../hooks/fire-point.ts';
export type { RunOptions } from '../pipeline/run/runs.ts';
export type { EvalInput } from '../pipeline/run/score.ts';
export { type FoundState, findResults, findStates } from '../project/find-state.ts';
export type { HooksImport } from '../project/import-hooks.ts';
export { writeTemplate } from '../project/init.ts';
export type { PlannedRow, SuitePlan } from '../project/plan-suite.ts';
export type { SuiteProgress } from '../suite/file/model.ts';
export { formatDuration, formatPercent } from '../suite/report/numbers.ts';
export type { Reporter, Sink } from '../suite/report/reporter.ts';
export type { Progress } from '../suite/report/terminal/progress.ts';
export type { CaseRecord, RunHeader, RunSource, SuiteReport } from '../suite/run/record.ts';
export type { Selection } from '../suite/select/select.ts';
export type { Decider } from '../tool-call/decider.ts';
export { formatProblem, problemsOf } from '../yaml/problem.ts';
export type * from './api.ts';

/** What reads and checks files of every kind. Read from disk when it is first asked for. */
export const loadChecker = async () => await import('../project/validate-file.ts');

/** What is done with the results of suites: reporters, comparisons. Read from disk when it is first asked for. */
export const loadResults = async () => await import('../suite/run/results.ts');

/** Which cases a suite has, before any of them runs. Read from disk when it is first asked for. */
export const loadPlan = async () => await import('../project/plan-suite.ts');

/** What turns hooks of other systems into entries of a config. Read from disk when it is first asked for. */
export const loadImporter = async () => await import('../project/import-hooks.ts');

/**
 * Opens a RuntimeConfig file. Starts no process, but servers with `warm: true`, and chibi plugins to ask them what they
 * are. Throws CONFIG_INVALID, FILE_UNREADABLE, PLATFORM_UNSUPPORTED.
 */
export async function openRuntime(file: string | URL, options: RuntimeOptions = {}): Promise<Runtime> {
  requirePlatform();
  const host = options.env ?? hostEnv();
  // Beside all else: what a killed process left must not delay this one.
  void sweepTempFolders();
  const path = toPath(file);
  const searchPath = host['PATH'] ?? '';
  const { config: declared = requireConfig(path, searchPath, checks), problems } = loadConfig(
    path,
    searchPath,
    checks,
  );
  const { concurrency = declared.concurrency } = options;
  const launch = await openLaunch(options.launcher ?? 'auto');
  const early: RuntimeEvent[] = [];
  const scrubber = createScrubber(secretsOf(declared, host));
  const config = await lazyPlugins(
    {
      ...declared,
      ...(concurrency !== undefined && { concurrency }),
      ...(options.logLevel && { logging: { ...declared.logging, level: options.logLevel } }),
    },
    host,
    { launch, scrubber, emit: (event) => early.push(event) },
    options.signal,
  );
  const entries = resolveEntries(config, host);
  scrubber.add(entries.all.flatMap(({ binding }) => binding.secrets));
  const log = await openEmit(config, scrubber, options);
  const results = lazyResults(config.stateStore);
  const shadows = openShadowBook(config, results.open, log);
  const emit = scrubEvents((event) => {
    log(event);
    shadows.listen(event);
  }, scrubber);
  for (const event of early) emit(event);
  for (const { file: place, line, column, severity, message } of problems) {
    const level = severity === 'warning' ? 'warn' : 'debug';
    emit({ type: 'note', name: `${place}:${line}:${column}`, level, message });
  }
  const cassette =
    options.cassette &&
    (await openTape(options.cassette, { config, all: entries.all, emit, redact: scrubber.kept }));
  const scribe = openScribe({
    tell: (message) => emit({ type: 'note', name: config.name, level: 'warn', message }),
    aliasesOf: (tool) => config.tools.find(({ name }) => name === tool)?.aliases,
    kept: textsBeside(config.stateStore),
  });
  const { prepare, spill } = scribe;
  const leaving = new AbortController();
  const context = { launch, emit, scrubber, cassette, prepare, spill, leaving: leaving.signal };
  const workshop = openWorkshop(config, context, options.signal);
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
  const strangers =
    entries.foreign.length === 0
      ? []
      : (await import('./foreign-links.ts')).openForeignLinks(entries.foreign, workshop.yard);
  const links = workshop.links(entries, strangers);
  const groups = links.flatMap((link) => ('group' in link ? [link.group] : []));
  const tools = new Map(
    entries.tools.map((entry) => [entry.config.name, workshop.tool(entry.config, entry.resolved, links)]),
  );
  const evals = new Map(
    entries.evals.map(({ config: { name }, resolved }) => [name, workshop.evaluation(resolved)]),
  );
  const find = (name: string) => tools.get(name);
  let closing: Promise<void> | undefined;
  const requireOpen = () => {
    if (closing !== undefined) throw new RuntimeError('RUNTIME_CLOSED', 'the runtime is closed');
  };
  const { record = options.cassette?.record, replay = options.cassette?.replay } = options;
  const equipment = openEquipment({
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
  const { setDown, ...durable } = lazyDurable({ config, store, equipment, requireOpen });
  const suites = lazySuites({
    config,
    links,
    check: checkArgs,
    equipment,
    env: host,
    replay,
    scrubber,
    results: results.open,
    isRecording: record !== undefined,
    misses: () => cassette?.misses() ?? 0,
    concurrency: workshop.concurrency,
    window: 4 * workshop.concurrency,
    requireOpen,
  });
  const close = async () => {
    await setDown();
    await Promise.all([...workshop.followers, ...groups].map((each) => each.close()));
    leaving.abort();
    await Promise.all(workshop.transports.map((transport) => transport.close()));
    await shadows.close();
    scribe.close();
    await Promise.all([equipment.close(), store.close(), results.close(), cassette?.close()]);
  };
  const isDurable = config.stateStore.type !== 'memory';
  const door = <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
    scrubbed(work, scrubber);
  const runtime: Runtime = {
    file: config.file,
    name: config.name,
    isDurable,
    logFormat: config.logging.format,
    ...durable,
    tools: {
      list: () => config.tools.map(toToolInfo),
      call: door(async (name, args, callOptions = {}) => {
        requireOpen();
        const tool = tools.get(name) ?? unknownName('tool', String(name), tools.keys());
        const place = { tool, store, config: resolve(config.file), emit, isDurable, find };
        return await withoutOverflow(() => callAlone(place, args, callOptions));
      }),
    },
    evals: {
      list: () => [...evals.keys()],
      call: door(async (type, input, { id = type, threshold, signal = never } = {}) => {
        requireOpen();
        return await withoutOverflow(async () => {
          const request = toEvalRequest(type, input);
          // In a direct call they are the caller's; in suites and pipelines they may be those of one case.
          if (!evals.has(type)) (await import('../checks/all.ts')).requireParams(request);
          const { outcome, passed } = await equipment.score({ id, type, request, threshold, signal });
          return toEvalDocument(outcome, passed);
        });
      }),
      ...suites,
    },
    hooks: {
      list: () => toHookInfos(config),
      fire: door(async (loose, { signal, onHear } = {}) => {
        requireOpen();
        const call = `event_${randomUUID()}`;
        return await withoutOverflow(async () => {
          if (isPointEvent(loose)) {
            const host = { tool_count: tools.size };
            const { fireForeign } = await import('./fire-foreign.ts');
            return toDecisionDocument(await fireForeign(loose, { groups, call, signal, host, onHear }));
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
      return lazyGuard({ fire: equipment.fire, stream, providerId, windowChars: window });
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
function isPointEvent(loose: LooseEvent | PointEvent): loose is PointEvent {
  return isObject(loose) && 'dialect' in loose;
}

/** For those who never give up. */
const never = new AbortController().signal;

function toPath(file: string | URL): string {
  return file instanceof URL ? fileURLToPath(file) : file;
}

async function openEmit(
  config: RuntimeConfig,
  scrubber: OwnScrubber,
  options: RuntimeOptions,
): Promise<Emit> {
  const listeners = options.onEvent === undefined ? [] : [options.onEvent];
  if (options.log !== false) {
    const { openLog } = await import('../log/log.ts');
    const { fd = 2, isTerminal = process.stderr.isTTY } = options.log ?? {};
    const { hasColour = isTerminal && (hostEnv()['NO_COLOR'] ?? '') === '' } = options.log ?? {};
    const logging = { ...config.logging, ...(options.logLevel && { level: options.logLevel }) };
    listeners.push(openLog({ logging, name: config.name, scrubber, target: { fd, isTerminal, hasColour } }));
  }
  return (event) => {
    for (const listener of listeners) tell(listener, event);
  };
}

/** What a listener throws must not reach the process that is being watched. */
function tell(listener: Emit, event: RuntimeEvent): void {
  try {
    listener(event);
  } catch (error) {
    process.emitWarning(`a listener of Signalbox threw: ${toRuntimeError(error).message}`);
  }
}
