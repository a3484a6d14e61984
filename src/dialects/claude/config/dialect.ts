import { join } from 'node:path';
import { isObject } from '../../../json/json.ts';
import type { DialectConfig } from '../../dialect-config.ts';
import type { VolatileFields } from '../../volatile-fields.ts';
import { points } from '../points.ts';
import { pointsAt } from '../points-at.ts';
import { checkEntry } from './check.ts';
import { addEnv } from './draft.ts';
import { readEntry } from './entry.ts';
import { claudeEvents, claudeGuardEvents } from './events.ts';
import { claudeFileKeys, claudeManifestKeys } from './file-keys.ts';
import { claudeHandlerSchema } from './handler.ts';
import { readGroup } from './import.ts';
import { capTimeout, timeoutMs } from './limits.ts';
import { endpointOf, toProcess } from './process.ts';
import { claudeEntry } from './schema.ts';
import type { ClaudeSettings } from './settings.ts';

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
