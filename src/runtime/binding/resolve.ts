import { isAbsolute, resolve } from 'node:path';
import type { ExecConfig, HookConfig, McpServerConfig, RuntimeConfig } from '../../config/config.ts';
import { type EndpointConfig, usualLimits } from '../../config/exec.ts';
import type { Capability } from '../../contract/event.ts';
import type { ProcessContext } from '../../dialects/dialect-config.ts';
import { toolDialectOf, volatileFieldsOf } from '../../dialects/registry.ts';
import type { Binding, HookEndpoint } from '../../process/binding.ts';
import { closeEnv, type HostEnv } from '../../process/env.ts';
import { resolveSandbox } from './resolve-sandbox.ts';

export interface ResolvedEntry {
  readonly binding: Binding;
  readonly missingEnv: readonly string[];
}

const restart = { firstDelayMs: 100, maxDelayMs: 5_000, circuitDeaths: 5, circuitPauseMs: 30_000 } as const;

export function resolveExec(
  entry: { readonly name: string; readonly capability: Capability; readonly exec: ExecConfig },
  config: RuntimeConfig,
  host: HostEnv,
): ResolvedEntry {
  const timeoutMs = usualLimits[entry.capability === 'eval' ? 'evalTimeoutMs' : 'toolTimeoutMs'];
  const { dialect } = entry.exec;
  const tool = toolDialectOf(dialect);
  if (tool === undefined) return resolveEntry({ ...entry, timeoutMs }, config, host);
  const { exec, variables = {} } = tool.toProcess(entry.exec, processContext(config, host));
  const own = { exec: { ...exec, dialect }, timeoutMs, leftovers: 'keep', variables } as const;
  return resolveEntry({ ...entry, ...own }, config, host);
}

export function processContext({ folder, logging }: RuntimeConfig, host: HostEnv): ProcessContext {
  return {
    folder,
    isVerbose: logging.level === 'debug' || logging.level === 'trace',
    variablesFor: (env) => closeEnv(env, host).variables,
  };
}

export function resolveHook(hook: HookConfig, config: RuntimeConfig, host: HostEnv): ResolvedEntry {
  const timeoutMs = hook.hook === 'eval' ? usualLimits.evalHookTimeoutMs : usualLimits.hookTimeoutMs;
  return resolveEntry({ name: hook.name, capability: 'hook', exec: hook.exec, timeoutMs }, config, host);
}

/** The binding of a server with a `url` has no command, and starts no process. */
export function resolveServer(
  { name, exec, timeoutMs, maxOutputBytes, position }: McpServerConfig,
  config: RuntimeConfig,
  host: HostEnv,
): ResolvedEntry {
  const none: ExecConfig = {
    ...{ command: '', args: [], env: [], runtime: 'server', dialect: 'promptkit', position },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxOutputBytes !== undefined && { maxOutputBytes }),
  };
  const entry = {
    name,
    capability: 'tool',
    exec: exec ?? none,
    timeoutMs: usualLimits.toolTimeoutMs,
  } as const;
  return resolveEntry(entry, config, host);
}

export interface ProcessEntry {
  readonly name: string;
  readonly capability: Capability;
  readonly exec: ExecConfig;
  readonly timeoutMs: number;
  readonly leftovers?: 'kill' | 'keep';
  /** Set in addition to `env`; these win. */
  readonly variables?: Readonly<Record<string, string>>;
}

export function resolveEntry(entry: ProcessEntry, config: RuntimeConfig, host: HostEnv): ResolvedEntry {
  const { exec, variables = {} } = entry;
  const { defaults } = config;
  const env = closeEnv(exec.env, host);
  const cwd = exec.cwd === undefined ? config.folder : resolve(config.folder, exec.cwd);
  const sandbox =
    exec.sandbox === undefined
      ? null
      : resolveSandbox(exec.sandbox, { config, host, cwd, env: exec.env, variables });
  const binding: Binding = {
    name: entry.name,
    capability: entry.capability,
    dialect: exec.dialect,
    volatileFields: volatileFieldsOf(exec.dialect),
    mode: exec.runtime === 'server' ? 'server' : 'oneshot',
    endpoint: exec.endpoint ? resolveEndpoint(exec.endpoint, config) : null,
    // The sandbox may be another machine, whose paths are unknown here.
    command: sandbox?.mode === 'command' ? exec.command : resolveCommand(exec.command, config.folder),
    args: exec.args,
    cwd,
    env: { ...env.variables, ...variables },
    secrets: env.secrets,
    timeoutMs: exec.timeoutMs ?? defaults.timeoutMs ?? entry.timeoutMs,
    graceMs: exec.graceMs ?? defaults.graceMs ?? usualLimits.graceMs,
    drainMs: usualLimits.drainMs,
    maxOutputBytes: exec.maxOutputBytes ?? defaults.maxOutputBytes ?? usualLimits.maxOutputBytes,
    leftovers: exec.leftovers ?? defaults.leftovers ?? entry.leftovers ?? 'kill',
    concurrency: exec.concurrency ?? Number.POSITIVE_INFINITY,
    instances: exec.instances ?? 1,
    warm: exec.warm !== undefined && exec.warm !== false,
    spares: typeof exec.warm === 'number' && exec.runtime === 'exec' ? exec.warm : 0,
    isForked: exec.runtime === 'fork',
    restart,
    limits: exec.limits || defaults.limits ? { ...defaults.limits, ...exec.limits } : null,
    nice: (exec.nice ?? defaults.nice) || null,
    sandbox,
    refused: exec.refused ?? null,
  };
  return { binding, missingEnv: env.missing };
}

function resolveEndpoint(
  { url, headers, ca }: EndpointConfig,
  { folder, privateHosts }: RuntimeConfig,
): HookEndpoint {
  return { url, headers, ca: ca === undefined ? null : resolve(folder, ca), privateHosts };
}

/** A command with a slash is relative to the folder; any other is looked up in PATH. */
export function resolveCommand(command: string, folder: string): string {
  return !command.includes('/') || isAbsolute(command) ? command : resolve(folder, command);
}
