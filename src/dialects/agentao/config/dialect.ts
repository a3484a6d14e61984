import { resolve } from 'node:path';
import { findMissingScript } from '../../../base/files/missing-script.ts';
import { isObject } from '../../../base/json/json.ts';
import type { Path, YamlDocument } from '../../../base/yaml/document.ts';
import type { Finding } from '../../../base/yaml/finding.ts';
import { omitUndefined } from '../../../base/yaml/present.ts';
import { integerAt, nonEmptyTextAt, textAt, valueAt } from '../../../base/yaml/read.ts';
import type { VolatileFields } from '../../../process/cassette/volatile-fields.ts';
import type { DialectConfig, EntryCheckInput, EntryContext, EntryReading } from '../../dialect-config.ts';
import type { KeyUses } from '../../foreign-files.ts';
import { findMatcherFaults } from '../matcher.ts';
import { points, pointsAt } from '../points.ts';
import { readRule, reportUnknownForm } from './import.ts';
import {
  type AgentaoSettings,
  agentaoEntry,
  agentaoEvents,
  agentaoGuardEvents,
  agentaoStopCap,
} from './settings.ts';

/** What stands at the top level of payloads in the form of Claude Code, and in `data` of all others. */
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
  data: { sessionId: 'drop run ids', cwd: 'drop' },
};

/** Top-level keys of a plugin's `plugin.json`. */
const manifestKeys: KeyUses = {
  hooks: 'read',
  ...Object.fromEntries(
    ['$schema', 'name', 'version', 'description', 'author', 'homepage', 'repository', 'license', 'keywords']
      .concat(['skills', 'commands', 'agents', 'mcpServers', 'tools', 'enabled'])
      .map((key) => [key, 'irrelevant'] as const),
  ),
};

/** Rules written for Agentao, as a config declares or imports them. */
export const agentao: DialectConfig<AgentaoSettings> = {
  name: 'agentao',
  title: 'agentao',
  points,
  pointsAt,
  loadHooks: async () => (await import('../dialect.ts')).agentao,
  loadTrial: async () => (await import('../trial.ts')).trial,
  loadInbound: async () => (await import('../inbound/inbound.ts')).inbound,
  volatileFields,
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

/** The Agentao rule that an entry of `spec.hooks` declares. */
function readEntry(
  document: YamlDocument,
  path: Path,
  { exec, folder }: EntryContext,
): EntryReading<AgentaoSettings> {
  const block = [...path, 'agentao'];
  const matcher = valueAt(document, [...block, 'matcher']);
  const prompt = textAt(document, [...block, 'prompt']);
  return {
    ...(prompt === undefined ? { exec } : {}),
    settings: {
      event: textAt(document, [...block, 'event']) ?? '',
      ...omitUndefined({
        matcher: isObject(matcher) ? matcher : undefined,
        prompt,
        command: prompt === undefined ? exec.command : undefined,
      }),
      stopReentryCap: integerAt(document, [...block, 'stop_reentry_cap'], 0) ?? agentaoStopCap,
      projectDir: folder,
    },
  };
}

/** Checks an Agentao rule beyond the schema: command or prompt, matcher, script. */
function checkEntry(check: EntryCheckInput): Finding[] {
  return [...checkForm(check), ...checkMatcher(check), ...checkScript(check)];
}

function checkForm({ document, path }: EntryCheckInput): Finding[] {
  const command = [...path, 'command'];
  const prompt = [...path, 'agentao', 'prompt'];
  const event = textAt(document, [...path, 'agentao', 'event']);
  const [hasCommand, hasPrompt] = [command, prompt].map((each) => valueAt(document, each) !== undefined);
  if (!hasCommand && !hasPrompt) {
    const hint = 'A rule has a `command`, or `agentao.prompt` at UserPromptSubmit.';
    return [{ severity: 'error', path: command, message: 'is required', hint, atKey: true }];
  }
  if (hasCommand && hasPrompt) {
    const message = 'has no place beside agentao.prompt';
    return [{ severity: 'error', path: command, message, atKey: true }];
  }
  if (!hasPrompt || event === undefined || event === 'UserPromptSubmit') return [];
  const message = `is only for UserPromptSubmit (event: ${event})`;
  return [{ severity: 'error', path: prompt, message, hint: 'Use a `command` instead.' }];
}

function checkMatcher({ document, path }: EntryCheckInput): Finding[] {
  const at = [...path, 'agentao', 'matcher'];
  const event = textAt(document, [...path, 'agentao', 'event']);
  const matcher = valueAt(document, at);
  if (event === undefined || !isObject(matcher)) return [];
  return findMatcherFaults(event, matcher).map((finding) => ({ ...finding, path: at }));
}

function checkScript({ document, path, folder, searchPath }: EntryCheckInput): Finding[] {
  const at = [...path, 'command'];
  const command = nonEmptyTextAt(document, at);
  if (command === undefined) return [];
  const cwd = resolve(folder, nonEmptyTextAt(document, [...path, 'cwd']) ?? '.');
  const message = findMissingScript({ command, cwd, folder, searchPath });
  return message === undefined ? [] : [{ severity: 'warning', path: at, message, about: 'program' }];
}
