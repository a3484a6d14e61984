import { join } from 'node:path';
import { isObject } from '../../../base/json/json.ts';
import { type DialectConfig, sharedVolatileFields } from '../../dialect-config.ts';
import { points, pointsAt } from '../points.ts';
import { addEnv, checkEntry, readEntry, readGroup } from './handler.ts';
import { endpointOf, toProcess } from './process.ts';
import { claudeEntry, claudeFileKeys, claudeHandlerSchema, claudeManifestKeys } from './schema.ts';
import { type ClaudeSettings, capTimeout, claudeEvents, claudeGuardEvents, timeoutMs } from './settings.ts';

export const claude: DialectConfig<ClaudeSettings> = {
  name: 'claude',
  title: 'Claude Code',
  points,
  pointsAt,
  loadHooks: async () => (await import('../dialect.ts')).claude,
  loadTrial: async () => (await import('../trial.ts')).trial,
  loadInbound: async () => (await import('../inbound/inbound.ts')).inbound,
  volatileFields: sharedVolatileFields,
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
