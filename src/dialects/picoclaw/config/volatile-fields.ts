import type { VolatileFields } from '../../volatile-fields.ts';

/** The members of payloads, and of events in either form, that differ from run to run. */
export const picoclawVolatileFields: VolatileFields = {
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
