import { resolve } from 'node:path';
import { findMissingScript, type ScriptCommand } from '../../../base/files/missing-script.ts';
import { variablesOf } from '../../../base/files/shell-line.ts';
import { isObject } from '../../../base/json/json.ts';
import type { Path, YamlDocument } from '../../../base/yaml/document.ts';
import { type Finding, isError } from '../../../base/yaml/finding.ts';
import { integerAt, nonEmptyTextAt, textAt, valueAt } from '../../../base/yaml/read.ts';
import { omitUndefined } from '../../../base/yaml/wording.ts';
import {
  type DialectConfig,
  type EntryCheckInput,
  type EntryContext,
  type EntryReading,
  sharedVolatileFields,
} from '../../dialect-config.ts';
import { type HookDraft, type ImportContext, type KeyUses, shortPath } from '../../foreign-files.ts';
import { findMatcherFaults } from '../matcher.ts';
import { points, pointsAt } from '../points.ts';
import {
  type AgentaoSettings,
  agentaoEntry,
  agentaoEvents,
  agentaoGuardEvents,
  agentaoMandatoryEvents,
  agentaoStopCap,
} from './settings.ts';

const manifestKeys: KeyUses = {
  hooks: 'read',
  ...Object.fromEntries(
    ['$schema', 'name', 'version', 'description', 'author', 'homepage', 'repository', 'license', 'keywords']
      .concat(['skills', 'commands', 'agents', 'mcpServers', 'tools', 'enabled'])
      .map((key) => [key, 'irrelevant'] as const),
  ),
};

export const agentao: DialectConfig<AgentaoSettings> = {
  name: 'agentao',
  title: 'agentao',
  points,
  pointsAt,
  loadHooks: async () => (await import('../dialect.ts')).agentao,
  loadTrial: async () => (await import('../dialect.ts')).trial,
  loadInbound: async () => (await import('../inbound/inbound.ts')).inbound,
  volatileFields: { ...sharedVolatileFields, data: { sessionId: 'drop run ids', cwd: 'drop' } },
  entry: agentaoEntry,
  readEntry,
  checkEntry,
  declaredPoints: ({ event }) => [event],
  failsOpen: ({ exec, settings: { event } }) =>
    exec !== undefined && agentaoGuardEvents.has(event)
      ? 'an exit code other than 0, an answer that was cut off, a timeout, a failed start'
      : undefined,
  timeoutMs: () => 60_000,
  toProcess: (_settings, exec) => ({ exec: { ...exec, command: '/bin/sh', args: ['-c', exec.command] } }),
  folderOf: ({ projectDir }) => projectDir,
  files: {
    events: {
      names: agentaoEvents,
      fileKeys: { $schema: 'irrelevant', hooks: 'read', description: 'irrelevant' },
      manifestKeys,
      settingsFolder: '.agentao',
      needsHooksKey: false,
      entry: 'an Agentao rule',
      example: 'a rule {"type": "command", "command": "…"}',
      isOwn: (entry) => isObject(entry) && Object.hasOwn(entry, 'type') && !Object.hasOwn(entry, 'hooks'),
      read: readRule,
      reportUnknownForm,
    },
  },
};

function readEntry(
  document: YamlDocument,
  path: Path,
  { exec, folder }: EntryContext,
): EntryReading<AgentaoSettings> {
  const block = [...path, 'agentao'];
  const matcher = valueAt(document, [...block, 'matcher']);
  const prompt = textAt(document, [...block, 'prompt']);
  const isCommand = prompt === undefined;
  const settings = {
    event: textAt(document, [...block, 'event']) ?? '',
    ...omitUndefined({
      matcher: isObject(matcher) ? matcher : undefined,
      prompt,
      command: isCommand ? exec.command : undefined,
    }),
    stopReentryCap: integerAt(document, [...block, 'stop_reentry_cap'], 0) ?? agentaoStopCap,
    projectDir: folder,
  };
  return { ...(isCommand ? { exec } : {}), settings };
}

function checkEntry({ document, path, folder, searchPath }: EntryCheckInput): Finding[] {
  const block = [...path, 'agentao'];
  const [commandPath, promptPath, matcherPath] = [
    [...path, 'command'],
    [...block, 'prompt'],
    [...block, 'matcher'],
  ];
  const [command, prompt, matcher] = [commandPath, promptPath, matcherPath].map((at) =>
    valueAt(document, at),
  );
  const event = textAt(document, [...block, 'event']);
  const findings: Finding[] = [];
  if (command === undefined && prompt === undefined) {
    const hint = 'A rule has a `command`, or `agentao.prompt` at UserPromptSubmit.';
    findings.push({ severity: 'error', path: commandPath, message: 'is required', hint, atKey: true });
  } else if (command !== undefined && prompt !== undefined) {
    const message = 'cannot be combined with agentao.prompt';
    findings.push({ severity: 'error', path: commandPath, message, atKey: true });
  } else if (prompt !== undefined && event !== undefined && event !== 'UserPromptSubmit') {
    const message = `is only for UserPromptSubmit (event: ${event})`;
    findings.push({ severity: 'error', path: promptPath, message, hint: 'Use a `command` instead.' });
  }
  if (event !== undefined) findings.push(...checkMatcher(event, matcher, matcherPath));
  const line = nonEmptyTextAt(document, commandPath);
  const cwd = resolve(folder, nonEmptyTextAt(document, [...path, 'cwd']) ?? '.');
  return line === undefined
    ? findings
    : [...findings, ...checkScript({ command: line, cwd, folder, searchPath }, commandPath)];
}

function checkMatcher(event: string, matcher: unknown, path: Path): Finding[] {
  if (!isObject(matcher)) return [];
  return findMatcherFaults(event, matcher).map((fault) => ({ ...fault, path }));
}

function checkScript(line: ScriptCommand, path: Path): Finding[] {
  const message = findMissingScript(line);
  return message === undefined ? [] : [{ severity: 'warning', path, message, about: 'program' }];
}

function readRule(context: ImportContext, event: string, path: Path): HookDraft[] {
  const { document, projectDir, searchPath, addFinding } = context;
  const skip = (message: string) => {
    reportSkippedRule(context, { event, path, message });
    return [];
  };
  if (!agentaoEvents.some((name) => name === event))
    return skip(`Unsupported hook event '${event}' — skipped`);
  const type = valueAt(document, [...path, 'type']);
  const typeFault = findTypeFault(type, event);
  if (typeFault !== undefined) return skip(typeFault);
  const matcherPath = [...path, 'matcher'];
  const given = valueAt(document, matcherPath) ?? undefined;
  if (given !== undefined && !isObject(given)) {
    return skip(
      `Hook rule under '${event}' has non-object matcher of type ${nameOfType(given)}; matcher must be an object like {"trigger": "manual|auto"} — rule skipped.`,
    );
  }
  const faults = checkMatcher(event, given, matcherPath);
  for (const fault of faults) addFinding(fault);
  if (faults.some(isError)) return [];

  const key = type === 'prompt' ? 'prompt' : 'command';
  const textPath = [...path, key];
  const text = valueAt(document, textPath);
  if (typeof text !== 'string' || text.includes('\0') || (key === 'command' && text.trim() === '')) {
    return skip(`Hook rule under '${event}' has no ${key} — rule skipped`);
  }
  const command = key === 'command' ? text : undefined;
  const line = { command: text, cwd: projectDir, folder: projectDir, searchPath };
  const missing = command === undefined ? [] : checkScript(line, textPath);
  for (const finding of missing) addFinding(finding);
  const timeoutMs = readTimeout(context, event, [...path, 'timeout']);
  const rule = { event, ...omitUndefined({ matcher: given }), [key]: text };
  return [
    {
      dialect: 'agentao',
      event,
      source: document.positionOf(path),
      commandPosition: document.positionOf(textPath),
      ...omitUndefined({ timeoutMs }),
      toHook: () => ({
        ...(command !== undefined && { exec: { command, cwd: projectDir } }),
        settings: { ...rule, stopReentryCap: agentaoStopCap, projectDir },
      }),
      toEntry: (folder) => {
        const { command: _command, ...block } = { command, ...rule };
        if (command === undefined) return { dialect: 'agentao', agentao: block };
        const variables = variablesOf(command, otherSystemsVariables);
        const cwd = shortPath(projectDir, folder);
        return {
          dialect: 'agentao',
          command,
          ...(cwd === '.' ? {} : { cwd }),
          ...(variables.length === 0 ? {} : { env: variables }),
          ...omitUndefined({ timeout_ms: timeoutMs }),
          agentao: block,
        };
      },
    },
  ];
}

/** Variables of other systems that Agentao does not set; a line that also serves Claude Code may read them. */
const otherSystemsVariables = [
  'CLAUDE_PROJECT_DIR',
  'CLAUDE_PLUGIN_ROOT',
  'CLAUDE_PLUGIN_DATA',
  'CLAUDE_ENV_FILE',
];

function reportUnknownForm(context: ImportContext, event: string, path: Path): void {
  const entry = valueAt(context.document, path);
  const message = isObject(entry)
    ? unknownType(entry['type'] ?? '', event)
    : `Hook entry under '${event}' is not an object — skipped`;
  reportSkippedRule(context, { event, path, message });
}

function reportSkippedRule(
  { mustNotDrop, addFinding }: ImportContext,
  { event, path, message }: { readonly event: string; readonly path: Path; readonly message: string },
): void {
  const isGuard = mustNotDrop && agentaoMandatoryEvents.has(event);
  const hint = '`on_failure: deny` is set here, and a guard that is dropped lets calls pass.';
  addFinding({ severity: isGuard ? 'error' : 'warning', path, message, ...(isGuard ? { hint } : {}) });
}

function findTypeFault(type: unknown, event: string): string | undefined {
  if (type === 'command' || (type === 'prompt' && event === 'UserPromptSubmit')) return undefined;
  if (type === 'prompt') {
    return `Hook type 'prompt' is not supported for event '${event}' — skipped. (Allowed for this event: ['command'])`;
  }
  if (type === 'http' || type === 'agent') {
    return `Hook type '${type}' under '${event}' is not supported — skipped`;
  }
  return unknownType(type ?? '', event);
}

function unknownType(type: unknown, event: string): string {
  const text = typeof type === 'string' || typeof type === 'number' ? type : nameOfType(type);
  return `Unknown hook type '${text}' under '${event}' — skipped`;
}

function nameOfType(value: unknown): string {
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return Array.isArray(value) ? 'list' : 'dict';
}

/** Whole seconds, parsed like Python’s int(). Undefined selects the default. */
function readTimeout({ document, addFinding }: ImportContext, event: string, path: Path): number | undefined {
  const value = valueAt(document, path);
  if (value === undefined) return undefined;
  const isNumeral = typeof value === 'string' && /^\s*[-+]?\d+\s*$/.test(value);
  const seconds = typeof value === 'number' || isNumeral ? Math.trunc(Number(value)) : Number.NaN;
  if (seconds >= 1 && seconds <= 2_147_483) return seconds * 1000;
  const text = typeof value === 'string' || typeof value === 'number' ? value : nameOfType(value);
  const message = `Invalid timeout value '${text}' under '${event}' — using default 60s`;
  addFinding({ severity: 'warning', path, message });
  return undefined;
}
