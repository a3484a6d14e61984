import { availableParallelism } from 'node:os';
import type { HostEnv } from '../binding/env.ts';
import { type Resolved, resolveExec, resolveHook } from '../binding/resolve.ts';
import { resolveForeign } from '../binding/resolve-foreign.ts';
import type { Port } from '../capability/invoke.ts';
import type { Cassette, CassetteOptions } from '../cassette/cassette.ts';
import type { Redact } from '../cassette/request.ts';
import type { HookConfig, RuntimeConfig, ToolConfig } from '../config/config.ts';
import type { Emit } from '../contract/event.ts';
import { isDirectForm } from '../dialects/chibi/direct-form.ts';
import { flowControlResult } from '../dialects/chibi/flow-control.ts';
import type { Codec } from '../dialects/dialect.ts';
import { requireNative, requireToolCodec } from '../dialects/registry.ts';
import type { Link, NativeLink } from '../hooks/gate.ts';
import type { GroupContext } from '../hooks/group.ts';
import { type Follower, openObserver, openShadow } from '../hooks/observer-queue.ts';
import type { Json } from '../json/json.ts';
import type { OfferedTool } from '../pipeline/state/run-context.ts';
import { compileApproval } from '../tool-call/approval-rule.ts';
import { openTransport } from '../transport/open.ts';
import { createPool } from '../transport/pool.ts';
import type { ProcessContext } from '../transport/process.ts';
import type { Transport } from '../transport/transport.ts';
import { compileSchema } from '../yaml/check-value.ts';
import type { ForeignEntry, PlacedLink, WrapOptions } from './foreign-links.ts';
import { findPath } from './real-path.ts';

/** An entry by its name, with what no log may show of it. */
export interface Known {
  readonly binding: Pick<Resolved['binding'], 'name' | 'secrets'>;
  readonly missingEnv: readonly string[];
}

interface Entry<Config> {
  readonly config: Config;
  readonly resolved: Resolved;
}

/** The entries of a config with nothing left to look up; `all` are those that start processes. */
export type Entries = ReturnType<typeof resolveEntries>;

export function resolveEntries(config: RuntimeConfig, host: HostEnv) {
  const tools = config.tools.map((tool) => ({
    config: tool,
    resolved:
      tool.exec && resolveExec({ name: tool.name, capability: 'tool', exec: tool.exec }, config, host),
  }));
  const evals: Entry<{ name: string }>[] = config.evals.map((entry) => ({
    config: entry,
    resolved: resolveExec({ name: entry.name, capability: 'eval', exec: entry.exec }, config, host),
  }));
  const hooks: Entry<HookConfig>[] = config.hooks.map((hook) => ({
    config: hook,
    resolved: resolveHook(hook, config, host),
  }));
  const foreign = config.foreign.map(
    (hook): ForeignEntry => ({ config: hook, resolved: resolveForeign(hook, config, host) }),
  );
  const strangers = foreign.flatMap(({ config: { name }, resolved: { binding, http, missingEnv } }) => {
    const who = binding ?? (http && { name, secrets: http.secrets });
    return who === undefined ? [] : [{ binding: who, missingEnv }];
  });
  const natives = [...tools, ...evals, ...hooks].flatMap(({ resolved }) =>
    resolved === undefined ? [] : [resolved],
  );
  // What the log may not show, and what an entry asks for that the host lacks.
  const all: readonly Known[] = [...natives, ...strangers];
  return { tools, evals, hooks, foreign, all };
}

export interface WorkshopContext extends ProcessContext, Pick<GroupContext, 'prepare' | 'spill' | 'leaving'> {
  /** Stands between entries and their processes. */
  readonly cassette: Cassette | undefined;
}

/** The cassette of a runtime. Throws FILE_UNREADABLE, NAME_UNKNOWN, USAGE. */
export async function openTape(
  options: CassetteOptions,
  { config, all, emit, redact }: { config: RuntimeConfig; all: readonly Known[]; emit: Emit; redact: Redact },
): Promise<Cassette> {
  const { openCassette } = await import('../cassette/cassette.ts');
  const names = [...all.map(({ binding }) => binding.name), ...config.providers.map(({ id }) => id)];
  return await openCassette(options, { names, redact, emit });
}

/** Makes ports, links and tools, and keeps what must be closed. */
export function openWorkshop(config: RuntimeConfig, context: WorkshopContext, stop: AbortSignal | undefined) {
  const { emit } = context;
  const concurrency = config.concurrency ?? availableParallelism();
  const callers = createPool(concurrency);
  // A lane of its own, so that what nobody waits for never holds a slot that somebody does.
  const followersLane = createPool(concurrency);
  const transports: Transport[] = [];
  const followers: Follower[] = [];

  const wrap = (
    { binding }: Pick<Resolved, 'binding'>,
    { pool = callers, isToldOnly = false, greeting }: WrapOptions = {},
  ): Transport => {
    const open = () => openTransport(binding, context, pool, greeting);
    const transport = context.cassette?.wrap(binding, open, isToldOnly) ?? open();
    transports.push(transport);
    return transport;
  };
  const port = <Input, Output extends object>(
    { binding }: Resolved,
    codec: Codec<Input, Output>,
    options: WrapOptions = {},
  ): Port<Input, Output> => {
    const transport = wrap({ binding }, options);
    if (binding.warm) transport.warm();
    return { binding, transport, codec, emit, scrubber: context.scrubber };
  };
  const native = ({ name, hook: kind, phases, mode }: HookConfig, resolved: Resolved): NativeLink => {
    const { dialect } = resolved.binding;
    const { hook: codec } = requireNative(dialect);
    const place = { name, dialect, kind, phases };
    if (mode === 'filter') return { ...place, listener: { mode, port: { ...port(resolved, codec), mode } } };
    const aside = port(resolved, codec, { pool: followersLane, isToldOnly: mode === 'observe' });
    if (mode === 'observe') {
      const follower = openObserver(aside, stop);
      followers.push(follower);
      return { ...place, listener: { mode, follower } };
    }
    const shadow = { ...aside, mode };
    const follower = openShadow(shadow, stop);
    followers.push(follower);
    return { ...place, listener: { mode, follower, port: shadow } };
  };
  return {
    concurrency,
    transports,
    followers,
    evaluation: (resolved: Resolved) => port(resolved, requireNative(resolved.binding.dialect).eval),
    tool: (tool: ToolConfig, resolved: Resolved | undefined, links: readonly Link[]): OfferedTool => ({
      name: tool.name,
      port: resolved && port(resolved, requireToolCodec(resolved.binding.dialect)),
      checkArgs: compileSchema(tool.inputSchema),
      checkResult: compileSchema(tool.outputSchema),
      links,
      approval: tool.approval && compileApproval(tool.name, tool.approval),
      idempotent: tool.idempotent,
      category: tool.category,
      aliases: tool.aliases,
      isExclusive: tool.isExclusive,
      isDirect: tool.exec?.dialect === 'chibi' ? (args) => isDirectForm(args, tool.inputSchema) : undefined,
      findPath: tool.category === 'fs_read' ? (args) => findPath(config.folder, args) : undefined,
      flow: tool.flow && { ...tool.flow, answer: answerOf(tool.flow) },
      description: tool.description,
      inputSchema: tool.inputSchema,
    }),
    /** What foreign hooks are opened with. */
    yard: { ...context, stop, wrap, callers, followersLane, transports },
    /** All links of the chain, in the order in which they run. */
    links: ({ hooks }: Pick<Entries, 'hooks'>, strangers: readonly PlacedLink[]): Link[] => {
      const natives = hooks.map(({ config: hook, resolved }) => ({
        place: hook.place,
        link: native(hook, resolved),
      }));
      const all = [...natives, ...strangers].toSorted((one, other) => one.place - other.place);
      return all.map(({ link }) => link);
    },
  };
}

function answerOf(flow: NonNullable<ToolConfig['flow']>) {
  return (args: Json) => flowControlResult(flow, args);
}
