import type { DialectConfig } from '../../dialect-config.ts';
import type { VolatileFields } from '../../volatile-fields.ts';
import { points, pointsAt } from '../points.ts';
import { checkEntry } from './check.ts';
import { readEntry } from './entry.ts';
import { isOwnFile, readProcesses } from './import.ts';
import { picoclawEntry } from './schema.ts';
import type { PicoclawSettings } from './settings.ts';

/** The members of payloads, and of events in either form, that differ from run to run. */
const volatileFields: VolatileFields = {
  meta: { SessionKey: 'drop run ids', TurnID: 'drop run ids' },
  context: { inbound: { chat_id: 'drop run ids' } },
  chat_id: 'drop run ids',
  duration: 'drop',
  // An event that a host fires, in either form.
  Time: 'drop',
  Meta: { SessionKey: 'drop run ids', TurnID: 'drop run ids' },
  Context: { inbound: { chat_id: 'drop run ids' } },
  id: 'drop',
  time: 'drop',
  scope: { session_key: 'drop run ids', turn_id: 'drop run ids', chat_id: 'drop run ids' },
};

/** Process hooks written for PicoClaw, as a config declares or imports them. */
export const picoclaw: DialectConfig<PicoclawSettings> = {
  name: 'picoclaw',
  title: 'picoclaw',
  points,
  pointsAt,
  loadHooks: async () => (await import('../dialect.ts')).picoclaw,
  loadTrial: async () => (await import('../trial.ts')).trial,
  loadInboundServer: async () => (await import('../inbound/server.ts')).inboundServer,
  volatileFields,
  entry: picoclawEntry,
  readEntry,
  checkEntry,
  declaredPoints: ({ intercept, observe }) => (observe.length === 0 ? intercept : [...intercept, 'event']),
  failsOpen: ({ settings: { intercept } }) =>
    intercept.some((method) => method !== 'approve_tool')
      ? 'a timeout, an error, its death, an answer without a known action'
      : undefined,
  timeoutMs: ({ settings: { interceptorTimeoutMs } }) => interceptorTimeoutMs,
  toProcess: (_settings, exec) => ({ exec: { ...exec, runtime: 'server' } }),
  files: {
    note: {
      message: 'its processes have a closed environment, where PicoClaw gave them all that the host had',
      hint: 'Name what else they need in `env`.',
    },
    document: { isOwn: isOwnFile, read: readProcesses },
  },
};
