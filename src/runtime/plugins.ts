import { RuntimeError, toRuntimeError } from '../base/errors.ts';
import { configInvalid } from '../base/yaml/problem.ts';
import { redactReply } from '../calls/capability/invoke.ts';
import type {
  ExecConfig,
  ForeignHookConfig,
  ForeignName,
  RuntimeConfig,
  ToolConfig,
} from '../config/config.ts';
import type { ProcessReply } from '../contract/exchange.ts';
import { noopScrubber, scrubError } from '../contract/scrub.ts';
import { foreignDialects, foreignNames } from '../dialects/registry.ts';
import type { HostEnv } from '../process/env.ts';
import { openUnpooled } from '../process/open.ts';
import type { ProcessContext } from '../process/process.ts';
import type { DeclaredHook, PluginContext } from '../process/process-config.ts';
import { resolveExec } from './binding/resolve.ts';

interface PluginWiring {
  readonly host: HostEnv;
  readonly context: ProcessContext;
  readonly signal: AbortSignal | undefined;
  readonly describe: DescribePlugin | undefined;
}

type DescribePlugin = (dialect: ForeignName) => string;

/**
 * Reads the descriptions of plugins. Returns the config with the points of its hooks, and with the hooks and tools of
 * imported folders. Throws CONFIG_INVALID for invalid plugins and duplicate tool names, and ABORTED.
 */
export async function loadPlugins(
  config: RuntimeConfig,
  host: HostEnv,
  context: ProcessContext,
  signal?: AbortSignal,
  describe?: DescribePlugin,
): Promise<RuntimeConfig> {
  let loaded = config;
  for (const dialect of foreignNames) {
    loaded = await loadPluginsOf(dialect, loaded, { host, context, signal, describe });
  }
  requireUnique(loaded.tools);
  return loaded;
}

/** Returns the config without starting plugins, and assumes that each may handle every point. */
export async function assumePlugins(
  config: RuntimeConfig,
  host: HostEnv,
  context: ProcessContext,
  signal?: AbortSignal,
): Promise<RuntimeConfig> {
  const used = [...config.imports, ...config.foreign].map(({ dialect }) => dialect);
  const trials = new Map(
    await Promise.all(
      [...new Set(used)].map(async (name) => [name, await foreignDialects[name].loadTrial()] as const),
    ),
  );
  return await loadPlugins(config, host, context, signal, (name) => trials.get(name)?.description ?? '');
}

async function loadPluginsOf(
  dialect: ForeignName,
  config: RuntimeConfig,
  wiring: PluginWiring,
): Promise<RuntimeConfig> {
  const { plugins } = foreignDialects[dialect];
  const hooks = config.foreign.filter((hook) => hook.dialect === dialect);
  const folders = config.imports.filter((folder) => folder.dialect === dialect);
  if (plugins === undefined || (hooks.length === 0 && folders.length === 0)) return config;
  const { discover } = await plugins.load();
  const found = await discover({ hooks, folders }, pluginContext(dialect, config, wiring));
  const toHook = ({ exec, ...hook }: DeclaredHook): ForeignHookConfig => ({
    dialect,
    ...hook,
    ...(exec && { exec: { ...exec, dialect } }),
  });
  const declared = config.foreign.flatMap((hook) => found.declared.get(hook)?.map(toHook) ?? [hook]);
  const tools = found.tools.map((tool): ToolConfig => ({ ...tool, exec: { ...tool.exec, dialect } }));
  return {
    ...config,
    tools: [...config.tools, ...tools],
    foreign: [...declared, ...found.hooks.map(toHook)],
  };
}

function pluginContext(
  dialect: ForeignName,
  config: RuntimeConfig,
  { host, context, signal, describe }: PluginWiring,
): PluginContext {
  return {
    folder: config.folder,
    addNote: (name, message, level = 'warn') => context.emit({ type: 'note', name, level, message }),
    ask: async ({ name, exec: declared }, message, read) => {
      if (describe !== undefined) return read(printed(describe(dialect)));
      const exec: ExecConfig = { ...declared, dialect };
      const { binding } = resolveExec({ name, capability: 'tool', exec }, config, host);
      const transport = openUnpooled(binding, context);
      try {
        const reply = await transport.exchange(message, signal);
        if (reply.via !== 'process') throw new RuntimeError('INTERNAL', 'a plugin is a process');
        return readSafely(reply, read, context);
      } finally {
        await transport.close();
      }
    },
  };
}

function printed(text: string): ProcessReply {
  return { via: 'process', exitCode: 0, signal: null, stdout: Buffer.from(text), stderr: '' };
}

/** Throws the error of `read`, without secrets of the reply in its message. */
function readSafely<Value>(
  reply: ProcessReply,
  read: (reply: ProcessReply) => Value,
  { scrubber = noopScrubber }: ProcessContext,
): Value {
  try {
    return read(reply);
  } catch (thrown) {
    const hidden = redactReply(reply, scrubber);
    if (hidden.via === 'process' && hidden !== reply) read(hidden);
    throw scrubError(toRuntimeError(thrown), scrubber);
  }
}

function requireUnique(tools: readonly ToolConfig[]): void {
  const seen = new Map<string, ToolConfig>();
  for (const tool of tools) {
    const earlier = seen.get(tool.name);
    seen.set(tool.name, tool);
    if (earlier === undefined) continue;
    const { file, line, column } = tool.position;
    const message = `tool "${tool.name}" is declared in both ${earlier.position.file} and ${file}`;
    throw configInvalid(file, [{ file, line, column, severity: 'error', message }]);
  }
}
