import { join, resolve } from 'node:path';
import { findMissingScript } from '../../../base/files/missing-script.ts';
import { isObject } from '../../../base/json/json.ts';
import type { Path, YamlDocument } from '../../../base/yaml/document.ts';
import type { Finding } from '../../../base/yaml/finding.ts';
import { omitUndefined } from '../../../base/yaml/present.ts';
import { entriesAt, integerAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../../base/yaml/read.ts';
import type { VolatileFields } from '../../../process/cassette/volatile-fields.ts';
import { envLiteralOf, findUnfilledVariables, type ProcessConfig } from '../../../process/process-config.ts';
import type { DialectConfig, EntryCheckInput, EntryContext, EntryReading } from '../../dialect-config.ts';
import { findConditionFault, findMatcherFault } from '../matcher.ts';
import { points, pointsAt } from '../points.ts';
import { addEnv, readGroup } from './import.ts';
import { endpointOf, fillPlaceholders, pluginDataOf, toProcess } from './process.ts';
import { claudeEntry, claudeFileKeys, claudeHandlerSchema, claudeManifestKeys } from './schema.ts';
import {
  type ClaudeHttp,
  type ClaudeSettings,
  capTimeout,
  claudeConditionEvents,
  claudeEvents,
  claudeGuardEvents,
  claudeStopCap,
  timeoutMs,
} from './settings.ts';

/** What stands at the top level of every payload. */
const volatileFields: VolatileFields = {
  session_id: 'drop run ids',
  prompt_id: 'drop',
  transcript_path: 'drop',
  agent_transcript_path: 'drop',
  // Where the project lies on this machine.
  cwd: 'drop',
  tool_use_id: 'drop',
  duration_ms: 'drop',
  turn_id: 'drop run ids',
  tool_calls: { each: { tool_use_id: 'drop' } },
};

/** Hooks written for Claude Code, as a config declares or imports them. */
export const claude: DialectConfig<ClaudeSettings> = {
  name: 'claude',
  title: 'Claude Code',
  points,
  pointsAt,
  loadHooks: async () => (await import('../dialect.ts')).claude,
  loadTrial: async () => (await import('../trial.ts')).trial,
  loadInbound: async () => (await import('../inbound/inbound.ts')).inbound,
  volatileFields,
  entry: claudeEntry,
  readEntry,
  checkEntry,
  declaredPoints: ({ event }) => [event],
  failsOpen: ({ settings: { event, isAsync, http } }) =>
    isAsync || !claudeGuardEvents.has(event) ? undefined : causesOf(http !== undefined),
  timeoutMs,
  capTimeout,
  toProcess,
  endpointOf,
  folderOf: ({ projectDir }) => projectDir,
  ownFolderOf: ({ pluginData: path }) =>
    path === undefined ? undefined : { variable: 'CLAUDE_PLUGIN_DATA', path },
  files: {
    schemas: [claudeHandlerSchema],
    events: {
      names: claudeEvents,
      fileKeys: claudeFileKeys,
      manifestKeys: claudeManifestKeys,
      addsManifestHooks: true,
      unknownEvent: (event) => `there is no event ${event}; its handlers never run`,
      settingsFolder: '.claude',
      manifest: join('.claude-plugin', 'plugin.json'),
      needsHooksKey: true,
      entry: 'a Claude Code group',
      example: 'a group is {"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}',
      isOwn: (entry) => isObject(entry) && Array.isArray(entry['hooks']) && !Object.hasOwn(entry, 'type'),
      read: readGroup,
    },
    addEnv,
  },
};

function causesOf(isHttp: boolean): string {
  return isHttp
    ? 'a status other than 2xx, an answer that is not valid, a timeout, no connection'
    : 'an exit code other than 0 and 2, an answer that is not valid, a timeout, a failed start';
}

/** The Claude Code handler that an entry of `spec.hooks` declares. */
function readEntry(document: YamlDocument, path: Path, context: EntryContext): EntryReading<ClaudeSettings> {
  const { exec } = context;
  const block = [...path, 'claude'];
  const isHttp = textAt(document, [...block, 'type']) === 'http';
  const settings: ClaudeSettings = {
    event: textAt(document, [...block, 'event']) ?? '',
    isAsync: valueAt(document, [...block, 'async']) === true,
    ...omitUndefined({
      matcher: textAt(document, [...block, 'matcher']),
      condition: nonEmptyTextAt(document, [...block, 'if']),
      http: isHttp ? readHttp(document, block, exec) : undefined,
      shell: isHttp ? undefined : readShell(document, path),
    }),
    stopCap: integerAt(document, [...block, 'stop_cap'], 0) ?? claudeStopCap,
    ...readFolders(exec.env, context),
  };
  return { ...(isHttp ? {} : { exec }), settings };
}

/** The shell that reads the line; undefined in the exec form, which any `args` make. */
function readShell(document: YamlDocument, path: Path): ClaudeSettings['shell'] {
  if (Array.isArray(valueAt(document, [...path, 'args']))) return undefined;
  const named = textAt(document, [...path, 'claude', 'shell']);
  return named === 'bash' || named === 'powershell' ? named : 'sh';
}

function readHttp(document: YamlDocument, block: Path, exec: ProcessConfig): ClaudeHttp {
  const headers = entriesAt(document, [...block, 'headers']);
  return {
    url: textAt(document, [...block, 'url']) ?? '',
    headers: Object.fromEntries(headers.map(({ name, path }) => [name, textAt(document, path) ?? ''])),
    allowedEnvVars: itemsAt(document, [...block, 'allowedEnvVars']).flatMap(
      (item) => textAt(document, item) ?? [],
    ),
    env: exec.env,
    ...omitUndefined({ timeoutMs: exec.timeoutMs, maxOutputBytes: exec.maxOutputBytes }),
  };
}

/** The folders of a handler, from literals in `env`; relative ones start at the folder of the config file. */
function readFolders(env: readonly string[], { folder, stateFolder }: EntryContext) {
  const projectDir = resolve(folder, envLiteralOf(env, 'CLAUDE_PROJECT_DIR') ?? '.');
  const root = envLiteralOf(env, 'CLAUDE_PLUGIN_ROOT');
  if (root === undefined) return { projectDir };
  const pluginRoot = resolve(folder, root);
  const data = envLiteralOf(env, 'CLAUDE_PLUGIN_DATA');
  const pluginData = data === undefined ? pluginDataOf(stateFolder, pluginRoot) : resolve(folder, data);
  return { projectDir, pluginRoot, pluginData };
}

/** Checks a Claude Code handler beyond the schema: combinations of keys, matcher, `if`, script. */
function checkEntry(check: EntryCheckInput): Finding[] {
  const { document, path } = check;
  const isHttp = textAt(document, [...path, 'claude', 'type']) === 'http';
  return [
    ...checkForm(check, isHttp),
    ...checkMatcher(check),
    ...checkCondition(check),
    ...(isHttp ? checkVariables(check) : checkScript(check)),
  ];
}

function checkForm({ document, path }: EntryCheckInput, isHttp: boolean): Finding[] {
  const has = (key: string) => valueAt(document, [...path, ...key.split('.')]) !== undefined;
  const reject = (key: string, message: string): Finding[] =>
    has(key) ? [{ severity: 'error', path: [...path, ...key.split('.')], message, atKey: true }] : [];
  const require = (key: string): Finding[] =>
    has(key)
      ? []
      : [{ severity: 'error', path: [...path, ...key.split('.')], message: 'is required', atKey: true }];
  if (isHttp) {
    const message = 'has no place in an http handler';
    return [
      ...require('claude.url'),
      ...['command', 'args', 'claude.shell'].flatMap((key) => reject(key, message)),
    ];
  }
  const message = 'needs `type: http`';
  const shell = has('args')
    ? reject('claude.shell', 'has no place beside `args`, where there is no shell')
    : [];
  const misplaced = ['claude.url', 'claude.headers', 'claude.allowedEnvVars'].flatMap((key) =>
    reject(key, message),
  );
  return [...require('command'), ...misplaced, ...shell];
}

function checkMatcher({ document, path }: EntryCheckInput): Finding[] {
  const at = [...path, 'claude', 'matcher'];
  const [event, matcher] = [textAt(document, [...path, 'claude', 'event']), textAt(document, at)];
  if (event === undefined || matcher === undefined) return [];
  return errorAt(at, findMatcherFault(event, matcher));
}

function checkCondition({ document, path }: EntryCheckInput): Finding[] {
  const at = [...path, 'claude', 'if'];
  const [event, rule] = [textAt(document, [...path, 'claude', 'event']) ?? '', nonEmptyTextAt(document, at)];
  if (rule === undefined) return [];
  const neverRuns: Finding = {
    severity: 'warning',
    path: at,
    message: `a handler with \`if\` never runs at ${event}`,
  };
  const findings = errorAt(at, findConditionFault(rule));
  return claudeConditionEvents.has(event) ? findings : [neverRuns, ...findings];
}

function errorAt(path: Path, message: string | undefined): Finding[] {
  return message === undefined ? [] : [{ severity: 'error', path, message }];
}

function checkVariables({ document, path }: EntryCheckInput): Finding[] {
  const at = [...path, 'claude', 'allowedEnvVars'];
  const texts = (list: Path) => itemsAt(document, list).flatMap((item) => textAt(document, item) ?? []);
  return findUnfilledVariables(texts(at), texts([...path, 'env'])).map((message) => ({
    severity: 'warning',
    path: at,
    message,
  }));
}

function checkScript({ document, path, folder, searchPath }: EntryCheckInput): Finding[] {
  const at = [...path, 'command'];
  const command = nonEmptyTextAt(document, at);
  if (command === undefined || textAt(document, [...path, 'claude', 'shell']) === 'powershell') return [];
  const isLine = !Array.isArray(valueAt(document, [...path, 'args']));
  if (isLine && /\$\{user_config\.[^}]*\}/.test(command)) {
    const hint = 'Write $CLAUDE_PLUGIN_OPTION_<KEY>, or use the exec form with `args`.';
    return [
      { severity: 'error', path: at, message: '${user_config.…} is not replaced in a shell line', hint },
    ];
  }
  const env = itemsAt(document, [...path, 'env']).flatMap((item) => textAt(document, item) ?? []);
  const folders = {
    projectDir: resolve(folder, envLiteralOf(env, 'CLAUDE_PROJECT_DIR') ?? '.'),
    ...rootOf(envLiteralOf(env, 'CLAUDE_PLUGIN_ROOT'), folder),
  };
  const fill = (text: string) => fillPlaceholders(text, folders, isLine);
  const args = itemsAt(document, [...path, 'args']).map((item) => fill(textAt(document, item) ?? ''));
  const message = findMissingScript({
    command: fill(command),
    ...(isLine ? {} : { args }),
    cwd: resolve(folder, nonEmptyTextAt(document, [...path, 'cwd']) ?? '.'),
    folder,
    searchPath,
  });
  return message === undefined
    ? []
    : [{ severity: 'error', path: at, message, hint: missingHint, about: 'program' }];
}

function rootOf(root: string | undefined, folder: string): { pluginRoot?: string } {
  return root === undefined ? {} : { pluginRoot: resolve(folder, root) };
}

const missingHint =
  'Without it the hook would block everything, or let everything pass. Relative paths start at `cwd`.';
