import type { DialectName } from '../config/config.ts';

/** What in a body of that dialect is of one run only. */
export function ruleOf(dialect: DialectName): Rule {
  return rules[dialect];
}

/** What is done to the members of one object; what is not named stays. `each` is for the elements of an array. */
export interface Rule {
  readonly [key: string]: 'drop' | 'drop run ids' | Rule;
}

const session: Rule = {
  session_id: 'drop run ids',
  SessionID: 'drop run ids',
  conversation_id: 'drop run ids',
  ConversationID: 'drop run ids',
};

const payload: Rule = {
  ...session,
  call_id: 'drop',
  CallID: 'drop',
  latency_ms: 'drop',
  LatencyMs: 'drop',
  metadata: session,
  Metadata: session,
};

const native: Rule = {
  ...session,
  duration_ms: 'drop',
  idempotency_key: 'drop',
  approval: { id: 'drop' },
  // How long the subject of a suite took to answer.
  context: { ...session, metadata: { latency_ms: 'drop' } },
  request: payload,
  response: payload,
  event: session,
};

/** What stands at the top level of Claude Code's payloads, and beside Agentao's own. */
const claude: Rule = {
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

const rules: Readonly<Record<DialectName, Rule>> = {
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
