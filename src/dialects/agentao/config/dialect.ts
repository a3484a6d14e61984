import { isObject } from '../../../json/json.ts';
import type { DialectConfig } from '../../dialect-config.ts';
import type { KeyUses } from '../../import-context.ts';
import type { VolatileFields } from '../../volatile-fields.ts';
import { points, pointsAt } from '../points.ts';
import { checkEntry } from './check.ts';
import { readEntry } from './entry.ts';
import { agentaoEvents, agentaoGuardEvents } from './events.ts';
import { readRule, reportUnknownForm } from './import.ts';
import { agentaoEntry } from './schema.ts';
import type { AgentaoSettings } from './settings.ts';

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
