import { basename, dirname, join, resolve } from 'node:path';
import type { ProcessContext, ProcessForm } from '../../dialect-config.ts';
import { envLiteralOf } from '../../env-list.ts';
import type { ProcessConfig } from '../../process-config.ts';
import type { ChibiSettings } from './settings.ts';

/** The process of a plugin: without variables that chibi sets per call or has retired, which plugins test for. */
export function toProcess(
  { chibiHome, projectRoot }: Pick<ChibiSettings, 'chibiHome' | 'projectRoot'>,
  exec: ProcessConfig,
  { isVerbose }: Pick<ProcessContext, 'isVerbose'>,
): ProcessForm {
  const env = exec.env.filter((entry) => !callVariables.has(entry.split('=', 1)[0] ?? ''));
  // Source: docs/plugins.md.
  const variables = {
    CHIBI_PROJECT_ROOT: projectRoot,
    CHIBI_INDEX_DB: join(projectRoot, '.chibi', 'codebase.db'),
    CHIBI_HOME: chibiHome,
    ...(isVerbose ? { CHIBI_VERBOSE: '1' } : {}),
  };
  return { exec: { ...exec, env }, variables };
}

const callVariables: ReadonlySet<string> = new Set([
  'CHIBI_HOOK',
  'CHIBI_TOOL_NAME',
  'CHIBI_TOOL_ARGS',
  'CHIBI_HOOK_DATA',
]);

/** chibi’s home of a plugin that is declared by path: what `env` sets, the parent of `plugins/`, or the config’s folder. */
export function chibiHomeOf(
  { command, env }: { readonly command: string; readonly env: readonly string[] },
  folder: string,
): string {
  const literal = envLiteralOf(env, 'CHIBI_HOME');
  if (literal !== undefined) return resolve(folder, literal);
  const plugins = dirname(resolve(folder, command));
  return command.includes('/') && basename(plugins) === 'plugins' ? dirname(plugins) : folder;
}
