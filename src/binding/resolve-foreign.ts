import type { ClaudeHookConfig, ExecConfig, ForeignHookConfig, RuntimeConfig } from '../config/config.ts';
import { fillPlaceholders, placeVariables } from '../config/placeholders.ts';
import type { Binding } from './binding.ts';
import { chibiVariables, withoutChibiNames } from './chibi-env.ts';
import { closeEnv, type HostEnv } from './env.ts';
import { capTimeout, foreignTimeoutMs } from './foreign-limits.ts';
import { fillHeaders, type HttpBinding } from './http.ts';
import { limits, resolveEntry } from './resolve.ts';

/** A foreign hook with nothing left to look up; neither binding is there for what needs no process. */
export interface ForeignResolved {
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
): ForeignResolved {
  if (hook.dialect === 'claude' && hook.settings.http !== undefined) return resolveHttp(hook, config, host);
  if (hook.exec === undefined) return { cwd: homeOf(hook, config), missingEnv: [] };
  const { name } = hook;
  const { exec, variables } = prepare(hook, hook.exec, { config, host });
  const { binding, missingEnv } = resolveEntry(
    {
      name,
      capability: 'hook',
      exec,
      timeoutMs: foreignTimeoutMs(hook),
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

/** Where a hook that starts nothing belongs. */
function homeOf({ settings }: ForeignHookConfig, { folder }: RuntimeConfig): string {
  return 'projectDir' in settings ? settings.projectDir : folder;
}

interface Prepared {
  readonly exec: ExecConfig;
  readonly variables?: Readonly<Record<string, string>>;
}

interface Context {
  readonly config: RuntimeConfig;
  readonly host: HostEnv;
}

/** The entry as a program with arguments, and the variables that its system sets. */
function prepare(hook: ForeignHookConfig, exec: ExecConfig, context: Context): Prepared {
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
      return prepareClaude(hook, exec, context.host);
  }
}

function prepareClaude({ settings }: ClaudeHookConfig, exec: ExecConfig, host: HostEnv): Prepared {
  const variables = placeVariables(settings);
  const { shell } = settings;
  if (shell === undefined) return { exec: fillExec(exec, settings, host), variables };
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
function fillExec(exec: ExecConfig, settings: ClaudeHookConfig['settings'], host: HostEnv): ExecConfig {
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

function resolveHttp(hook: ClaudeHookConfig, config: RuntimeConfig, host: HostEnv): ForeignResolved {
  const { http, projectDir: cwd } = hook.settings;
  if (http === undefined) return { cwd, missingEnv: [] };
  const env = closeEnv(http.env, host);
  const { defaults } = config;
  const timeoutMs = http.timeoutMs ?? defaults.timeoutMs ?? foreignTimeoutMs(hook);
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
