import { basename, join } from 'node:path';
import type { ProcessConfig } from '../../../process/process-config.ts';
import type { HookEndpoint, ProcessContext, ProcessForm } from '../../dialect-config.ts';
import type { ClaudeHttp, ClaudeSettings, HandlerFolders } from './settings.ts';

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

export function endpointOf({ http }: ClaudeSettings): HookEndpoint | undefined {
  return http && { ...http, headers: (variables) => fillHeaders(http, variables) };
}

/** Fills `$NAME` and `${NAME}`. A variable that is not both allowed and in `env` becomes empty. */
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

function claudeVariables({ projectDir, pluginRoot, pluginData }: HandlerFolders): Record<string, string> {
  return {
    CLAUDE_PROJECT_DIR: projectDir,
    ...(pluginRoot === undefined ? {} : { CLAUDE_PLUGIN_ROOT: pluginRoot }),
    ...(pluginData === undefined ? {} : { CLAUDE_PLUGIN_DATA: pluginData }),
  };
}

/**
 * Replaces each `${CLAUDE_…}` by its folder. A path with shell syntax is not inserted in a shell line: the shell
 * expands the placeholder from the environment.
 */
export function fillPlaceholders(text: string, folders: HandlerFolders, isLine: boolean): string {
  const variables = claudeVariables(folders);
  return text.replaceAll(/\$\{(CLAUDE_[A-Z_]+)\}/g, (placeholder, name: string) => {
    const value = variables[name];
    return value === undefined || (isLine && shellSyntax.test(value)) ? placeholder : value;
  });
}

const shellSyntax = /[^\w\s./@%+=:,-]/;

export function pluginDataOf(stateFolder: string, pluginRoot: string): string {
  return join(stateFolder, 'plugins', basename(pluginRoot));
}
