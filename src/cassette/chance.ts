import { isObject } from '../json.ts';
import { type Member, scanMembers } from '../json-text.ts';

/**
 * The request without what is another value each time that the same is asked: ids that Signalbox makes up, and
 * measured times. Arguments, params and messages are the user's own and stay as they are.
 */
export function withoutChance(body: string): string {
  return isObjectText(body) ? rewrite(body, scanMembers(body), root) : body;
}

/** What is done to the members of one object; what is not named stays. */
interface Rule {
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

const root: Rule = {
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

function rewrite(text: string, members: readonly Member[], rule: Rule): string {
  const parts: string[] = [];
  let at = 0;
  for (const { key, start, end } of members) {
    const action = Object.hasOwn(rule, key) ? rule[key] : undefined;
    if (action === undefined) continue;
    parts.push(text.slice(at, start), replace(text.slice(start, end), action));
    at = end;
  }
  return parts.join('') + text.slice(at);
}

function replace(value: string, action: 'drop' | 'drop run ids' | Rule): string {
  if (action === 'drop') return 'null';
  if (action === 'drop run ids') return runId.test(value) ? 'null' : value;
  return value.startsWith('{') ? rewrite(value, scanMembers(value), action) : value;
}

/** Sessions that a dataset names are questions of their own. */
const runId = /^"run_[\da-f]{16}"$/;

function isObjectText(text: string): boolean {
  if (!text.startsWith('{')) return false;
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
