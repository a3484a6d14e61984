import { resolve } from 'node:path';
import { findMissingScript } from '../../../base/files/missing-script.ts';
import { variablesOf } from '../../../base/files/shell-line.ts';
import { isObject, stringifyJson } from '../../../base/json/json.ts';
import { longestMs } from '../../../base/time/longest-timer.ts';
import type { Path } from '../../../base/yaml/document.ts';
import { omitUndefined } from '../../../base/yaml/present.ts';
import type { SourceLocation } from '../../../base/yaml/problem.ts';
import { itemsAt, textAt, valueAt } from '../../../base/yaml/read.ts';
import { unwatched } from '../../../base/yaml/reads.ts';
import { findViolations } from '../../../base/yaml/violation.ts';
import type { DeclaredHook } from '../../../process/process-config.ts';
import {
  type DraftContext,
  type DraftHook,
  type HookDraft,
  type ImportContext,
  shortPath,
} from '../../foreign-files.ts';
import { findConditionFault, findMatcherFault } from '../matcher.ts';
import { fillPlaceholders, handlerVariables, pluginDataOf } from './process.ts';
import { allowedVariables, checkPost, claudeHandlerSchema, describeRefusedType } from './schema.ts';
import {
  type ClaudeSettings,
  claudeConditionEvents,
  claudeEventsWithoutOnFailure,
  claudeStopCap,
  type HandlerFolders,
} from './settings.ts';

/** The handlers of the matcher group at `path`. A fault of the group drops all of them, one of a handler only it. */
export function readGroup(context: ImportContext, event: string, path: Path): HookDraft[] {
  const { document, addFinding } = context;
  const matcherPath = [...path, 'matcher'];
  const matcher = valueAt(document, matcherPath) ?? undefined;
  if (matcher !== undefined && typeof matcher !== 'string') {
    const hint = 'A Claude group has `matcher: "Edit|Write"`; a mapping belongs to an Agentao rule.';
    addFinding({ severity: 'error', path: matcherPath, message: 'must be a string', hint });
    return [];
  }
  const fault = matcher === undefined ? undefined : findMatcherFault(event, matcher);
  if (fault !== undefined) {
    addFinding({ severity: 'error', path: matcherPath, message: fault });
    return [];
  }
  return itemsAt(document, [...path, 'hooks']).flatMap((handler) =>
    readHandler(context, { event, matcher }, handler),
  );
}

interface Group {
  readonly event: string;
  readonly matcher: string | undefined;
}

function readHandler(context: ImportContext, group: Group, path: Path): HookDraft[] {
  const { document, projectDir, pluginRoot, isPlugin } = context;
  if (!checkShape(context, path)) return [];
  const run = readProcessOrPost(context, path);
  const condition = textAt(document, [...path, 'if']) || undefined;
  const isPrompt = textAt(document, [...path, 'type']) === 'prompt';
  const isValid = [
    run.type === 'http' ? checkPost(context, run.url, path) : checkCommand(context, run, path),
    checkCondition(context, { event: group.event, condition }, [...path, 'if']),
  ].every((passed) => passed);
  if (!isValid) return [];
  return [
    toDraft({
      event: group.event,
      ...omitUndefined({ matcher: group.matcher, condition }),
      isAsync: readAsync(context, path),
      ...omitUndefined({
        timeoutMs: readTimeout(context, [...path, 'timeout']) ?? (isPrompt ? promptTimeoutMs : undefined),
        onFailure: isPrompt || blocksOnFailure(context, group.event, path) ? ('deny' as const) : undefined,
      }),
      run,
      folders: { projectDir, ...omitUndefined({ pluginRoot }) },
      isPlugin,
      source: document.positionOf(path),
      commandPosition: document.positionOf([
        ...path,
        isPrompt ? 'prompt' : run.type === 'http' ? 'url' : 'command',
      ]),
    }),
  ];
}

/** Whether a failure of the handler blocks. At events that only let work go on, Claude Code ignores `onFailure`. */
function blocksOnFailure({ document, addFinding }: ImportContext, event: string, path: Path): boolean {
  const at = [...path, 'onFailure'];
  if (valueAt(document, at) !== 'block') return false;
  if (!claudeEventsWithoutOnFailure.has(event)) return true;
  addFinding({ severity: 'warning', path: at, message: `has no effect at ${event}` });
  return false;
}

function checkShape({ document, judge, addFinding }: ImportContext, path: Path): boolean {
  const value = valueAt(document, path);
  const type = isObject(value) ? value['type'] : undefined;
  const refused = typeof type === 'string' ? describeRefusedType(type, judge) : undefined;
  if (refused !== undefined) {
    const hint = type === 'prompt' ? { hint: promptHint } : {};
    addFinding({ severity: 'error', path, message: refused, ...hint });
    return false;
  }
  const violations = findViolations(unwatched(value), claudeHandlerSchema);
  for (const { message, hint, ...violation } of violations) {
    addFinding({ severity: 'error', path: [...path, ...violation.path], message, hint });
  }
  return violations.length === 0;
}

const promptHint =
  'Or let a declared provider judge: `prompt_provider` beside `dialect: claude` of the import.';

function readProcessOrPost(context: ImportContext, path: Path): ClaudeCommand | ClaudeHttpPost {
  const { document, judge } = context;
  const at = (key: string): Path => [...path, key];
  if (judge !== undefined && valueAt(document, at('type')) === 'prompt')
    return promptCommand(textAt(document, at('prompt')) ?? '', judge, readTimeout(context, at('timeout')));
  if (valueAt(document, at('type')) === 'http') {
    const headers = valueAt(document, at('headers'));
    const names = isObject(headers) ? document.keysOf(at('headers')) : [];
    return {
      type: 'http',
      url: textAt(document, at('url')) ?? '',
      headers: Object.fromEntries(
        names.map((name) => [name, textAt(document, [...at('headers'), name]) ?? '']),
      ),
      allowedEnvVars: allowedVariables(
        context,
        itemsAt(document, at('allowedEnvVars')).flatMap((item) => textAt(document, item) ?? []),
      ),
    };
  }
  const command = textAt(document, at('command')) ?? '';
  if (Array.isArray(valueAt(document, at('args')))) {
    const args = itemsAt(document, at('args')).map((item) => textAt(document, item) ?? '');
    return { type: 'command', command, args };
  }
  const shell = valueAt(document, at('shell'));
  return { type: 'command', command, shell: shell === 'bash' || shell === 'powershell' ? shell : 'sh' };
}

function checkCommand(
  { projectDir, pluginRoot, searchPath, addFinding }: ImportContext,
  run: ClaudeCommand,
  path: Path,
): boolean {
  const { command, args, shell } = run;
  const at = [...path, 'command'];
  if (args === undefined && /\$\{user_config\.[^}]*\}/.test(command)) {
    const hint = 'Write $CLAUDE_PLUGIN_OPTION_<KEY>, or use the exec form with `args`.';
    const message = '${user_config.…} is not replaced in a shell line';
    addFinding({ severity: 'error', path: at, message, hint });
    return false;
  }
  if (shell === 'powershell') return true;
  const folders = { projectDir, ...omitUndefined({ pluginRoot }) };
  const fill = (text: string) => fillPlaceholders(text, folders, args === undefined);
  const missing = findMissingScript({
    command: fill(command),
    ...(args === undefined ? {} : { args: args.map(fill) }),
    cwd: projectDir,
    folder: projectDir,
    searchPath,
  });
  if (missing !== undefined) addFinding({ path: at, message: missing, hint: missingHint, about: 'program' });
  return missing === undefined;
}

/** The hint for a missing script. */
const missingHint =
  'Without it the hook would block everything, or let everything pass. Paths start at the project’s folder.';

function checkCondition(
  { addFinding }: ImportContext,
  { event, condition }: { readonly event: string; readonly condition: string | undefined },
  path: Path,
): boolean {
  if (condition === undefined) return true;
  if (!claudeConditionEvents.has(event)) {
    const message = `a handler with \`if\` never runs at ${event}`;
    addFinding({ severity: 'warning', path, message });
  }
  const fault = findConditionFault(condition);
  if (fault !== undefined) addFinding({ severity: 'error', path, message: fault });
  return fault === undefined;
}

function readAsync({ document, addFinding }: ImportContext, path: Path): boolean {
  const wakes = valueAt(document, [...path, 'asyncRewake']) === true;
  if (wakes) {
    const message = 'is read as `async`: an idle model is not woken';
    addFinding({ severity: 'warning', path: [...path, 'asyncRewake'], message, atKey: true });
  }
  return wakes || valueAt(document, [...path, 'async']) === true;
}

/** Seconds in the file; fractions count. */
function readTimeout({ document, addFinding }: ImportContext, path: Path): number | undefined {
  const seconds = valueAt(document, path);
  if (seconds === undefined || seconds === null) return undefined;
  const timeoutMs = typeof seconds === 'number' ? Math.round(seconds * 1000) : Number.NaN;
  if (timeoutMs >= 1) return Math.min(timeoutMs, longestMs);
  const message = 'is no number of seconds above 0; the default applies';
  addFinding({ severity: 'warning', path, message });
  return undefined;
}

/** A handler as read from its file. */
interface Handler {
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

interface ClaudeCommand {
  readonly type: 'command';
  readonly command: string;
  /** Absent in the shell form. */
  readonly args?: readonly string[];
  readonly shell?: NonNullable<ClaudeSettings['shell']>;
}

interface ClaudeHttpPost {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedEnvVars: readonly string[];
}

/** The handler as a hook that may become an entry of the config. */
function toDraft(handler: Handler): HookDraft {
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

/** How long a prompt handler may take that names no time, in milliseconds. Source: hooks reference, "Prompt-based hooks". */
const promptTimeoutMs = 30_000;

/** What answers a handler of type prompt: a program of ours that asks the provider, and blocks when it is not told a yes before the time is up. */
function promptCommand(
  prompt: string,
  { provider, configFiles }: NonNullable<ImportContext['judge']>,
  timeoutMs = promptTimeoutMs,
): ClaudeCommand {
  const answerMs = Math.max(1, Math.floor(Math.min(timeoutMs * 0.8, timeoutMs - 1_000)));
  return {
    type: 'command',
    command: 'signalbox-prompt',
    args: [
      ...['--prompt', prompt, ...configFiles.flatMap((file) => ['--config', file])],
      ...['--judge', provider, '--timeout', String(answerMs)],
    ],
  };
}
