import type { HookEndpoint, ProcessContext, ProcessForm } from '../../dialect-config.ts';
import type { ProcessConfig } from '../../process-config.ts';
import { claudeVariables, fillPlaceholders } from './placeholders.ts';
import type { ClaudeHttp, ClaudeSettings } from './settings.ts';

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
export function fillHeaders(
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
