import type { DialectName } from '../config/config.ts';

/** The fields of a request body of that dialect whose values differ from run to run. */
export function volatileFieldsOf(dialect: DialectName): VolatileFields {
  return rules[dialect];
}

/** What happens to the members of one object; others stay. `each` applies to the elements of an array. */
export interface VolatileFields {
  readonly [key: string]: 'drop' | 'drop run ids' | VolatileFields;
}

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

const native: VolatileFields = {
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

/** What stands at the top level of Claude Code's payloads, and beside Agentao's own. */
const claude: VolatileFields = {
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

const rules: Readonly<Record<DialectName, VolatileFields>> = {
  promptkit: native,
  'promptkit-go': native,
  picoclaw: {
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
  },
  // The body of a tool's call is its arguments, and no point has anything else that changes.
  chibi: {},
  claude,
  agentao: { ...claude, data: { sessionId: 'drop run ids', cwd: 'drop' } },
};
