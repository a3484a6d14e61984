import type { HookContext } from '../../../contract/turn.ts';
import type { Payload } from '../../foreign-dialect.ts';

/** Where in a turn PicoClaw's code says that each method is called. */
export const tracePaths = {
  before_llm: 'turn.llm.request',
  after_llm: 'turn.llm.response',
  before_tool: 'turn.tool.before',
  approve_tool: 'turn.tool.approve',
  after_tool: 'turn.tool.after',
} as const;

/** META: always all seven keys. Source: hook-json-protocol.md; TracePath and Source as the code sends them. */
export function toMeta(hookContext: HookContext, tracePath: string, round: number = hookContext.round) {
  return {
    AgentID: hookContext.agent,
    TurnID: hookContext.turn_id,
    ParentTurnID: '',
    SessionKey: hookContext.session_id,
    Iteration: round,
    TracePath: tracePath,
    Source: 'runTurn',
  };
}

const inboundKeys = [
  'channel',
  'account',
  'chat_id',
  'chat_type',
  'topic_id',
  'space_id',
  'space_type',
  'sender_id',
  'message_id',
  'mentioned',
  'reply_to_message_id',
  'reply_to_sender_id',
  'reply_handles',
  'raw',
] as const;

/** The inbound members of the hook context, as far as the host set them, with defaults for three. */
function toInbound({ host, session_id }: HookContext) {
  const keys = inboundKeys.filter((key) => host[key] !== undefined);
  const given: Payload = Object.fromEntries(keys.map((key) => [key, host[key]]));
  return { channel: 'cli', chat_id: session_id, sender_id: '', ...given };
}

/** CTX and its two members that the page repeats beside it. */
export function toContext(hookContext: HookContext) {
  const inbound = toInbound(hookContext);
  return { context: { inbound }, channel: inbound.channel, chat_id: inbound.chat_id };
}

const scopeKeys = [
  'channel',
  'account',
  'chat_id',
  'topic_id',
  'space_id',
  'space_type',
  'chat_type',
  'sender_id',
  'message_id',
] as const;

/** The scope members that the host set. */
export function toScope({ host }: HookContext) {
  return Object.fromEntries(
    scopeKeys
      .filter((key) => typeof host[key] === 'string' && host[key] !== '')
      .map((key) => [key, host[key]]),
  );
}

/** Durations on the wire are integers of nanoseconds. */
export function toNanoseconds(ms: number): number {
  return Math.round(ms * 1_000_000);
}
