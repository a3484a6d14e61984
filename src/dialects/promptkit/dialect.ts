import type { VolatileFields } from '../../process/cassette/volatile-fields.ts';
import type { Dialect } from '../dialect.ts';
import { goCase, snakeCase } from './casing.ts';
import { createEvalBatchCodec, createEvalCodec } from './eval.ts';
import { createHookCodec } from './hook.ts';
import { toolCodec } from './tool.ts';

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

/** How long the subject of a suite took to reply, and whose session it was. */
const context: VolatileFields = { ...session, metadata: { latency_ms: 'drop' } };

/** The members of native payloads that differ from run to run, in either spelling. */
const volatileFields: VolatileFields = {
  ...session,
  duration_ms: 'drop',
  idempotency_key: 'drop',
  approval: { id: 'drop' },
  context,
  batch: { each: { context } },
  request: payload,
  response: payload,
  event: session,
};

/** The native dialect: payload members in snake_case. */
export const promptkit: Dialect = {
  name: 'promptkit',
  tool: toolCodec,
  eval: createEvalCodec(snakeCase),
  evalBatch: createEvalBatchCodec(snakeCase),
  hook: createHookCodec(snakeCase),
  volatileFields,
};

/** The native dialect with payload members as PromptKit's Go program prints them; replies are the same. */
export const promptkitGo: Dialect = {
  name: 'promptkit-go',
  tool: toolCodec,
  eval: createEvalCodec(goCase),
  evalBatch: createEvalBatchCodec(goCase),
  hook: createHookCodec(goCase),
  volatileFields,
};
