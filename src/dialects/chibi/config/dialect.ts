import { basename, dirname, join, resolve } from 'node:path';
import { envLiteralOf, type ProcessConfig } from '../../../process/process-config.ts';
import {
  type DialectConfig,
  type EntryRules,
  milliseconds,
  modifiesHint,
  type ProcessContext,
  type ProcessForm,
  withoutNativeKeys,
} from '../../dialect-config.ts';
import { pointsAt } from '../permission.ts';
import { type ChibiSettings, points } from '../points.ts';
import { isCommandLineForm, tool } from '../tool.ts';

const schemaHint = 'The plugin’s own --schema says at which points it runs.';

const chibiEntry: EntryRules = {
  required: ['command'],
  properties: withoutNativeKeys,
  toolRemarks: {
    category: 'Chibi’s permission points fire for fs_read, fs_write, shell and network.',
  },
  misplacedHints: { hook: schemaHint, phases: schemaHint, mode: schemaHint, modifies: modifiesHint },
  runtimeHint: 'A chibi plugin starts anew for each call: remove `runtime`.',
  importProperties: {
    plugins_dir: {
      type: 'string',
      minLength: 1,
      description: 'A folder of chibi plugins, relative to this file’s: all their tools and hooks.',
    },
    timeout_ms: { ...milliseconds, description: 'The `timeout_ms` of every chibi plugin. Default: 30000.' },
  },
};

const failsOpen = 'an exit code other than 0, an empty answer, one that is not a JSON object, a wrong type';

export const chibi: DialectConfig<ChibiSettings> = {
  name: 'chibi',
  title: 'chibi',
  points,
  pointsAt,
  loadHooks: async () => (await import('../dialect.ts')).chibi,
  loadTrial: async () => (await import('../dialect.ts')).trial,
  loadInbound: async () => (await import('../inbound/inbound.ts')).inbound,
  // The body of a tool call is its arguments, and no point has volatile members.
  volatileFields: {},
  entry: chibiEntry,
  readEntry: (_document, _path, { exec, folder }) => ({
    exec,
    settings: { tool: '', points: [], chibiHome: chibiHomeOf(exec, folder), projectRoot: folder },
  }),
  declaredPoints: ({ points: own }) => (own.length === 0 ? undefined : own),
  failsOpen: () => failsOpen,
  timeoutMs: () => 30_000,
  toProcess,
  plugins: {
    folderKey: 'plugins_dir',
    failsOpen,
    load: async () => await import('./plugins.ts'),
  },
  tool: {
    codec: tool,
    remark: 'chibi: arguments on stdin, the result on stdout as it is.',
    serverFault: 'a chibi plugin starts anew for each call',
    toProcess: (exec, context) => {
      const chibiHome = chibiHomeOf(exec, context.folder);
      return toProcess({ chibiHome, projectRoot: context.folder }, exec, context);
    },
    isDirect: isCommandLineForm,
  },
};

/** Removes variables that chibi sets per call or has retired, because plugins test for them. */
function toProcess(
  { chibiHome, projectRoot }: Pick<ChibiSettings, 'chibiHome' | 'projectRoot'>,
  exec: ProcessConfig,
  { isVerbose }: Pick<ProcessContext, 'isVerbose'>,
): ProcessForm {
  const env = exec.env.filter((entry) => !callVariables.has(entry.split('=', 1)[0] ?? ''));
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

/** chibi’s home for a plugin declared by path: the value in `env`, the parent of `plugins/`, or the config’s folder. */
function chibiHomeOf(
  { command, env }: { readonly command: string; readonly env: readonly string[] },
  folder: string,
): string {
  const literal = envLiteralOf(env, 'CHIBI_HOME');
  if (literal !== undefined) return resolve(folder, literal);
  const plugins = dirname(resolve(folder, command));
  return command.includes('/') && basename(plugins) === 'plugins' ? dirname(plugins) : folder;
}
