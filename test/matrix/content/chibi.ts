import type { Outcome, Place, Vocabulary } from './outcome.ts';
import { isRecord, jsonIn, Members, read } from './reading.ts';

const call = { tool_name: 'echo', arguments: { a: 1 } };
const denials = [
  '{"denied":true,"reason":"no"}',
  '{"denied":false}',
  '{}',
  '{"approved":true}',
  '{"approved":false,"reason":"no"}',
];

const asked: readonly (Place & { readonly types: Readonly<Record<string, string>> })[] = [
  {
    point: 'pre_message',
    payload: { prompt: 'hi' },
    answers: ['{"prompt":"other"}', '{}'],
    types: { prompt: 'text' },
  },
  {
    point: 'pre_system_prompt',
    payload: {},
    answers: ['{"inject":"be kind"}', '{}'],
    types: { inject: 'text' },
  },
  {
    point: 'post_system_prompt',
    payload: {},
    answers: ['{"inject":"be kind"}', '{}'],
    types: { inject: 'text' },
  },
  {
    point: 'pre_tool',
    payload: call,
    answers: ['{"block":true,"message":"no"}', '{"arguments":{"a":2}}', '{"block":false}', '{}'],
    types: { block: 'flag', message: 'text' },
  },
  {
    point: 'pre_tool_output',
    payload: { ...call, output: 'o' },
    answers: ['{"block":true,"message":"no"}', '{"output":"other"}', '{}'],
    types: { block: 'flag', message: 'text', output: 'text' },
  },
  {
    point: 'pre_api_tools',
    payload: { context_name: 'c', tools: [] },
    answers: ['{"include":["a"]}', '{"exclude":["a"]}', '{}'],
    types: { include: 'list', exclude: 'list' },
  },
  {
    point: 'pre_file_read',
    payload: { tool_name: 'echo', path: '/etc/passwd' },
    answers: denials,
    types: { denied: 'flag', reason: 'text', approved: 'flag' },
  },
  {
    point: 'pre_file_write',
    payload: { tool_name: 'echo', path: '/a', content: null, operation: 'write' },
    answers: denials,
    types: { denied: 'flag', reason: 'text', approved: 'flag' },
  },
  {
    point: 'pre_shell_exec',
    payload: { tool_name: 'echo', command: 'ls' },
    answers: denials,
    types: { denied: 'flag', reason: 'text', approved: 'flag' },
  },
  {
    point: 'pre_fetch_url',
    payload: { tool_name: 'echo', safety: 'sensitive' },
    answers: denials,
    types: { denied: 'flag', reason: 'text', approved: 'flag' },
  },
  {
    point: 'pre_spawn_agent',
    payload: { system_prompt: '', input: 'i', model: 'm' },
    answers: ['{"block":true,"message":"no"}', '{"response":"done"}', '{}'],
    types: { response: 'text', block: 'flag', message: 'text' },
  },
  {
    point: 'pre_cache_output',
    payload: { ...call, content: 'c' },
    answers: ['{"block":true}', '{"summary":"short"}', '{}'],
    types: { summary: 'text', block: 'flag' },
  },
  {
    point: 'pre_send_message',
    payload: { from: 'a', to: 'b', content: 'c', context_name: 'x' },
    answers: ['{"delivered":true,"via":"mail"}', '{"delivered":false}', '{}'],
    types: { delivered: 'flag', via: 'text' },
  },
];

const told: readonly Place[] = [
  {
    point: 'on_start',
    payload: { chibi_home: '/h', project_root: '/p', tool_count: 1 },
    answers: ['{}', '{"block":true}'],
  },
  { point: 'post_tool', payload: { ...call, result: 'r' }, answers: ['{}', '{"denied":true}'] },
  {
    point: 'pre_vfs_write',
    payload: { tool_name: 'echo', path: 'vfs:///a', content: null, caller: 'c' },
    answers: ['{"denied":true}'],
  },
];

/** Sections 4, 6 and 7: a refusal in any form counts once. Anything other than one JSON object is no opinion. */
export const chibi: Vocabulary = {
  dialect: 'chibi',
  places: [...asked, ...told],
  expect(point, bytes, isClosed) {
    const place = asked.find((each) => each.point === point);
    if (place === undefined) return ['pass'];
    const isPermission = 'denied' in place.types;
    const passing: readonly Outcome[] = isPermission ? ['ask'] : ['pass', 'change'];
    const failed: readonly Outcome[] = isClosed ? ['deny'] : [isPermission ? 'open ask' : 'open'];
    const { reading } = read(bytes);
    if (reading.kind !== 'object') return failed;
    const members = new Members(reading.members);
    if (refuses(point, members)) return ['deny'];
    const isWrong = Object.entries(place.types).some(
      ([key, type]) => members.has(key) && !fits(members.text(key), type),
    );
    return isWrong ? failed : unusable(members) ? ['deny'] : passing;
  },
};

const refusing = [
  'pre_tool',
  'pre_tool_output',
  'pre_spawn_agent',
  'pre_file_read',
  'pre_file_write',
  'pre_shell_exec',
  'pre_fetch_url',
];

/** `block: true`, `denied: true` and `approved: false` deny there, even if duplicated or in another letter case. */
function refuses(point: string, members: Members): boolean {
  if (!refusing.includes(point)) return false;
  // A response in the agent's place is not a refusal.
  if (point === 'pre_spawn_agent' && typeof members.get('response') === 'string') return false;
  return (
    members.get('block') === true ||
    members.get('denied') === true ||
    members.get('approved') === false ||
    ['block', 'denied', 'approved'].some(
      (key) => members.times(key) > 1 || (members.times(key) === 1 && !members.has(key)),
    )
  );
}

/** New arguments must be an object. */
function unusable(members: Members): boolean {
  return members.has('arguments') && !isRecord(members.get('arguments'));
}

function fits(text: string | undefined, type: string): boolean {
  const value = jsonIn(text ?? '');
  if (type === 'list') return Array.isArray(value);
  return typeof value === (type === 'flag' ? 'boolean' : 'string');
}
