import type { Outcome, Place, Vocabulary } from './outcome.ts';
import { isRecord, jsonIn, Members, membersOf } from './reading.ts';

const common = [
  '{"action":"continue"}',
  '{"action":"abort_turn","reason":"no"}',
  '{"action":"hard_abort"}',
  '{"allow":false}',
  '{"decision":{"action":"deny_tool"}}',
  '{}',
];
const tool = { tool: 'echo', arguments: { a: 1 } };

const places: readonly Place[] = [
  {
    point: 'before_llm',
    payload: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    answers: [
      ...common,
      '{"action":"modify","request":{"model":"m","messages":[{"role":"user","content":"x"}]}}',
    ],
  },
  {
    point: 'after_llm',
    payload: { model: 'm', response: { content: 'hello' } },
    answers: [...common, '{"action":"modify","response":{"model":"m","response":{"content":"x"}}}'],
  },
  {
    point: 'before_tool',
    payload: tool,
    answers: [
      ...common,
      '{"action":"deny_tool","reason":"no"}',
      '{"action":"modify","call":{"tool":"echo","arguments":{"a":2}}}',
      '{"action":"respond","result":{"for_llm":"x"}}',
    ],
  },
  {
    point: 'after_tool',
    payload: { ...tool, result: { for_llm: 'out' } },
    answers: [...common, '{"action":"modify","result":{"tool":"echo","result":{"for_llm":"x"}}}'],
  },
  {
    point: 'approve_tool',
    payload: tool,
    answers: [
      '{"approved":true}',
      '{"approved":true,"reason":"fine"}',
      '{"approved":false,"reason":"no"}',
      '{"allow":true}',
      '{}',
    ],
  },
];

/** The member of a result that holds the changed object of its stage. */
const objects: Readonly<Record<string, string>> = {
  before_llm: 'request',
  after_llm: 'response',
  before_tool: 'call',
  after_tool: 'result',
};

/** Sections 5 and 6, for the value of `result`; undefined: no result. */
export const picoclaw: Vocabulary = {
  dialect: 'picoclaw',
  places,
  expect(point, bytes, isClosed) {
    const text = new TextDecoder().decode(bytes).trim();
    const failed: readonly Outcome[] = [isClosed || point === 'approve_tool' ? 'deny' : 'open'];
    if (!isRecord(jsonIn(text))) return failed;
    const members = new Members(membersOf(text));
    if (point === 'approve_tool') return approves(members);
    return expectOf(point, members, failed);
  },
};

/** Only `approved: true` approves. A wrong member beside it may revoke that. */
function approves(members: Members): readonly Outcome[] {
  if (members.get('approved') !== true || members.times('approved') !== 1) return ['deny'];
  return members.all.length === 1 ? ['pass'] : ['pass', 'deny'];
}

const denying: readonly unknown[] = ['deny_tool', 'abort_turn', 'hard_abort'];

function expectOf(point: string, members: Members, failed: readonly Outcome[]): readonly Outcome[] {
  if (members.times('action') > 1) return ['deny'];
  const action = members.get('action');
  if (denying.includes(action))
    return action === 'deny_tool' && point !== 'before_tool' ? ['deny', ...failed] : ['deny'];
  const key = objects[point] ?? '';
  if (action === undefined) {
    if (deniesOtherwise(members)) return ['deny'];
    // An answer or a tool result without an action is an intended change.
    return members.has(key) && point.startsWith('after_') ? ['deny', ...failed] : failed;
  }
  if (action === 'respond' && point === 'before_tool')
    return responds(members) ? ['change'] : ['deny', ...(mayRespond(members) ? (['change'] as const) : [])];
  if (action !== 'continue' && action !== 'modify')
    return deniesOtherwise(members) ? ['deny', ...failed] : failed;
  if (!members.has(key) || members.get(key) === null)
    return ['pass', 'change', ...(deniesOtherwise(members) ? (['deny'] as const) : [])];
  // An object of no known form is a failure. The protocol does not define how strict a form is.
  return isRecord(members.get(key)) ? ['pass', 'change', 'deny', ...failed] : ['deny', ...failed];
}

/** Other forms of a denial: section 10. */
function deniesOtherwise(members: Members): boolean {
  return members.all.some(({ key, text }) => {
    const value = jsonIn(text);
    switch (key.toLowerCase()) {
      case 'allow':
      case 'approved':
        return value === false;
      case 'verdict':
        return value === 'deny';
      case 'action':
        return denying.includes(value);
      case 'decision':
        return (
          value === 'deny' ||
          (isRecord(value) &&
            Object.entries(value).some(
              ([inner, word]) => inner.toLowerCase() === 'action' && denying.includes(word),
            ))
        );
      default:
        return false;
    }
  });
}

function mayRespond({ all }: Members): boolean {
  const result = jsonIn(all.findLast(({ key }) => key.toLowerCase() === 'result')?.text ?? '');
  return isRecord(result) && Object.keys(result).some((key) => key.toLowerCase() === 'for_llm');
}

function responds(members: Members): boolean {
  const result = members.get('result');
  const isError = isRecord(result) ? (result['is_error'] ?? false) : undefined;
  return isRecord(result) && typeof result['for_llm'] === 'string' && typeof isError === 'boolean';
}
