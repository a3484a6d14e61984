import type { VolatileFields } from '../volatile-fields.ts';

const session: VolatileFields = {
  session_id: 'drop run ids',
  SessionID: 'drop run ids',
  conversation_id: 'drop run ids',
  ConversationID: 'drop run ids',
};

const payload: VolatileFields = {
  ...session,
  call_id: 'drop',
  CallID: 'drop',
  latency_ms: 'drop',
  LatencyMs: 'drop',
  metadata: session,
  Metadata: session,
};

/** The members of native payloads that differ from run to run, in either spelling. */
export const nativeVolatileFields: VolatileFields = {
  ...session,
  duration_ms: 'drop',
  idempotency_key: 'drop',
  approval: { id: 'drop' },
  // How long the subject of a suite took to reply.
  context: { ...session, metadata: { latency_ms: 'drop' } },
  request: payload,
  response: payload,
  event: session,
};
