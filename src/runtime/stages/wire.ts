import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { followLinks } from '../../base/files/paths.ts';
import { isObject, type Json } from '../../base/json/json.ts';
import { compileSchema } from '../../base/yaml/schema-check.ts';
import { openEvalBatches } from '../../calls/capability/eval.ts';
import type { Port } from '../../calls/capability/invoke.ts';
import type { Link, NativeLink } from '../../calls/hooks/gate.ts';
import type { GroupContext } from '../../calls/hooks/group.ts';
import { compileMatch } from '../../calls/hooks/match.ts';
import { type ObserverQueue, openObserver, openShadow } from '../../calls/hooks/observer-queue.ts';
import { indexNames } from '../../calls/tool-call/agent-tool.ts';
import { compileApproval, compileApprovals } from '../../calls/tool-call/approvals.ts';
import { checkChangedArgs } from '../../calls/tool-call/before-execution.ts';
import type { HookConfig, RuntimeConfig, ToolConfig } from '../../config/config.ts';
import type { KeepCall } from '../../contract/decision.ts';
import type { EvalOutcome, EvalRequest } from '../../contract/eval.ts';
import type { Emit } from '../../contract/event.ts';
import type { HookEvent } from '../../contract/hook.ts';
import type { Codec } from '../../dialects/dialect.ts';
import { pathArgumentOf } from '../../dialects/payload-table.ts';
import { requireNative, requireToolCodec, toolDialectOf } from '../../dialects/registry.ts';
import type { OfferedTool } from '../../pipelines/state/run-context.ts';
import type { Cassette } from '../../process/cassette/cassette.ts';
import { InFlightBytes } from '../../process/in-flight-bytes.ts';
import { openTransport } from '../../process/open.ts';
import { createPool } from '../../process/pool.ts';
import type { ProcessContext } from '../../process/process.ts';
import type { Transport } from '../../process/transport.ts';
import type { RuntimeOptions } from '../api.ts';
import type { ResolvedEntry } from '../binding/resolve.ts';
import type { PlacedLink, WrapOptions } from '../foreign-links.ts';
import { openHookFiles, textsFolderOf } from '../hook-files.ts';
import type { LazyStore } from '../lazy-store.ts';
import { openServices } from '../services.ts';
import type { LoadedRuntime } from './load.ts';
import type { Rates } from './rates.ts';
import type { Entries } from './resolve.ts';

export type WiredRuntime = Awaited<ReturnType<typeof wireRuntime>>;

interface WireContext {
  readonly emit: Emit;
  readonly closed: AbortSignal;
  readonly options: RuntimeOptions;
  readonly rates: Rates;
  readonly keepCall?: KeepCall | undefined;
  readonly cassette?: Cassette | undefined;
  readonly store: LazyStore;
}

/** Source: the default of `in_flight_mb` in the schema. */
const IN_FLIGHT_MB = 256;

export async function wireRuntime(
  loaded: LoadedRuntime,
  entries: Entries,
  { emit, closed, options, rates, keepCall, cassette: given, store }: WireContext,
) {
  const { config, host, launch, scrubber } = loaded;
  const cassette = given ?? (await openRuntimeCassette(loaded, entries, { emit, options }));
  const hookFiles = openHookFiles({
    report: (message) => emit({ type: 'note', name: config.name, level: 'warn', message }),
    aliasesOf: (tool) => config.tools.find(({ name }) => name === tool)?.aliases,
    textsFolder: textsFolderOf(config.stateStore),
  });
  const { prepare, writeLongText } = hookFiles;
  const closing = new AbortController();
  const inFlight = new InFlightBytes((config.inFlightMb ?? IN_FLIGHT_MB) * 2 ** 20);
  const context = {
    ...{ launch, emit, scrubber, cassette, inFlight },
    ...{ prepare, writeLongText, closing: closing.signal },
  };
  const wiring = createWiring(config, context, options.signal);
  noteMissingEnv(entries, emit);
  const links = wiring.links(entries, await foreignLinksOf(entries, wiring));
  const groups = links.flatMap((link) => ('group' in link ? [link.group] : []));
  const ownTools = new Map(
    entries.tools.map(({ config: tool, resolved }) => [
      tool.name,
      wiring.callableTool(tool, resolved, links),
    ]),
  );
  const { approvalsOf, callPool: pool } = wiring;
  const upstreams =
    config.mcpServers &&
    (await import('../upstream-tools.ts')).openUpstreamTools(config.mcpServers, {
      ...context,
      ...{ config, host, links, approvalsOf, pool, declared: ownTools, openStore: store.open },
    });
  const { tools, byName } = upstreams ?? { tools: ownTools, byName: indexNames(ownTools) };
  const prepareTools =
    upstreams && (async (names: readonly string[]) => void (await Promise.all(names.map(upstreams.prepare))));
  const evals = new Map(
    entries.evals.map(({ config: { name }, resolved }) => [name, wiring.evalPort(resolved)]),
  );
  // Recordings match whole requests, and batches differ from run to run.
  const batchSizeOf = (batch = 1) => (cassette === undefined ? batch : 1);
  const batches = new Map(
    entries.evals.flatMap(({ config: { name, batch = 1 }, resolved }) => {
      const port = evals.get(name);
      const isBatched = batch > 1 && port !== undefined;
      return isBatched ? [[name, wiring.evalBatches(port, resolved, batchSizeOf(batch))] as const] : [];
    }),
  );
  const { record = options.cassette?.record, replay = options.cassette?.replay } = options;
  const services = openServices({
    ...{ config, tools, prepareTools, evals, batches, links, emit, env: host },
    ...{ record, replay, cassette, scrubber, rates, keepCall, requireOpen: () => closed.throwIfAborted() },
  });
  const checkArgs = (changed: HookEvent) =>
    changed.phase === 'before_execution'
      ? checkChangedArgs(tools.get(changed.request.name), changed)
      : undefined;
  const declared = {
    tools,
    byName,
    approvalsOf,
    hasApprovals: config.approvals !== undefined,
  };
  return {
    ...{ links, groups, tools, upstreams, declared, evals, services, cassette, checkArgs },
    ...{ isRecording: record !== undefined, replay, concurrency: wiring.concurrency },
    batchSizeOf: (type: string) => batchSizeOf(config.evals.find(({ name }) => name === type)?.batch),
    close: async () => {
      await Promise.all([...wiring.observerQueues, ...groups].map((each) => each.close()));
      closing.abort();
      await upstreams?.close();
      await Promise.all(wiring.transports.map((transport) => transport.close()));
      hookFiles.close();
    },
  };
}

async function openRuntimeCassette(
  { config, scrubber }: LoadedRuntime,
  { all }: Entries,
  { emit, options }: Pick<WireContext, 'emit' | 'options'>,
): Promise<Cassette | undefined> {
  if (options.cassette === undefined) return undefined;
  const { openCassette } = await import('../../process/cassette/cassette.ts');
  const names = [...all.map(({ binding }) => binding.name), ...config.providers.map(({ id }) => id)];
  return await openCassette(options.cassette, { names, redact: scrubber.storedText, emit });
}

function noteMissingEnv({ all }: Entries, emit: Emit): void {
  for (const { binding, missingEnv } of all) {
    for (const name of missingEnv) {
      const message = `the environment has no ${name}; it is left out`;
      emit({ type: 'note', name: binding.name, level: 'warn', message });
    }
  }
}

async function foreignLinksOf(
  { foreign }: Entries,
  { foreignWiring }: Pick<ReturnType<typeof createWiring>, 'foreignWiring'>,
) {
  if (foreign.length === 0) return [];
  return await (await import('../foreign-links.ts')).openForeignLinks(foreign, foreignWiring);
}

interface WiringContext extends ProcessContext, Pick<GroupContext, 'prepare' | 'writeLongText' | 'closing'> {
  readonly cassette: Cassette | undefined;
}

export function createWiring(config: RuntimeConfig, context: WiringContext, stop: AbortSignal | undefined) {
  const { emit } = context;
  const concurrency = config.concurrency ?? availableParallelism();
  const callPool = createPool(concurrency);
  // Observers and shadows have their own pool, so they never take a slot from an awaited call.
  const observerPool = createPool(concurrency);
  const transports: Transport[] = [];
  const observerQueues: ObserverQueue[] = [];

  const wrap = (
    { binding }: Pick<ResolvedEntry, 'binding'>,
    { pool = callPool, isNotifyOnly = false, handshake }: WrapOptions = {},
  ): Transport => {
    const open = () => openTransport(binding, context, pool, handshake);
    const transport = context.cassette?.wrap(binding, open, isNotifyOnly) ?? open();
    transports.push(transport);
    return transport;
  };
  const port = <Input, Output extends object>(
    { binding }: ResolvedEntry,
    codec: Codec<Input, Output>,
    options: WrapOptions = {},
  ): Port<Input, Output> => {
    const transport = wrap({ binding }, options);
    if (binding.warm) transport.warm();
    return { binding, transport, codec, emit, scrubber: context.scrubber };
  };
  const native = (
    { name, hook: kind, phases, mode, modifies, match }: HookConfig,
    resolved: ResolvedEntry,
  ): NativeLink => {
    const { dialect } = resolved.binding;
    const { hook: codec } = requireNative(dialect);
    const place = { name, dialect, kind, phases, matches: match && compileMatch(match) };
    if (mode === 'filter')
      return { ...place, listener: { mode, port: { ...port(resolved, codec), mode, modifies } } };
    const backgroundPort = port(resolved, codec, { pool: observerPool, isNotifyOnly: mode === 'observe' });
    if (mode === 'observe') {
      const queue = openObserver(backgroundPort, stop);
      observerQueues.push(queue);
      return { ...place, listener: { mode, follower: queue } };
    }
    const shadow = { ...backgroundPort, mode, modifies };
    const queue = openShadow(shadow, stop);
    observerQueues.push(queue);
    return { ...place, listener: { mode, follower: queue, port: shadow } };
  };
  const approvalsOf = compileApprovals(config.approvals);
  return {
    concurrency,
    callPool,
    approvalsOf,
    transports,
    observerQueues: observerQueues,
    evalPort: (resolved: ResolvedEntry) => port(resolved, requireNative(resolved.binding.dialect).eval),
    evalBatches: (single: Port<EvalRequest, EvalOutcome>, { binding }: ResolvedEntry, size: number) =>
      openEvalBatches(
        { ...single, codec: requireNative(binding.dialect).evalBatch },
        { size, slots: Math.min(concurrency, binding.concurrency) },
      ),
    callableTool: (
      tool: ToolConfig,
      resolved: ResolvedEntry | undefined,
      links: readonly Link[],
    ): OfferedTool => ({
      name: tool.name,
      port: resolved && port(resolved, requireToolCodec(resolved.binding.dialect)),
      checkArgs: compileSchema(tool.inputSchema),
      checkResult: compileSchema(tool.outputSchema),
      isContent: tool.mcp?.result === 'content',
      links,
      approval: approvalsOf(
        [tool.name, ...(tool.aliases ?? [])],
        tool.approval && compileApproval(tool.name, tool.approval),
      ),
      idempotent: tool.idempotent,
      category: tool.category,
      aliases: tool.aliases,
      isExclusive: tool.isExclusive,
      isDirect: directArgsOf(tool),
      findPath: tool.category === 'fs_read' ? (args) => findPath(config.folder, args) : undefined,
      flow: tool.flow,
      description: tool.description,
      inputSchema: tool.inputSchema,
    }),
    foreignWiring: { ...context, stop, wrap, callPool: callPool, observerPool: observerPool, transports },
    links: ({ hooks }: Pick<Entries, 'hooks'>, foreignLinks: readonly PlacedLink[]): Link[] => {
      const nativeLinks = hooks.map(({ config: hook, resolved }) => ({
        place: hook.fileIndex,
        link: native(hook, resolved),
      }));
      const all = [...nativeLinks, ...foreignLinks].toSorted((one, other) => one.place - other.place);
      return all.map(({ link }) => link);
    },
  };
}

function directArgsOf({ exec, inputSchema }: ToolConfig): OfferedTool['isDirect'] {
  const dialect = exec && toolDialectOf(exec.dialect);
  return dialect && ((args) => dialect.isDirect(args, inputSchema));
}

/** The real path in the arguments of a call; undefined if there is none or for `vfs://`. */
export function findPath(folder: string, args: Json): string | undefined {
  const named = isObject(args.value) ? pathArgumentOf(args.value) : undefined;
  if (typeof named !== 'string' || named === '' || named.startsWith('vfs://')) return undefined;
  return followLinks(resolve(folder, named));
}
