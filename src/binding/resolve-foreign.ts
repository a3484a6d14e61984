import type { ClaudeHookConfig, ExecConfig, ForeignHookConfig, RuntimeConfig } from '../config/config.ts';
import { claudeVariables, fillPlaceholders } from '../config/placeholders.ts';
import type { Binding } from './binding.ts';
import { chibiVariables, withoutChibiNames } from './chibi-env.ts';
import { closeEnv, type HostEnv } from './env.ts';
import { capTimeout, defaultTimeoutMs } from './foreign-limits.ts';
import { fillHeaders, type HttpBinding } from './http.ts';
import { limits, resolveEntry } from './resolve.ts';

/** A foreign hook with all values resolved; a hook that needs no process has neither binding. */
export interface ResolvedForeignHook {
  readonly binding?: Binding;
  readonly http?: HttpBinding;
  /** Absolute; of a hook without a process, the folder that it belongs to. */
  readonly cwd: string;
  readonly missingEnv: readonly string[];
}

/** Makes every default, path and environment value of a foreign hook final. */
export function resolveForeign(
  hook: ForeignHookConfig,
  config: RuntimeConfig,
  host: HostEnv,
): ResolvedForeignHook {
  if (hook.dialect === 'claude' && hook.settings.http !== undefined) return resolveHttp(hook, config, host);
  if (hook.exec === undefined) return { cwd: defaultFolderOf(hook, config), missingEnv: [] };
  const { name } = hook;
  const { exec, variables } = toProcessCommand(hook, hook.exec, { config, host });
  const { binding, missingEnv } = resolveEntry(
    {
      name,
      capability: 'hook',
      exec,
      timeoutMs: defaultTimeoutMs(hook),
      leftovers: 'keep',
      ...(variables === undefined ? {} : { variables }),
    },
    config,
    host,
  );
  return {
    binding: { ...binding, timeoutMs: capTimeout(hook, binding.timeoutMs, config) },
    cwd: binding.cwd,
    missingEnv,
  };
}

/** The folder of a hook that starts no process: its project, else that of the config file. */
function defaultFolderOf({ settings }: ForeignHookConfig, { folder }: RuntimeConfig): string {
  return 'projectDir' in settings ? settings.projectDir : folder;
}

interface ProcessCommand {
  readonly exec: ExecConfig;
  readonly variables?: Readonly<Record<string, string>>;
}

interface ResolveContext {
  readonly config: RuntimeConfig;
  readonly host: HostEnv;
}

/** The program and arguments for the entry, and the environment variables that its system sets. */
function toProcessCommand(
  hook: ForeignHookConfig,
  exec: ExecConfig,
  context: ResolveContext,
): ProcessCommand {
  switch (hook.dialect) {
    case 'picoclaw':
      return { exec: { ...exec, runtime: 'server' } };
    case 'agentao':
      return { exec: { ...exec, command: '/bin/sh', args: ['-c', exec.command] } };
    case 'chibi':
      return {
        exec: { ...exec, env: withoutChibiNames(exec.env) },
        variables: chibiVariables(hook.settings, context.config),
      };
    case 'claude':
      return toClaudeCommand(hook, exec, context.host);
  }
}

function toClaudeCommand({ settings }: ClaudeHookConfig, exec: ExecConfig, host: HostEnv): ProcessCommand {
  const variables = claudeVariables(settings);
  const { shell } = settings;
  if (shell === undefined) return { exec: fillPluginOptions(exec, settings, host), variables };
  const line = fillPlaceholders(exec.command, settings, shell !== 'powershell');
  const [command, flag] = shells[shell];
  return { exec: { ...exec, command, args: [flag, line] }, variables };
}

const shells = {
  sh: ['/bin/sh', '-c'],
  bash: ['bash', '-c'],
  powershell: ['pwsh', '-Command'],
} as const;

/** The exec form, in which options of a plugin are filled too: from `CLAUDE_PLUGIN_OPTION_<KEY>`. */
function fillPluginOptions(
  exec: ExecConfig,
  settings: ClaudeHookConfig['settings'],
  host: HostEnv,
): ExecConfig {
  const { variables } = closeEnv(exec.env, host);
  const missing: string[] = [];
  const fill = (text: string) =>
    fillPlaceholders(text, settings, false).replaceAll(/\$\{user_config\.([^}]*)\}/g, (_all, key: string) => {
      const value = variables[`CLAUDE_PLUGIN_OPTION_${key}`];
      if (value === undefined) missing.push(key);
      return value ?? '';
    });
  const filled = { ...exec, command: fill(exec.command), args: exec.args.map(fill) };
  const [key] = missing;
  if (key === undefined) return filled;
  return { ...filled, refused: exec.refused ?? `its \`env\` has no CLAUDE_PLUGIN_OPTION_${key}` };
}

function resolveHttp(hook: ClaudeHookConfig, config: RuntimeConfig, host: HostEnv): ResolvedForeignHook {
  const { http, projectDir: cwd } = hook.settings;
  if (http === undefined) return { cwd, missingEnv: [] };
  const env = closeEnv(http.env, host);
  const { defaults } = config;
  const timeoutMs = http.timeoutMs ?? defaults.timeoutMs ?? defaultTimeoutMs(hook);
  return {
    http: {
      name: hook.name,
      url: http.url,
      headers: fillHeaders(http, env.variables),
      timeoutMs: capTimeout(hook, timeoutMs, config),
      maxOutputBytes: http.maxOutputBytes ?? defaults.maxOutputBytes ?? limits.maxOutputBytes,
      secrets: env.secrets,
    },
    cwd,
    missingEnv: env.missing,
  };
}
