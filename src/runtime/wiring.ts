import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { followLinks } from '../base/files/real-path.ts';
import { isObject, type Json } from '../base/json/json.ts';
import { compileSchema } from '../base/yaml/schema-check.ts';
import { openEvalBatches } from '../calls/capability/eval.ts';
import type { Port } from '../calls/capability/invoke.ts';
import type { Link, NativeLink } from '../calls/hooks/gate.ts';
import type { GroupContext } from '../calls/hooks/group.ts';
import { compileMatch } from '../calls/hooks/match.ts';
import { type ObserverQueue, openObserver, openShadow } from '../calls/hooks/observer-queue.ts';
import { compileApproval, compileApprovals } from '../calls/tool-call/approvals.ts';
import type { HookConfig, RuntimeConfig, ToolConfig } from '../config/config.ts';
import type { EvalOutcome, EvalRequest } from '../contract/eval.ts';
import type { Codec } from '../dialects/dialect.ts';
import { requireNative, requireToolCodec, toolDialectOf } from '../dialects/registry.ts';
import { pathArgumentOf } from '../dialects/tool-path.ts';
import type { OfferedTool } from '../pipelines/state/run-context.ts';
import type { Cassette } from '../process/cassette/cassette.ts';
import { openTransport } from '../process/open.ts';
import { createPool } from '../process/pool.ts';
import type { ProcessContext } from '../process/process.ts';
import type { Transport } from '../process/transport.ts';
import type { ResolvedEntry } from './binding/resolve.ts';
import type { PlacedLink, WrapOptions } from './foreign-links.ts';
import type { Entries } from './stages/resolve.ts';

interface WiringContext extends ProcessContext, Pick<GroupContext, 'prepare' | 'writeLongText' | 'closing'> {
  /** Records or replays the exchanges with processes; undefined: neither. */
  readonly cassette: Cassette | undefined;
}

/** Creates the ports, hook links and tools of a runtime, and collects the transports and queues to close. */
export function createWiring(config: RuntimeConfig, context: WiringContext, stop: AbortSignal | undefined) {
  const { emit } = context;
  const concurrency = config.concurrency ?? availableParallelism();
  const callPool = createPool(concurrency);
  // Observers and shadows have their own pool, so that they never take a slot from an awaited call.
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
    approvalsOf,
    transports,
    observerQueues: observerQueues,
    evalPort: (resolved: ResolvedEntry) => port(resolved, requireNative(resolved.binding.dialect).eval),
    /** Batches over the processes of that port. */
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
    /** The wiring that foreign hooks are opened with. */
    foreignWiring: { ...context, stop, wrap, callPool: callPool, observerPool: observerPool, transports },
    /** All links of the chain, in the order in which they run. */
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

/** Whether arguments of the tool are in a form that its schema does not describe; undefined where none are. */
function directArgsOf({ exec, inputSchema }: ToolConfig): OfferedTool['isDirect'] {
  const dialect = exec && toolDialectOf(exec.dialect);
  return dialect && ((args) => dialect.isDirect(args, inputSchema));
}

/**
 * The real path, from `folder`, of the path among a call's arguments; undefined without one or for `vfs://`.
 */
export function findPath(folder: string, args: Json): string | undefined {
  const named = isObject(args.value) ? pathArgumentOf(args.value) : undefined;
  if (typeof named !== 'string' || named === '' || named.startsWith('vfs://')) return undefined;
  return followLinks(resolve(folder, named));
}
