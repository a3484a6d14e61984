import type { LooseEvent, PointEvent } from '../../src/runtime/runtime.ts';

export interface Point {
  readonly name: string;
  /** An event of the runtime, or the point by its own name if the runtime has none. */
  readonly event: LooseEvent | PointEvent;
  /** The reply of a working child, which allows without changes. */
  readonly reply: string;
  /** The hook only observes; its answers have no effect. */
  readonly isTold?: true;
  /** The hook observes, but the runtime waits for it as its own system does. */
  readonly isAwaited?: true;
  /** Nothing can be denied at this point, so `on_failure: deny` has no effect. */
  readonly isUnclosable?: true;
  /** The effect of exit code 2 in the dialect. Default: that of any other exit code. */
  readonly onExit2?: 'denies' | 'goes on' | 'is heard';
  /** A person decides if the hook does not: `ask` instead of `allow`. */
  readonly asks?: true;
}

const providerRequest = { messages: [{ role: 'user', content: 'hi' }] };
const toolRequest = { name: 'x', args: {}, call_id: 'c' };
const events = {
  beforeCall: { hook: 'provider', phase: 'before_call', request: providerRequest },
  afterCall: {
    hook: 'provider',
    phase: 'after_call',
    request: providerRequest,
    response: { message: { role: 'assistant', content: 'hello' } },
  },
  beforeExecution: { hook: 'tool', phase: 'before_execution', request: toolRequest },
  afterExecution: {
    hook: 'tool',
    phase: 'after_execution',
    request: toolRequest,
    response: { name: 'x', call_id: 'c', content: 'done' },
  },
  session: { hook: 'session', phase: 'session_start', event: { session_id: 's' } },
  scored: { hook: 'eval', phase: 'scored', event: { eval_id: 'e', type: 'e', score: 1, passed: true } },
} as const satisfies Record<string, LooseEvent>;

/** A valid reply for a tool, an eval and a filter. */
export const nativeReply = '{"allow": true, "result": 1, "score": 1}';

/** Points of native filters, which observers and shadows share. */
export const nativePoints: readonly Point[] = [
  { name: 'before_call', event: events.beforeCall, reply: nativeReply },
  { name: 'after_call', event: events.afterCall, reply: nativeReply },
  { name: 'before_execution', event: events.beforeExecution, reply: nativeReply },
  { name: 'after_execution', event: events.afterExecution, reply: nativeReply },
];

export const nativeTold: readonly Point[] = [
  { name: 'session_start', event: events.session, reply: nativeReply, isTold: true },
  { name: 'scored', event: events.scored, reply: nativeReply, isTold: true },
];

const go = '{"action": "continue"}';
const plugin = '{"note": "seen"}';
const shown = '{"systemMessage": "seen"}';
const said = '{"additionalContext": "seen"}';

/**
 * Points of foreign hooks: those of a turn, and one for each rule of its dialect. Sources: docs/reference/dialects.md,
 * docs/reference/protocols.
 */
export const foreignPoints = {
  picoclaw: [
    { name: 'before_llm', event: events.beforeCall, reply: go },
    { name: 'after_llm', event: events.afterCall, reply: go },
    { name: 'before_tool', event: events.beforeExecution, reply: go },
    { name: 'after_tool', event: events.afterExecution, reply: go },
    {
      name: 'approve_tool',
      event: own('picoclaw', 'approve_tool', { tool: 'x', arguments: {} }),
      reply: '{"approved": true}',
    },
    {
      name: 'turn_end',
      event: own('picoclaw', 'event', { KindName: 'turn_end' }),
      reply: 'null',
      isTold: true,
    },
  ],
  chibi: [
    { name: 'pre_message', event: own('chibi', 'pre_message', { prompt: 'hi' }), reply: plugin },
    { name: 'pre_tool', event: events.beforeExecution, reply: plugin },
    { name: 'pre_tool_output', event: events.afterExecution, reply: plugin },
    { name: 'pre_api_request', event: own('chibi', 'pre_api_request', { request_body: {} }), reply: plugin },
    {
      name: 'pre_shell_exec',
      event: own('chibi', 'pre_shell_exec', { tool_name: 'x', command: 'ls' }),
      reply: plugin,
      asks: true,
    },
    { name: 'on_start', event: own('chibi', 'on_start', {}), reply: plugin, isTold: true, isAwaited: true },
  ],
  claude: [
    { name: 'PreToolUse', event: events.beforeExecution, reply: shown, onExit2: 'denies' },
    { name: 'PostToolUse', event: events.afterExecution, reply: shown, onExit2: 'is heard' },
    {
      name: 'UserPromptSubmit',
      event: own('claude', 'UserPromptSubmit', { prompt: 'hi' }),
      reply: shown,
      onExit2: 'denies',
    },
    {
      name: 'PostToolBatch',
      event: own('claude', 'PostToolBatch', { tool_calls: [] }),
      reply: shown,
      onExit2: 'denies',
    },
    { name: 'Stop', event: own('claude', 'Stop', {}), reply: shown, onExit2: 'goes on' },
    {
      name: 'PreModelSwitch',
      event: own('claude', 'PreModelSwitch', { from_model: 'a', to_model: 'b' }),
      reply: shown,
      onExit2: 'denies',
    },
    {
      name: 'SessionStart',
      event: own('claude', 'SessionStart', { source: 'startup' }),
      reply: shown,
      isUnclosable: true,
      onExit2: 'is heard',
    },
    {
      name: 'PermissionRequest',
      event: own('claude', 'PermissionRequest', { tool_name: 'x', tool_input: {} }),
      reply: shown,
      isUnclosable: true,
      asks: true,
      onExit2: 'is heard',
    },
    { name: 'SessionEnd', event: own('claude', 'SessionEnd', {}), reply: shown, isTold: true },
  ],
  agentao: [
    {
      name: 'PreToolUse',
      event: events.beforeExecution,
      reply: '{"hookSpecificOutput": {"permissionDecision": "allow"}}',
    },
    { name: 'PostToolUse', event: events.afterExecution, reply: said },
    {
      name: 'UserPromptSubmit',
      event: own('agentao', 'UserPromptSubmit', { userMessage: 'hi' }),
      reply: said,
    },
    { name: 'Stop', event: own('agentao', 'Stop', {}), reply: said, onExit2: 'goes on' },
    { name: 'SessionStart', event: own('agentao', 'SessionStart', {}), reply: said, isUnclosable: true },
    {
      name: 'PreCompact',
      event: own('agentao', 'PreCompact', {}),
      reply: '{}',
      isTold: true,
      isAwaited: true,
    },
  ],
} as const satisfies Record<string, readonly Point[]>;

function own(dialect: string, point: string, payload: object): PointEvent {
  return { dialect, point, payload };
}
