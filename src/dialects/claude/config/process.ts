import { basename, join } from 'node:path';
import type { ProcessConfig } from '../../../process/process-config.ts';
import type { HookEndpoint, ProcessContext, ProcessForm } from '../../dialect-config.ts';
import type { ClaudeHttp, ClaudeSettings, HandlerFolders } from './settings.ts';

/** The process of a handler: its shell with the line, or the exec form with placeholders filled. */
export function toProcess(
  settings: ClaudeSettings,
  exec: ProcessConfig,
  { variablesFor }: ProcessContext,
): ProcessForm {
  const variables = claudeVariables(settings);
  const { shell } = settings;
  if (shell === undefined)
    return { exec: fillPluginOptions(exec, settings, variablesFor(exec.env)), variables };
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
  exec: ProcessConfig,
  settings: ClaudeSettings,
  variables: Readonly<Record<string, string>>,
): ProcessConfig {
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

/** The endpoint of an http handler; undefined for a process. */
export function endpointOf({ http }: ClaudeSettings): HookEndpoint | undefined {
  return http && { ...http, headers: (variables) => fillHeaders(http, variables) };
}

/** Header values in which `$NAME` and `${NAME}` are filled: what is not both allowed and in `env` becomes empty. */
function fillHeaders(
  { headers, allowedEnvVars, env }: Pick<ClaudeHttp, 'headers' | 'allowedEnvVars' | 'env'>,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const named = new Set(env.map((entry) => entry.split('=', 1)[0]));
  const read = (name: string): string =>
    allowedEnvVars.includes(name) && named.has(name) ? (variables[name] ?? '') : '';
  return Object.fromEntries(
    Object.entries(headers).map(([header, value]) => [
      header,
      value.replaceAll(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (_all, braced?: string, bare?: string) =>
        read(braced ?? bare ?? ''),
      ),
    ]),
  );
}

/** The variables that Claude Code gives to every handler. */
export const handlerVariables: readonly string[] = [
  'CLAUDE_PROJECT_DIR',
  'CLAUDE_PLUGIN_ROOT',
  'CLAUDE_PLUGIN_DATA',
  'CLAUDE_ENV_FILE',
];

/** The environment variables for the folders of a handler; its placeholders have the same names. */
function claudeVariables({ projectDir, pluginRoot, pluginData }: HandlerFolders): Record<string, string> {
  return {
    CLAUDE_PROJECT_DIR: projectDir,
    ...(pluginRoot === undefined ? {} : { CLAUDE_PLUGIN_ROOT: pluginRoot }),
    ...(pluginData === undefined ? {} : { CLAUDE_PLUGIN_DATA: pluginData }),
  };
}

/**
 * Replaces each `${CLAUDE_…}` by its folder. In a shell line a path with shell syntax in it is not inserted:
 * the shell expands the placeholder from the environment.
 */
export function fillPlaceholders(text: string, folders: HandlerFolders, isLine: boolean): string {
  const variables = claudeVariables(folders);
  return text.replaceAll(/\$\{(CLAUDE_[A-Z_]+)\}/g, (placeholder, name: string) => {
    const value = variables[name];
    return value === undefined || (isLine && shellSyntax.test(value)) ? placeholder : value;
  });
}

const shellSyntax = /[^\w\s./@%+=:,-]/;

/** The folder in which a plugin may keep what is its own, beside the state store. */
export function pluginDataOf(stateFolder: string, pluginRoot: string): string {
  return join(stateFolder, 'plugins', basename(pluginRoot));
}
