import { isObject } from '../../../json/json.ts';
import type { DialectConfig } from '../../dialect-config.ts';
import { points } from '../points.ts';
import { pointsAt } from '../points-at.ts';
import { checkEntry } from './check.ts';
import { readEntry } from './entry.ts';
import { agentaoEvents, agentaoGuardEvents } from './events.ts';
import { readRule, reportUnknownForm } from './import.ts';
import { agentaoEntry } from './schema.ts';
import type { AgentaoSettings } from './settings.ts';
import { agentaoVolatileFields } from './volatile-fields.ts';

/** Rules written for Agentao, as a config declares or imports them. */
export const agentao: DialectConfig<AgentaoSettings> = {
  name: 'agentao',
  title: 'agentao',
  points,
  pointsAt,
  loadHooks: async () => (await import('../dialect.ts')).agentao,
  volatileFields: agentaoVolatileFields,
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
