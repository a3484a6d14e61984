import { resolve } from 'node:path';
import { findMissingScript } from '../../../base/files/missing-script.ts';
import { variablesOf } from '../../../base/files/shell-line.ts';
import { isObject, stringifyJson } from '../../../base/json/json.ts';
import { longestMs } from '../../../base/time/async.ts';
import type { Path, YamlDocument } from '../../../base/yaml/document.ts';
import { type Finding, isError } from '../../../base/yaml/finding.ts';
import { entriesAt, integerAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../../base/yaml/read.ts';
import { unwatched } from '../../../base/yaml/reads.ts';
import { findViolations } from '../../../base/yaml/violation.ts';
import { omitUndefined } from '../../../base/yaml/wording.ts';
import { type DeclaredHook, envLiteralOf, findUnfilledVariables } from '../../../process/process-config.ts';
import type { EntryCheckInput, EntryContext, EntryReading } from '../../dialect-config.ts';
import { type HookDraft, type ImportContext, shortPath } from '../../foreign-files.ts';
import { findConditionFault, findMatcherFault } from '../matcher.ts';
import { fillPlaceholders, handlerVariables, pluginDataOf } from './process.ts';
import { allowedVariables, checkPost, claudeHandlerSchema, describeRefusedType } from './schema.ts';
import {
  type ClaudeHttp,
  type ClaudeSettings,
  claudeConditionEvents,
  claudeEventsWithoutOnFailure,
  claudeStopCap,
  type HandlerFolders,
} from './settings.ts';

type KeyPath = (key: string) => Path;

interface Handler {
  readonly event: string;
  readonly matcher: string | undefined;
  readonly condition: string | undefined;
  readonly isAsync: boolean;
  readonly run: ClaudeCommand | ClaudePost;
}

interface ClaudeCommand {
  readonly type: 'command';
  readonly command: string;
  readonly args?: readonly string[];
  readonly shell?: NonNullable<ClaudeSettings['shell']>;
}

interface ClaudePost extends Pick<ClaudeHttp, 'url' | 'headers' | 'allowedEnvVars'> {
  readonly type: 'http';
}

function readRun(document: YamlDocument, at: KeyPath): Handler['run'] {
  if (valueAt(document, at('type')) === 'http') {
    const headers = entriesAt(document, at('headers'));
    return {
      type: 'http',
      url: textAt(document, at('url')) ?? '',
      headers: Object.fromEntries(headers.map(({ name, path }) => [name, textAt(document, path) ?? ''])),
      allowedEnvVars: textsAt(document, at('allowedEnvVars')),
    };
  }
  const command = textAt(document, at('command')) ?? '';
  // Any `args` make it the exec form, in which no shell reads the command.
  if (Array.isArray(valueAt(document, at('args')))) {
    const args = itemsAt(document, at('args')).map((item) => textAt(document, item) ?? '');
    return { type: 'command', command, args };
  }
  const shell = valueAt(document, at('shell'));
  return { type: 'command', command, shell: shell === 'bash' || shell === 'powershell' ? shell : 'sh' };
}

function textsAt(document: YamlDocument, path: Path): string[] {
  return itemsAt(document, path).flatMap((item) => textAt(document, item) ?? []);
}

/** The third parameter has the limits of a POST, and the only variables that its headers may use. */
function toSettings(
  { event, matcher, condition, isAsync, run }: Handler,
  { stopCap = claudeStopCap, ...folders }: HandlerFolders & { readonly stopCap?: number },
  { env, timeoutMs, maxOutputBytes }: Pick<ClaudeHttp, 'env' | 'timeoutMs' | 'maxOutputBytes'>,
): ClaudeSettings {
  const shared = { event, isAsync, ...omitUndefined({ matcher, condition }), stopCap, ...folders };
  if (run.type === 'command') return { ...shared, ...omitUndefined({ shell: run.shell }) };
  const { type: _type, ...post } = run;
  return { ...shared, http: { ...post, env, ...omitUndefined({ timeoutMs, maxOutputBytes }) } };
}

function checkCondition(event: string, condition: string | undefined, path: Path): Finding[] {
  if (condition === undefined) return [];
  const message = `a handler with \`if\` never runs at ${event}`;
  const fault = findConditionFault(condition);
  return [
    ...(claudeConditionEvents.has(event) ? [] : [{ severity: 'warning', path, message } as const]),
    ...(fault === undefined ? [] : [{ severity: 'error', path, message: fault } as const]),
  ];
}

function checkCommand(
  { command, args, shell }: ClaudeCommand,
  path: Path,
  folders: HandlerFolders,
  places: {
    readonly cwd: string;
    readonly folder: string;
    readonly searchPath: string;
    readonly start: string;
  },
): Finding[] {
  const isLine = args === undefined;
  if (isLine && /\$\{user_config\.[^}]*\}/.test(command)) {
    const hint = 'Write $CLAUDE_PLUGIN_OPTION_<KEY>, or use the exec form with `args`.';
    return [{ severity: 'error', path, message: '${user_config.…} is not replaced in a shell line', hint }];
  }
  if (shell === 'powershell') return [];
  const fill = (text: string) => fillPlaceholders(text, folders, isLine);
  const { start, ...where } = places;
  const filled = { command: fill(command), ...(isLine ? {} : { args: args.map(fill) }) };
  const message = findMissingScript({ ...filled, ...where });
  const hint = `Without it the hook would block everything, or let everything pass. ${start}`;
  return message === undefined ? [] : [{ severity: 'error', path, message, hint, about: 'program' }];
}

function keysOfEntry(path: Path): KeyPath {
  return (key) => (key === 'command' || key === 'args' ? [...path, key] : [...path, 'claude', key]);
}

export function readEntry(
  document: YamlDocument,
  path: Path,
  { exec, folder, stateFolder }: EntryContext,
): EntryReading<ClaudeSettings> {
  const at = keysOfEntry(path);
  const handler = readEntryHandler(document, at);
  const stopCap = integerAt(document, at('stop_cap'), 0) ?? claudeStopCap;
  const { pluginRoot, ...folders } = foldersIn(exec.env, folder);
  const data = envLiteralOf(exec.env, 'CLAUDE_PLUGIN_DATA');
  const plugin = pluginRoot && {
    pluginRoot,
    pluginData: data === undefined ? pluginDataOf(stateFolder, pluginRoot) : resolve(folder, data),
  };
  const settings = toSettings(handler, { ...folders, ...plugin, stopCap }, exec);
  return { ...(handler.run.type === 'http' ? {} : { exec }), settings };
}

function readEntryHandler(document: YamlDocument, at: KeyPath): Handler {
  return {
    event: textAt(document, at('event')) ?? '',
    matcher: textAt(document, at('matcher')),
    condition: nonEmptyTextAt(document, at('if')),
    isAsync: valueAt(document, at('async')) === true,
    run: readRun(document, at),
  };
}

function foldersIn(env: readonly string[], folder: string): HandlerFolders {
  const root = envLiteralOf(env, 'CLAUDE_PLUGIN_ROOT');
  return {
    projectDir: resolve(folder, envLiteralOf(env, 'CLAUDE_PROJECT_DIR') ?? '.'),
    ...(root === undefined ? {} : { pluginRoot: resolve(folder, root) }),
  };
}

export function checkEntry({ document, path, folder, searchPath }: EntryCheckInput): Finding[] {
  const at = keysOfEntry(path);
  const has = (key: string) => valueAt(document, at(key)) !== undefined;
  const fault = (key: string, message: string): Finding => ({
    severity: 'error',
    path: at(key),
    message,
    atKey: true,
  });
  const { event, matcher, condition, run } = readEntryHandler(document, at);
  const isPost = run.type === 'http';
  const required = isPost ? 'url' : 'command';
  const misplaced = isPost ? ['command', 'args', 'shell'] : ['url', 'headers', 'allowedEnvVars'];
  const why = isPost ? 'is not allowed in an http handler' : 'needs `type: http`';
  const matcherFault = event === '' || matcher === undefined ? undefined : findMatcherFault(event, matcher);
  const findings: Finding[] = [
    ...(has(required) ? [] : [fault(required, 'is required')]),
    ...misplaced.filter(has).map((key) => fault(key, why)),
    ...(!isPost && has('args') && has('shell')
      ? [fault('shell', 'cannot be combined with `args`, which need no shell')]
      : []),
    ...(matcherFault === undefined
      ? []
      : [{ severity: 'error', path: at('matcher'), message: matcherFault } as const]),
    ...checkCondition(event, condition, at('if')),
  ];
  const env = textsAt(document, [...path, 'env']);
  if (isPost) {
    const unfilled = findUnfilledVariables(run.allowedEnvVars, env);
    const place = { severity: 'warning', path: at('allowedEnvVars') } as const;
    return [...findings, ...unfilled.map((message) => ({ ...place, message }))];
  }
  if (run.command === '' || textAt(document, at('shell')) === 'powershell') return findings;
  const cwd = resolve(folder, nonEmptyTextAt(document, [...path, 'cwd']) ?? '.');
  const start = 'Relative paths start at `cwd`.';
  const places = { cwd, folder, searchPath, start };
  return [...findings, ...checkCommand(run, at('command'), foldersIn(env, folder), places)];
}

/** A fault of the group drops all handlers, a fault of a handler only that one. */
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
    readDeclared(context, event, handler, (key) => (key === 'matcher' ? matcherPath : [...handler, key])),
  );
}

function readDeclared(context: ImportContext, event: string, path: Path, at: KeyPath): HookDraft[] {
  const { document, projectDir, pluginRoot, searchPath, judge, isPlugin, addFinding } = context;
  const value = valueAt(document, path);
  const type = isObject(value) ? value['type'] : undefined;
  const refused = typeof type === 'string' ? describeRefusedType(type, judge) : undefined;
  if (refused !== undefined) {
    const hint = type === 'prompt' ? { hint: promptHint } : {};
    addFinding({ severity: 'error', path, message: refused, ...hint });
    return [];
  }
  const violations = findViolations(unwatched(value), claudeHandlerSchema);
  for (const { message, hint, ...violation } of violations) {
    addFinding({ severity: 'error', path: [...path, ...violation.path], message, hint });
  }
  if (violations.length > 0) return [];

  const isPrompt = judge !== undefined && type === 'prompt';
  const promptMs = isPrompt ? (readTimeout(context, at('timeout')) ?? promptTimeoutMs) : undefined;
  const given = isPrompt
    ? promptCommand(textAt(document, at('prompt')) ?? '', judge, promptMs)
    : readRun(document, at);
  const run =
    given.type === 'http'
      ? { ...given, allowedEnvVars: allowedVariables(context, given.allowedEnvVars) }
      : given;
  const condition = nonEmptyTextAt(document, at('if'));
  const folders = { projectDir, ...omitUndefined({ pluginRoot }) };
  const start = 'Paths start at the project’s folder.';
  const places = { cwd: projectDir, folder: projectDir, searchPath, start };
  const findings = [
    ...(run.type === 'http'
      ? checkPost(context, run.url, at('url'))
      : checkCommand(run, at('command'), folders, places)),
    ...checkCondition(event, condition, at('if')),
  ];
  for (const finding of findings) addFinding(finding);
  if (findings.some(isError)) return [];

  const handler = {
    event,
    matcher: textAt(document, at('matcher')),
    condition,
    isAsync: readAsync(context, at),
    run,
  };
  const timeoutMs = promptMs ?? readTimeout(context, at('timeout'));
  const onFailure = isPrompt || blocksOnFailure(context, event, at('onFailure')) ? 'deny' : undefined;
  const key = isPrompt ? 'prompt' : run.type === 'http' ? 'url' : 'command';
  return [
    {
      dialect: 'claude',
      event,
      source: document.positionOf(path),
      commandPosition: document.positionOf(at(key)),
      ...omitUndefined({
        timeoutMs,
        onFailure,
        duplicateKey: isPlugin ? undefined : duplicateKeyOf(handler, timeoutMs, projectDir),
        neededEnv: run.type === 'http' ? run.allowedEnvVars : undefined,
      }),
      toHook: ({ env, stateFolder }) => {
        const plugin = pluginRoot && { pluginData: pluginDataOf(stateFolder, pluginRoot) };
        const settings = toSettings(
          handler,
          { ...folders, ...plugin },
          { env, ...omitUndefined({ timeoutMs }) },
        );
        if (run.type === 'http') return { settings };
        return { exec: { command: run.command, args: run.args ?? [], cwd: projectDir }, settings };
      },
      toEntry: (folder) =>
        toEntry(handler, folders, {
          folder,
          ...omitUndefined({ timeout_ms: timeoutMs, on_failure: onFailure }),
        }),
    },
  ];
}

const promptHint =
  'Or set `prompt_provider` beside `dialect: claude` of the import, so that a declared provider judges.';

function duplicateKeyOf(
  { event, matcher = '', condition = '', isAsync, run }: Handler,
  timeoutMs = 0,
  projectDir = '',
): string {
  return stringifyJson([event, matcher, condition, isAsync, timeoutMs, run, projectDir]);
}

/** At events that cannot be blocked, Claude Code ignores `onFailure`. */
function blocksOnFailure({ document, addFinding }: ImportContext, event: string, path: Path): boolean {
  if (valueAt(document, path) !== 'block') return false;
  if (!claudeEventsWithoutOnFailure.has(event)) return true;
  addFinding({ severity: 'warning', path, message: `has no effect at ${event}` });
  return false;
}

function readAsync({ document, addFinding }: ImportContext, at: KeyPath): boolean {
  const wakes = valueAt(document, at('asyncRewake')) === true;
  if (wakes) {
    const message = 'is read as `async`: an idle model is not woken';
    addFinding({ severity: 'warning', path: at('asyncRewake'), message, atKey: true });
  }
  return wakes || valueAt(document, at('async')) === true;
}

function readTimeout({ document, addFinding }: ImportContext, path: Path): number | undefined {
  const seconds = valueAt(document, path);
  if (seconds === undefined || seconds === null) return undefined;
  const timeoutMs = typeof seconds === 'number' ? Math.round(seconds * 1000) : Number.NaN;
  if (timeoutMs >= 1) return Math.min(timeoutMs, longestMs);
  const message = 'is not a number of seconds above 0; the default applies';
  addFinding({ severity: 'warning', path, message });
  return undefined;
}

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

function toEntry(
  { event, matcher, condition, isAsync, run }: Handler,
  { projectDir, pluginRoot }: HandlerFolders,
  {
    folder,
    ...shared
  }: { readonly folder: string; readonly timeout_ms?: number; readonly on_failure?: string },
): Readonly<Record<string, unknown>> {
  const block = { event, ...omitUndefined({ matcher, if: condition, async: isAsync || undefined }) };
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
  const cwd = shortPath(projectDir, folder);
  return {
    dialect: 'claude',
    command: isRelative ? shortPath(resolve(projectDir, command), folder) : command,
    ...omitUndefined({ args }),
    cwd,
    env: [
      `CLAUDE_PROJECT_DIR=${cwd}`,
      ...(pluginRoot === undefined ? [] : [`CLAUDE_PLUGIN_ROOT=${shortPath(pluginRoot, folder)}`]),
      ...(args === undefined ? variablesOf(command, handlerVariables) : []),
    ],
    ...shared,
    claude: { ...block, ...(shell === 'bash' || shell === 'powershell' ? { shell } : {}) },
  };
}

/** The default timeout of a prompt handler. Source: hooks reference, "Prompt-based hooks". */
const promptTimeoutMs = 30_000;

/**
 * The program that answers a handler of type prompt. It asks the provider, and blocks unless it receives a yes in time.
 */
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
