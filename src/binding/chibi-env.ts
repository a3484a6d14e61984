import { join } from 'node:path';
import type { RuntimeConfig } from '../config/config.ts';

/** The environment variables that chibi sets for every plugin. Source: docs/plugins.md. */
export function chibiVariables(
  { chibiHome, projectRoot }: { readonly chibiHome: string; readonly projectRoot: string },
  { logging }: Pick<RuntimeConfig, 'logging'>,
): Record<string, string> {
  const isVerbose = logging.level === 'debug' || logging.level === 'trace';
  return {
    CHIBI_PROJECT_ROOT: projectRoot,
    CHIBI_INDEX_DB: join(projectRoot, '.chibi', 'codebase.db'),
    CHIBI_HOME: chibiHome,
    ...(isVerbose ? { CHIBI_VERBOSE: '1' } : {}),
  };
}

/** `env` without the variables that chibi sets per call or has retired: plugins test for their absence. */
export function withoutChibiNames(env: readonly string[]): string[] {
  return env.filter((entry) => !callVariables.has(entry.split('=', 1)[0] ?? ''));
}

const callVariables: ReadonlySet<string> = new Set([
  'CHIBI_HOOK',
  'CHIBI_TOOL_NAME',
  'CHIBI_TOOL_ARGS',
  'CHIBI_HOOK_DATA',
]);
