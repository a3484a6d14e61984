import { join } from 'node:path';
import type { RuntimeConfig } from '../config/config.ts';

/** What chibi tells every plugin of its surroundings. Source: docs/plugins.md. */
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

/** `env` without the names that chibi sets for one call, or no longer sets at all: plugins test for their absence. */
export function withoutChibiNames(env: readonly string[]): string[] {
  return env.filter((entry) => !callNames.has(entry.split('=', 1)[0] ?? ''));
}

const callNames: ReadonlySet<string> = new Set([
  'CHIBI_HOOK',
  'CHIBI_TOOL_NAME',
  'CHIBI_TOOL_ARGS',
  'CHIBI_HOOK_DATA',
]);
