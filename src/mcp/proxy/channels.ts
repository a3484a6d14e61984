import type { UpstreamInfo } from '../../runtime/runtime.ts';

/** What `pass` of a server names. */
type Pass = UpstreamInfo['pass'][number];

/**
 * `call`: as a call of the tool. `judged`: hooks judge the params and the answer. `answer`: hooks judge the answer; the
 * params have no text. `protocol`: no text passes, since other members than `members` are refused.
 */
type Rule = 'call' | 'judged' | 'answer' | 'protocol';

export interface Channel {
  readonly method: string;
  readonly from: 'client' | 'server';
  readonly kind: 'request' | 'notification';
  readonly rule: Rule;
  /** What `pass` must contain. Undefined: it always passes. */
  readonly pass?: Pass;
  /** The params of a message that has no text. */
  readonly members?: readonly string[];
}

const ask = (rule: Rule, method: string, pass?: Pass): Channel => ({
  ...{ method, from: 'client', kind: 'request', rule },
  ...(pass && { pass }),
});
const askBack = (method: string, pass: Pass): Channel => ({
  ...{ method, from: 'server', kind: 'request', rule: 'judged', pass },
});
const tell = (
  from: Channel['from'],
  rule: Rule,
  name: string,
  { pass, members }: Pick<Channel, 'pass' | 'members'> = {},
): Channel => ({
  ...{ method: `notifications/${name}`, from, kind: 'notification', rule },
  ...(pass && { pass }),
  ...(members && { members }),
});

/** All messages of MCP 2025-03-26 to 2026-07-28 that the proxy knows. Any other message is refused. */
export const channels: readonly Channel[] = [
  ask('answer', 'initialize'),
  ask('answer', 'server/discover'),
  { ...ask('protocol', 'ping'), members: [] },
  ask('answer', 'tools/list'),
  ask('call', 'tools/call'),
  ask('judged', 'resources/list', 'resources'),
  ask('judged', 'resources/templates/list', 'resources'),
  ask('judged', 'resources/read', 'resources'),
  ask('judged', 'resources/subscribe', 'resources'),
  ask('judged', 'resources/unsubscribe', 'resources'),
  ask('judged', 'prompts/list', 'prompts'),
  ask('judged', 'prompts/get', 'prompts'),
  ask('judged', 'completion/complete', 'completions'),
  ask('judged', 'logging/setLevel', 'logging'),
  ask('judged', 'subscriptions/listen', 'subscriptions'),
  tell('client', 'protocol', 'initialized', { members: [] }),
  tell('client', 'judged', 'cancelled'),
  tell('client', 'judged', 'progress'),
  tell('client', 'protocol', 'roots/list_changed', { pass: 'roots', members: [] }),
  { method: 'ping', from: 'server', kind: 'request', rule: 'protocol', members: [] },
  askBack('elicitation/create', 'elicitation'),
  askBack('sampling/createMessage', 'sampling'),
  askBack('roots/list', 'roots'),
  tell('server', 'judged', 'cancelled'),
  tell('server', 'judged', 'progress'),
  tell('server', 'judged', 'message', { pass: 'logging' }),
  tell('server', 'judged', 'resources/updated', { pass: 'resources' }),
  tell('server', 'protocol', 'resources/list_changed', { pass: 'resources', members: [] }),
  tell('server', 'protocol', 'prompts/list_changed', { pass: 'prompts', members: [] }),
  tell('server', 'protocol', 'tools/list_changed', { members: [] }),
  tell('server', 'judged', 'elicitation/complete', { pass: 'elicitation' }),
  tell('server', 'judged', 'subscriptions/acknowledged', { pass: 'subscriptions' }),
];

/** Undefined if the message is unknown, or if the config does not pass it. */
export function channelOf(
  message: Pick<Channel, 'method' | 'from' | 'kind'>,
  pass: ReadonlySet<string>,
): Channel | undefined {
  return channels.find(
    (channel) =>
      channel.method === message.method &&
      channel.from === message.from &&
      channel.kind === message.kind &&
      (channel.pass === undefined || pass.has(channel.pass)),
  );
}

/** Capabilities that either side may declare, with what `pass` must contain. All others are removed. */
export const capabilities: Readonly<Record<Channel['from'], Readonly<Record<string, Pass | undefined>>>> = {
  client: { elicitation: 'elicitation', sampling: 'sampling', roots: 'roots' },
  server: {
    ...{ tools: undefined, resources: 'resources', prompts: 'prompts' },
    ...{ completions: 'completions', logging: 'logging' },
  },
};

/** Members of `_meta` that the protocol defines, or that trace a call. Hooks of requests do not see them. */
export const protocolMeta: ReadonlySet<string> = new Set([
  ...['progressToken', 'traceparent', 'tracestate', 'baggage'],
  ...['protocolVersion', 'clientInfo', 'clientCapabilities', 'logLevel', 'subscriptionId'].map(
    (name) => `io.modelcontextprotocol/${name}`,
  ),
]);
