import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openWorkshop, resolveEntries } from './assemble.ts';
import { type HostEnv, hostEnv } from './binding/env.ts';
import type { Resolved } from './binding/resolve.ts';
import { runEval } from './capability/eval.ts';
import { meetsThreshold, requireThreshold } from './capability/threshold.ts';
import type { LoggingConfig, RuntimeConfig } from './config/config.ts';
import { loadConfig, requireConfig } from './config/load.ts';
import { suggest } from './config/suggest.ts';
import type {
  DecisionDocument,
  EvalDocument,
  HookInfo,
  ToolDocument,
  ToolInfo,
} from './contract/document.ts';
import type { EvalRequest, Threshold } from './contract/eval.ts';
import type { Emit, RuntimeEvent } from './contract/event.ts';
import type { HookEvent } from './contract/hook.ts';
import { RuntimeError, toRuntimeError } from './errors.ts';
import { type LogTarget, openLog } from './log/log.ts';
import { type CallOptions, callTool, checkChangedArgs } from './pipeline/call.ts';
import {
  toDecisionDocument,
  toEvalDocument,
  toHookInfo,
  toToolDocument,
  toToolInfo,
} from './pipeline/document.ts';
import { type LooseEvent, readEvent } from './pipeline/event.ts';
import { passGate } from './pipeline/gate.ts';
import { type EvalInput, toEvalRequest, toScoredEvent } from './pipeline/score.ts';
import { requireSuite } from './suite/load.ts';
import type { SuiteProgress, SuiteReport, SuiteResult } from './suite/model.ts';
import { runSuite } from './suite/suite.ts';
import { type LauncherName, openLaunch } from './transport/launch/open.ts';

export { runtimeOfSuite, validateFile } from './check-file.ts';
export { formatProblem, problemsOf } from './config/problem.ts';
export type { CallOptions, Pause } from './pipeline/call.ts';
export type { LooseEvent } from './pipeline/event.ts';
export type { EvalInput } from './pipeline/score.ts';
export type { SuiteProgress, SuiteReport, SuiteResult } from './suite/model.ts';
export { toReportDocument } from './suite/report/json.ts';
export { openProgress } from './suite/report/progress.ts';
export { renderTable } from './suite/report/table.ts';
export { writeTemplate } from './template.ts';

export interface RuntimeOptions {
  /** How processes are started; `auto` takes the fastest way that this machine has. */
  readonly launcher?: LauncherName | undefined;
  /** Where log lines go; `false` for nowhere. Default: stderr. */
  readonly log?: Partial<LogTarget> | false | undefined;
  /** Overrides `spec.logging.defaultLevel`. */
  readonly logLevel?: LoggingConfig['level'] | undefined;
  /** Is told everything that happens, in order. */
  readonly onEvent?: ((event: RuntimeEvent) => void) | undefined;
  /** When aborted, what observers and shadows are still owed is dropped. */
  readonly signal?: AbortSignal | undefined;
  /** The environment that processes are given parts of. Default: this process's own. */
  readonly env?: HostEnv | undefined;
}

export interface EvalOptions {
  readonly signal?: AbortSignal | undefined;
  /** What decides `passed`; without bounds a score of 1.0 passes. */
  readonly threshold?: Threshold | undefined;
  /** The name that eval hooks see; default: the eval's type. */
  readonly id?: string | undefined;
}

export interface SuiteRunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Read instead of the suite's own `dataset.path`. */
  readonly dataset?: string | undefined;
  /** Told after each case; must not throw. */
  readonly onProgress?: (progress: SuiteProgress) => void;
  /** Told in the order in which results come in; must not throw. */
  readonly onResult?: (result: SuiteResult) => void;
}

/** An open runtime: the entries of one config file, ready to be called. Methods throw RuntimeError only. */
export interface Runtime extends AsyncDisposable {
  readonly file: string;
  readonly name: string;
  readonly tools: {
    list(): ToolInfo[];
    /** `args` is an object, or JSON text whose bytes the tool is given. Throws NAME_UNKNOWN, RUNTIME_CLOSED. */
    call(name: string, args?: unknown, options?: CallOptions): Promise<ToolDocument>;
  };
  readonly evals: {
    list(): string[];
    /** Throws NAME_UNKNOWN, USAGE, RUNTIME_CLOSED. */
    call(type: string, input: EvalInput, options?: EvalOptions): Promise<EvalDocument>;
    /** Runs an EvalSuite file on this runtime. Throws CONFIG_INVALID, FILE_UNREADABLE, ABORTED. */
    run(suite: string | URL, options?: SuiteRunOptions): Promise<SuiteReport>;
  };
  readonly hooks: {
    list(): HookInfo[];
    /** Takes an event through its whole chain. Throws EVENT_INVALID, RUNTIME_CLOSED. */
    fire(
      event: LooseEvent,
      options?: { readonly signal?: AbortSignal | undefined },
    ): Promise<DecisionDocument>;
  };
  /** Waits for observers, then ends every process. Never rejects. */
  close(): Promise<void>;
}

/** Opens a RuntimeConfig file. Starts no process, but servers with `warm: true`. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export async function openRuntime(file: string | URL, options: RuntimeOptions = {}): Promise<Runtime> {
  const host = options.env ?? hostEnv();
  const path = toPath(file);
  const searchPath = host['PATH'] ?? '';
  const { config = requireConfig(path, searchPath), problems } = loadConfig(path, searchPath);
  const entries = resolveEntries(config, host);
  const emit = openEmit(config, entries, options);
  for (const { file: place, line, column, severity, message } of problems) {
    const level = severity === 'warning' ? 'warn' : 'debug';
    emit({ type: 'note', name: `${place}:${line}:${column}`, level, message });
  }
  const launch = await openLaunch(options.launcher ?? 'auto');
  const workshop = openWorkshop(config, { launch, emit }, options.signal);
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
  const links = entries.hooks.map(({ config: hook, resolved }) => workshop.link(hook, resolved));
  const tools = new Map(
    entries.tools.map((entry) => [entry.config.name, workshop.tool(entry.config, entry.resolved, links)]),
  );
  const evals = new Map(
    entries.evals.map(({ config: { name }, resolved }) => [name, workshop.evaluation(resolved)]),
  );
  let closing: Promise<void> | undefined;
  const requireOpen = () => {
    if (closing !== undefined) throw new RuntimeError('RUNTIME_CLOSED', 'the runtime is closed');
  };
  const score = async (type: string, request: EvalRequest, { id, threshold, signal }: EvalOptions) => {
    requireOpen();
    const port = evals.get(type) ?? unknownName('eval', type, evals.keys());
    if (threshold !== undefined) requireThreshold(threshold);
    const call = randomUUID();
    const timed = await runEval(port, { input: request, call, signal });
    const passed = meetsThreshold(timed.outcome, threshold);
    void passGate(links, toScoredEvent({ id: id ?? type, request, passed }, timed), { call });
    return { outcome: timed.outcome, passed };
  };
  const close = async () => {
    await Promise.all(workshop.followers.map((follower) => follower.close()));
    await Promise.all(workshop.transports.map((transport) => transport.close()));
  };
  const runtime: Runtime = {
    file: config.file,
    name: config.name,
    tools: {
      list: () => config.tools.map(toToolInfo),
      call: async (name, args, callOptions = {}) => {
        requireOpen();
        const tool = tools.get(name) ?? unknownName('tool', name, tools.keys());
        return toToolDocument(await callTool(tool, args, callOptions));
      },
    },
    evals: {
      list: () => [...evals.keys()],
      call: async (type, input, evalOptions = {}) => {
        const { outcome, passed } = await score(type, toEvalRequest(type, input), evalOptions);
        return toEvalDocument(outcome, passed);
      },
      run: async (file, { signal, dataset, ...listeners } = {}) => {
        requireOpen();
        const suite = requireSuite(toPath(file), [...evals.keys()]);
        return await runSuite(
          dataset === undefined ? suite : { ...suite, dataset: { kind: 'file', path: dataset } },
          {
            ...listeners,
            window: 4 * workshop.concurrency,
            signal: signal ?? new AbortController().signal,
            score: ({ id, type, threshold, request }, runSignal) =>
              score(type, request, { id, threshold, signal: runSignal }),
          },
        );
      },
    },
    hooks: {
      list: () => config.hooks.map(toHookInfo),
      fire: async (loose, { signal } = {}) => {
        requireOpen();
        const event = readEvent(loose);
        const check = (changed: HookEvent) =>
          changed.phase === 'before_execution'
            ? checkChangedArgs(tools.get(changed.request.name), changed)
            : undefined;
        const { decision } = await passGate(links, event, { call: randomUUID(), signal, check });
        return toDecisionDocument(decision);
      },
    },
    close: () => {
      closing ??= close();
      return closing;
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
  return runtime;
}

function toPath(file: string | URL): string {
  return file instanceof URL ? fileURLToPath(file) : file;
}

function openEmit(
  config: RuntimeConfig,
  { all }: { readonly all: readonly Resolved[] },
  options: RuntimeOptions,
): Emit {
  const listeners = options.onEvent === undefined ? [] : [options.onEvent];
  if (options.log !== false) {
    const { fd = 2, isTerminal = process.stderr.isTTY } = options.log ?? {};
    const { hasColour = isTerminal && (hostEnv()['NO_COLOR'] ?? '') === '' } = options.log ?? {};
    const logging = { ...config.logging, ...(options.logLevel && { level: options.logLevel }) };
    const secrets = all.flatMap(({ binding }) => binding.secrets);
    listeners.push(openLog({ logging, name: config.name, secrets, target: { fd, isTerminal, hasColour } }));
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

function unknownName(what: 'tool' | 'eval', name: string, known: Iterable<string>): never {
  throw new RuntimeError(
    'NAME_UNKNOWN',
    `there is no ${what} "${name}"`,
    suggest(name, [...known], `${what}s`),
  );
}
