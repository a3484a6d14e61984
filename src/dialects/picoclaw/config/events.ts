/** What a process may be asked. */
export const picoclawMethods = [
  'before_llm',
  'after_llm',
  'before_tool',
  'after_tool',
  'approve_tool',
] as const;

/** A kind of event, by its names in both forms. */
export interface PicoclawKind {
  /** Its number in the legacy form; absent where that form does not have it. */
  readonly number?: number;
  readonly legacy?: string;
  readonly dotted: string;
}

/** In the order of their numbers. Source: hook-json-protocol.md, and the runtime events of the head. */
const agentKinds: readonly (readonly [legacy: string, dotted: string])[] = [
  ['turn_start', 'turn.start'],
  ['turn_end', 'turn.end'],
  ['llm_request', 'llm.request'],
  ['llm_delta', 'llm.delta'],
  ['llm_response', 'llm.response'],
  ['llm_retry', 'llm.retry'],
  ['context_compress', 'context.compress'],
  ['session_summarize', 'session.summarize'],
  ['tool_exec_start', 'tool.exec_start'],
  ['tool_exec_end', 'tool.exec_end'],
  ['tool_exec_skipped', 'tool.exec_skipped'],
  ['steering_injected', 'steering.injected'],
  ['follow_up_queued', 'follow_up.queued'],
  ['interrupt_received', 'interrupt.received'],
  ['subturn_spawn', 'subturn.spawn'],
  ['subturn_end', 'subturn.end'],
  ['subturn_result_delivered', 'subturn.result_delivered'],
  ['subturn_orphan', 'subturn.orphan'],
  ['error', 'error'],
];

/** Kinds that only the newer form has. */
const otherKinds = [
  'channel.lifecycle.initialized',
  'channel.lifecycle.started',
  'channel.lifecycle.start_failed',
  'channel.lifecycle.stopped',
  'channel.webhook.registered',
  'channel.webhook.unregistered',
  'channel.message.outbound_queued',
  'channel.message.outbound_sent',
  'channel.message.outbound_failed',
  'channel.rate_limited',
  'bus.publish.failed',
  'bus.close.started',
  'bus.close.drained',
  'bus.close.completed',
  'gateway.start',
  'gateway.ready',
  'gateway.shutdown',
  'gateway.reload.started',
  'gateway.reload.completed',
  'gateway.reload.failed',
  'mcp.server.connecting',
  'mcp.server.connected',
  'mcp.server.failed',
  'mcp.tool.discovered',
  'mcp.tool.call.start',
  'mcp.tool.call.end',
] as const;

/** Every kind that a hook may ask for. */
export const picoclawKinds: readonly PicoclawKind[] = [
  ...agentKinds.map(([legacy, dotted], number) => ({ number, legacy, dotted: `agent.${dotted}` })),
  ...otherKinds.map((dotted) => ({ dotted })),
];

/** Any of these in `observe` stands for every kind. */
export const everyPicoclawKind: readonly string[] = ['*', 'all', ''];

/** What `observe` may name: legacy and dotted kinds, and the three words for all of them. */
export const picoclawKindNames: readonly string[] = [
  ...everyPicoclawKind,
  ...picoclawKinds.flatMap(({ legacy }) => legacy ?? []),
  ...picoclawKinds.map(({ dotted }) => dotted),
];
