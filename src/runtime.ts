import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type HostEnv, hostEnv } from './binding/env.ts';
import { type Resolved, resolveExec, resolveHook } from './binding/resolve.ts';
import { runEval } from './capability/eval.ts';
import { type Follower, openObserver, openShadow } from './capability/follower.ts';
import type { Port } from './capability/invoke.ts';
import { meetsThreshold } from './capability/threshold.ts';
import type { HookConfig, LoggingConfig, RuntimeConfig, ToolConfig } from './config/config.ts';
import { requireConfig } from './config/load.ts';
import { suggest } from './config/suggest.ts';
import type { DecisionDocument, EvalDocument, HookInfo, ToolDocument, ToolInfo } from './contract/document.ts';
import type { EvalRequest, Threshold } from './contract/eval.ts';
import type { Emit, RuntimeEvent } from './contract/event.ts';
import type { HookEvent } from './contract/hook.ts';
import { RuntimeError } from './errors.ts';
import { type LogTarget, openLog } from './log/log.ts';
import { type CallableTool, type CallOptions, callTool, checkChangedArgs } from './pipeline/call.ts';
import { toDecisionDocument, toEvalDocument, toHookInfo, toToolDocument, toToolInfo } from './pipeline/document.ts';
import { type LooseEvent, readEvent } from './pipeline/event.ts';
import { type Link, passGate } from './pipeline/gate.ts';
import { type EvalInput, toEvalRequest, toScoredEvent } from './pipeline/score.ts';
import { compileSchema } from './pipeline/schema.ts';
import type { Codec } from './protocol/dialect.ts';
import { dialects } from './protocol/registry.ts';
import { requireSuite } from './suite/load.ts';
import type { SuiteProgress, SuiteReport, SuiteResult } from './suite/model.ts';
import { runSuite } from './suite/suite.ts';
import { type LauncherName, openLaunch } from './transport/launch/open.ts';
import { openTransport } from './transport/open.ts';
import { createPool } from './transport/pool.ts';
import type { Transport } from './transport/transport.ts';

export { runtimeOfSuite, validateFile } from './check-file.ts';
export { formatProblem } from './config/problem.ts';
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
    /** Throws NAME_UNKNOWN, RUNTIME_CLOSED. */
    call(type: string, input: EvalInput, options?: EvalOptions): Promise<EvalDocument>;
    /** Runs an EvalSuite file on this runtime. Throws CONFIG_INVALID, FILE_UNREADABLE, ABORTED. */
    run(suite: string | URL, options?: SuiteRunOptions): Promise<SuiteReport>;
  };
  readonly hooks: {
    list(): HookInfo[];
    /** Takes an event through its whole chain. Throws EVENT_INVALID, RUNTIME_CLOSED. */
    fire(event: LooseEvent, options?: { readonly signal?: AbortSignal | undefined }): Promise<DecisionDocument>;
  };
  /** Waits for observers, then ends every process. Never rejects. */
  close(): Promise<void>;
}

/** Opens a RuntimeConfig file. Starts no process, but servers with `warm: true`. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export async function openRuntime(file: string | URL, options: RuntimeOptions = {}): Promise<Runtime> {
  const host = options.env ?? hostEnv();
  const config = requireConfig(toPath(file), host['PATH'] ?? '');
  const entries = resolveEntries(config, host);
  const emit = openEmit(config, entries, options);
  const workshop = openWorkshop(config, emit, options);
  for (const { binding, missingEnv } of entries.all) {
    for (const name of missingEnv) {
      emit({ type: 'note', name: binding.name, level: 'warn', message: `the environment has no ${name}; it is left out` });
    }
  }
  const links = entries.hooks.map(({ config: hook, resolved }) => workshop.link(hook, resolved));
  const tools = new Map(entries.tools.map((entry) => [entry.config.name, workshop.tool(entry.config, entry.resolved, links)]));
  const evals = new Map(entries.evals.map(({ config: { name }, resolved }) => [name, workshop.evaluation(resolved)]));
  let closing: Promise<void> | undefined;
  const requireOpen = () => {
    if (closing !== undefined) throw new RuntimeError('RUNTIME_CLOSED', 'the runtime is closed');
  };
  const score = async (type: string, request: EvalRequest, { id, threshold, signal }: EvalOptions) => {
    requireOpen();
    const port = evals.get(type) ?? unknownName('eval', type, evals.keys());
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
        return await runSuite(dataset === undefined ? suite : { ...suite, dataset: { kind: 'file', path: dataset } }, {
          ...listeners,
          window: 4 * workshop.concurrency,
          signal: signal ?? new AbortController().signal,
          score: ({ id, type, threshold, request }, runSignal) => score(type, request, { id, threshold, signal: runSignal }),
        });
      },
    },
    hooks: {
      list: () => config.hooks.map(toHookInfo),
      fire: async (loose, { signal } = {}) => {
        requireOpen();
        const event = readEvent(loose);
        const check = (changed: HookEvent) =>
          changed.phase === 'before_execution' ? checkChangedArgs(tools.get(changed.request.name), changed) : undefined;
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

interface Entry<Config> {
  readonly config: Config;
  readonly resolved: Resolved;
}

function resolveEntries(config: RuntimeConfig, host: HostEnv) {
  const tools = config.tools.map((tool) => ({
    config: tool,
    resolved: tool.exec && resolveExec({ name: tool.name, capability: 'tool', exec: tool.exec }, config, host),
  }));
  const evals: Entry<{ name: string }>[] = config.evals.map((entry) => ({
    config: entry,
    resolved: resolveExec({ name: entry.name, capability: 'eval', exec: entry.exec }, config, host),
  }));
  const hooks: Entry<HookConfig>[] = config.hooks.map((hook) => ({ config: hook, resolved: resolveHook(hook, config, host) }));
  const all = [...tools, ...evals, ...hooks].flatMap(({ resolved }) => (resolved === undefined ? [] : [resolved]));
  return { tools, evals, hooks, all };
}

function openEmit(config: RuntimeConfig, { all }: { readonly all: readonly Resolved[] }, options: RuntimeOptions): Emit {
  const listeners = options.onEvent === undefined ? [] : [options.onEvent];
  if (options.log !== false) {
    const { fd = 2, isTerminal = process.stderr.isTTY } = options.log ?? {};
    const logging = { ...config.logging, ...(options.logLevel && { level: options.logLevel }) };
    const secrets = all.flatMap(({ binding }) => binding.secrets);
    listeners.push(openLog({ logging, name: config.name, secrets, target: { fd, isTerminal } }));
  }
  return (event) => {
    for (const listener of listeners) listener(event);
  };
}

/** Makes ports, links and tools, and keeps what must be closed. */
function openWorkshop(config: RuntimeConfig, emit: Emit, options: RuntimeOptions) {
  const context = { launch: openLaunch(options.launcher ?? 'auto'), emit };
  const concurrency = config.concurrency ?? availableParallelism();
  const callers = createPool(concurrency);
  // A lane of its own, so that what nobody waits for never holds a slot that somebody does.
  const followersLane = createPool(concurrency);
  const transports: Transport[] = [];
  const followers: Follower[] = [];

  const port = <Input, Output>({ binding }: Resolved, codec: Codec<Input, Output>, pool = callers): Port<Input, Output> => {
    const transport = openTransport(binding, context, pool);
    transports.push(transport);
    if (binding.warm) transport.warm();
    return { binding, transport, codec, emit };
  };
  return {
    concurrency,
    transports,
    followers,
    evaluation: (resolved: Resolved) => port(resolved, dialects[resolved.binding.dialect].eval),
    tool: (tool: ToolConfig, resolved: Resolved | undefined, links: readonly Link[]): CallableTool => ({
      name: tool.name,
      port: resolved && port(resolved, dialects[resolved.binding.dialect].tool),
      checkArgs: compileSchema(tool.inputSchema),
      checkResult: compileSchema(tool.outputSchema),
      links,
    }),
    link: ({ name, hook: kind, phases, mode }: HookConfig, resolved: Resolved): Link => {
      const { dialect } = resolved.binding;
      const { hook: codec } = dialects[dialect];
      const place = { name, dialect, kind, phases };
      if (mode === 'filter') return { ...place, listener: { mode, port: { ...port(resolved, codec), mode } } };
      const aside = port(resolved, codec, followersLane);
      const follower = mode === 'shadow' ? openShadow({ ...aside, mode }) : openObserver(aside);
      followers.push(follower);
      return { ...place, listener: { mode, follower } };
    },
  };
}

function unknownName(what: 'tool' | 'eval', name: string, known: Iterable<string>): never {
  throw new RuntimeError('NAME_UNKNOWN', `there is no ${what} "${name}"`, suggest(name, [...known], `${what}s`));
}
