import { resolve } from 'node:path';
import { variablesOf } from '../../../files/shell-line.ts';
import { stringifyJson } from '../../../json/json.ts';
import { omitUndefined } from '../../../yaml/present.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import type { DraftContext, DraftHook, HookDraft } from '../../foreign-files.ts';
import { shortPath } from '../../import-context.ts';
import type { DeclaredHook } from '../../process-config.ts';
import { claudeStopCap } from './limits.ts';
import { handlerVariables, pluginDataOf } from './process.ts';
import type { ClaudeSettings, HandlerFolders } from './settings.ts';

/** A handler as read from its file. */
export interface Handler {
  readonly event: string;
  readonly matcher?: string;
  readonly condition?: string;
  readonly isAsync: boolean;
  readonly timeoutMs?: number;
  readonly onFailure?: 'deny';
  readonly run: ClaudeCommand | ClaudeHttpPost;
  readonly folders: HandlerFolders;
  readonly isPlugin: boolean;
  readonly source: SourceLocation;
  readonly commandPosition: SourceLocation;
}

export interface ClaudeCommand {
  readonly type: 'command';
  readonly command: string;
  /** Absent in the shell form. */
  readonly args?: readonly string[];
  readonly shell?: NonNullable<ClaudeSettings['shell']>;
}

export interface ClaudeHttpPost {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedEnvVars: readonly string[];
}

/** The handler as a hook that may become an entry of the config. */
export function toDraft(handler: Handler): HookDraft {
  const { event, timeoutMs, onFailure, run, source, commandPosition } = handler;
  return {
    dialect: 'claude',
    event,
    source,
    commandPosition,
    ...omitUndefined({
      timeoutMs,
      onFailure,
      duplicateKey: duplicateKeyOf(handler),
      neededEnv: run.type === 'http' ? run.allowedEnvVars : undefined,
    }),
    toHook: (context) => toHook(handler, context),
    toEntry: (folder) => toEntry(handler, folder),
  };
}

/** A key that equal handlers share; undefined for those of plugins, which are never merged. */
function duplicateKeyOf(handler: Handler): string | undefined {
  if (handler.isPlugin) return undefined;
  const { event, matcher, condition, isAsync, timeoutMs, run, folders } = handler;
  const { projectDir } = folders;
  return stringifyJson([event, matcher ?? '', condition ?? '', isAsync, timeoutMs ?? 0, run, projectDir]);
}

function toHook(handler: Handler, { env, stateFolder }: DraftContext): DraftHook {
  const { event, matcher, condition, isAsync, run, timeoutMs, folders } = handler;
  const { pluginRoot } = folders;
  const shared = {
    event,
    ...omitUndefined({ matcher, condition }),
    isAsync,
    stopCap: claudeStopCap,
    ...folders,
    ...(pluginRoot === undefined ? {} : { pluginData: pluginDataOf(stateFolder, pluginRoot) }),
  };
  if (run.type === 'http') {
    const { type: _type, ...post } = run;
    return { settings: { ...shared, http: { ...post, env, ...omitUndefined({ timeoutMs }) } } };
  }
  const { command, args = [], shell } = run;
  const settings = { ...shared, ...omitUndefined({ shell }) };
  return { exec: { command, args, cwd: folders.projectDir }, settings };
}

/** The hook with more names in the environment of its process, or for its headers. */
export function addEnv(
  hook: DeclaredHook<ClaudeSettings>,
  more: readonly string[],
): DeclaredHook<ClaudeSettings> {
  const { exec, settings } = hook;
  const { http } = settings;
  const join = (env: readonly string[]) => [...new Set([...env, ...more])];
  return {
    ...hook,
    ...(exec === undefined ? {} : { exec: { ...exec, env: join(exec.env) } }),
    settings: http === undefined ? settings : { ...settings, http: { ...http, env: join(http.env) } },
  };
}

function toEntry({ run, ...handler }: Handler, folder: string): Record<string, unknown> {
  const { folders, event, matcher, condition, isAsync, timeoutMs, onFailure } = handler;
  const block = { event, ...omitUndefined({ matcher, if: condition, async: isAsync || undefined }) };
  const shared = { ...omitUndefined({ timeout_ms: timeoutMs, on_failure: onFailure }) };
  if (run.type === 'http') {
    const { url, headers, allowedEnvVars } = run;
    const isNamed = allowedEnvVars.length > 0;
    const post = {
      type: 'http',
      url,
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(isNamed ? { allowedEnvVars } : {}),
    };
    const env = isNamed ? { env: allowedEnvVars } : {};
    return { dialect: 'claude', ...env, ...shared, claude: { ...block, ...post } };
  }
  const { command, args, shell } = run;
  const isRelative = args !== undefined && command.includes('/') && !command.includes('$');
  return {
    dialect: 'claude',
    command: isRelative ? shortPath(resolve(folders.projectDir, command), folder) : command,
    ...omitUndefined({ args }),
    cwd: shortPath(folders.projectDir, folder),
    env: [
      ...literalsOf(folders, folder),
      ...(args === undefined ? variablesOf(command, handlerVariables) : []),
    ],
    ...shared,
    claude: { ...block, ...(shell === 'bash' || shell === 'powershell' ? { shell } : {}) },
  };
}

function literalsOf({ projectDir, pluginRoot }: HandlerFolders, folder: string): string[] {
  return [
    `CLAUDE_PROJECT_DIR=${shortPath(projectDir, folder)}`,
    ...(pluginRoot === undefined ? [] : [`CLAUDE_PLUGIN_ROOT=${shortPath(pluginRoot, folder)}`]),
  ];
}
