import { availableParallelism } from 'node:os';
import type { HostEnv } from './binding/env.ts';
import { type Resolved, resolveExec, resolveHook } from './binding/resolve.ts';
import { type Follower, openObserver, openShadow } from './capability/follower.ts';
import type { Port } from './capability/invoke.ts';
import type { Cassette, CassetteOptions } from './cassette/cassette.ts';
import type { HookConfig, RuntimeConfig, ToolConfig } from './config/config.ts';
import type { Emit } from './contract/event.ts';
import { compileApproval } from './pipeline/approval-rule.ts';
import type { Link } from './pipeline/gate.ts';
import type { OfferedTool } from './pipeline/run-context.ts';
import { compileSchema } from './pipeline/schema.ts';
import type { Codec } from './protocol/dialect.ts';
import { dialects } from './protocol/registry.ts';
import { openTransport } from './transport/open.ts';
import { createPool } from './transport/pool.ts';
import type { ProcessContext } from './transport/process.ts';
import type { Transport } from './transport/transport.ts';

interface Entry<Config> {
  readonly config: Config;
  readonly resolved: Resolved;
}

/** The entries of a config with nothing left to look up; `all` are those that start processes. */
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
  const all = [...tools, ...evals, ...hooks].flatMap(({ resolved }) =>
    resolved === undefined ? [] : [resolved],
  );
  return { tools, evals, hooks, all };
}

export interface WorkshopContext extends ProcessContext {
  /** Stands between entries and their processes. */
  readonly cassette: Cassette | undefined;
}

/** The cassette of a runtime. Throws FILE_UNREADABLE, NAME_UNKNOWN, USAGE. */
export async function openTape(
  options: CassetteOptions,
  { config, all, emit }: { config: RuntimeConfig; all: readonly Resolved[]; emit: Emit },
): Promise<Cassette> {
  const [{ openCassette }, { createScrub }] = await Promise.all([
    import('./cassette/cassette.ts'),
    import('./log/scrub.ts'),
  ]);
  const names = [...all.map(({ binding }) => binding.name), ...config.providers.map(({ id }) => id)];
  const redact = createScrub(all.flatMap(({ binding }) => binding.secrets));
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

  const port = <Input, Output>(
    { binding }: Resolved,
    codec: Codec<Input, Output>,
    { pool = callers, isToldOnly = false } = {},
  ): Port<Input, Output> => {
    const open = () => openTransport(binding, context, pool);
    const transport = context.cassette?.wrap(binding, open, isToldOnly) ?? open();
    transports.push(transport);
    if (binding.warm) transport.warm();
    return { binding, transport, codec, emit };
  };
  return {
    concurrency,
    transports,
    followers,
    evaluation: (resolved: Resolved) => port(resolved, dialects[resolved.binding.dialect].eval),
    tool: (tool: ToolConfig, resolved: Resolved | undefined, links: readonly Link[]): OfferedTool => ({
      name: tool.name,
      port: resolved && port(resolved, dialects[resolved.binding.dialect].tool),
      checkArgs: compileSchema(tool.inputSchema),
      checkResult: compileSchema(tool.outputSchema),
      links,
      approval: tool.approval && compileApproval(tool.name, tool.approval),
      idempotent: tool.idempotent,
      description: tool.description,
      inputSchema: tool.inputSchema,
    }),
    link: ({ name, hook: kind, phases, mode }: HookConfig, resolved: Resolved): Link => {
      const { dialect } = resolved.binding;
      const { hook: codec } = dialects[dialect];
      const place = { name, dialect, kind, phases };
      if (mode === 'filter')
        return { ...place, listener: { mode, port: { ...port(resolved, codec), mode } } };
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
    },
  };
}
