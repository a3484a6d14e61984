import type { Scene } from '../../../contract/turn.ts';

/** Where in a turn PicoClaw's code says that each method is called. */
export const tracePaths = {
  before_llm: 'turn.llm.request',
  after_llm: 'turn.llm.response',
  before_tool: 'turn.tool.before',
  approve_tool: 'turn.tool.approve',
  after_tool: 'turn.tool.after',
} as const;

/** META: always all seven keys. Source: hook-json-protocol.md; TracePath and Source as the code sends them. */
export function toMeta(scene: Scene, tracePath: string, round: number = scene.round) {
  return {
    AgentID: scene.agent,
    TurnID: scene.turn_id,
    ParentTurnID: '',
    SessionKey: scene.session_id,
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

/** What the host says of the message that began the turn. */
export function toInbound({ host, session_id }: Scene) {
  const given = inboundKeys.filter((key) => host[key] !== undefined).map((key) => [key, host[key]] as const);
  const said: Readonly<Record<string, unknown>> = Object.fromEntries(given);
  return { channel: 'cli', chat_id: session_id, sender_id: '', ...said };
}

/** CTX and its two members that the page repeats beside it. */
export function toContext(scene: Scene) {
  const inbound = toInbound(scene);
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

/** What the host says of the message, as far as the scope of an event has it. */
export function toScope({ host }: Scene) {
  return Object.fromEntries(
    scopeKeys
      .filter((key) => typeof host[key] === 'string' && host[key] !== '')
      .map((key) => [key, host[key]]),
  );
}
