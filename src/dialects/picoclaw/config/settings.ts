import { type EntryRules, milliseconds, modifiesHint } from '../../dialect-config.ts';

export type PicoclawMethod = (typeof picoclawMethods)[number];

/** A PicoClaw process. Times are milliseconds. Source: hook-json-protocol.md. */
export interface PicoclawSettings {
  /** The protocol to use where the published page and the head's code differ. */
  readonly version: '0.2.8-doc' | 'head';
  /** The form of `Kind` in legacy events: the release's number, or the page's name. */
  readonly eventKind: 'number' | 'name';
  readonly intercept: readonly PicoclawMethod[];
  /** Kinds of events as written in the file. `*`, `all` or an empty text anywhere stands for every kind. */
  readonly observe: readonly string[];
  readonly isLenient: boolean;
  readonly helloTimeoutMs: number;
  readonly interceptorTimeoutMs: number;
  readonly approvalTimeoutMs: number;
  readonly observerTimeoutMs: number;
}

export const picoclawMethods = [
  'before_llm',
  'after_llm',
  'before_tool',
  'after_tool',
  'approve_tool',
] as const;

export interface PicoclawKind {
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

export const picoclawKinds: readonly PicoclawKind[] = [
  ...agentKinds.map(([legacy, dotted], number) => ({ number, legacy, dotted: `agent.${dotted}` })),
  ...otherKinds.map((dotted) => ({ dotted })),
];

export const everyPicoclawKind: readonly string[] = ['*', 'all', ''];

export const picoclawKindNames: readonly string[] = [
  ...everyPicoclawKind,
  ...picoclawKinds.flatMap(({ legacy }) => legacy ?? []),
  ...picoclawKinds.map(({ dotted }) => dotted),
];

const wireProperties = {
  version: {
    type: 'string',
    enum: ['0.2.8-doc', 'head'],
    description:
      'Which version of the protocol to speak where they differ. 0.2.8-doc (default): the published page. head: the code after 0.2.9.',
  },
  event_kind: {
    type: 'string',
    enum: ['number', 'name'],
    description:
      'The form of `Kind` in events under 0.2.8-doc: the number that every release sends (default), or the name.',
  },
  lenient: {
    type: 'boolean',
    description: 'Accept a hello whose `ok` is not true. Default: false.',
  },
  hello_timeout_ms: { ...milliseconds, description: 'How long the hello may take. Default: 5000.' },
} as const;

const block = {
  type: 'object',
  description:
    'A PicoClaw process. Needs `intercept`, `observe` or both, unless the entry has `hook`, the short form.',
  additionalProperties: false,
  properties: {
    ...wireProperties,
    intercept: {
      type: 'array',
      items: { type: 'string', enum: [...picoclawMethods, ''] },
      description:
        'The methods that it answers: before_llm, after_llm, before_tool, after_tool, approve_tool. Naming one of a pair turns on both; an empty name is skipped.',
    },
    observe: {
      type: 'array',
      items: { type: 'string', enum: picoclawKindNames },
      description:
        'Kinds of events that it receives, by legacy or dotted names; `*` or all means every kind.',
    },
    dir: {
      type: 'string',
      minLength: 1,
      description: 'Folder in which it starts, relative to this file’s. Default: this file’s folder.',
    },
    interceptor_timeout_ms: {
      ...milliseconds,
      description: 'How long a method may take; the entry’s timeout_ms replaces it. Default: 5000.',
    },
    approval_timeout_ms: { ...milliseconds, description: 'How long approve_tool may take. Default: 60000.' },
    observer_timeout_ms: {
      ...milliseconds,
      description: 'How long writing one event may take. Default: 500.',
    },
  },
} as const;

export const picoclawEntry: EntryRules = {
  block,
  required: ['command'],
  isServer: true,
  properties: {
    mode: false,
    modifies: false,
    runtime: { const: 'server' },
    hook: { enum: ['provider', 'tool'] },
  },
  hookRemarks: { hook: 'short for both methods of a pair in picoclaw' },
  misplacedHints: {
    mode: '`picoclaw.intercept` and `picoclaw.observe` say what it answers and receives.',
    modifies: modifiesHint,
  },
  runtimeHint: 'A PicoClaw process always keeps running: remove `runtime`.',
  valueMessages: {
    'picoclaw.observe.*': (value) => `is not a kind of event of PicoClaw (got: ${value})`,
  },
  folderKey: ['picoclaw', 'dir'],
  importProperties: {
    picoclaw: {
      type: 'object',
      description: 'Settings for all processes of a PicoClaw config.json.',
      additionalProperties: false,
      properties: wireProperties,
    },
  },
};
