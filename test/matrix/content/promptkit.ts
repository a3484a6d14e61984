import type { Outcome, Place, Vocabulary } from './outcome.ts';
import { isRecord, Members, read } from './reading.ts';

const request = { request: { provider_id: 'main', model: 'm', messages: [{ role: 'user', content: 'hi' }] } };
const call = { request: { name: 'echo', args: { a: 1 }, call_id: 'c1' } };

const verdicts = [
  '{"allow":true}',
  '{"allow":true,"reason":"fine","metadata":{"a":1}}',
  '{"allow":false,"reason":"no"}',
  '{"allow":false,"enforced":true,"reason":"no","metadata":{"replacement":"gone"}}',
  '{"ack":true}',
  '{}',
];

const places: readonly Place[] = [
  {
    point: 'provider before_call',
    payload: request,
    answers: [
      ...verdicts,
      '{"allow":true,"replace":{"messages":[{"role":"user","content":"x"}]}}',
      '{"allow":true,"replace":{"system_prompt":"s"}}',
    ],
  },
  {
    point: 'provider after_call',
    payload: { ...request, response: { message: { role: 'assistant', content: 'hello' } } },
    answers: [...verdicts, '{"allow":true,"replace":{"message":{"role":"assistant","content":"x"}}}'],
  },
  {
    point: 'tool before_execution',
    payload: call,
    answers: [...verdicts, '{"allow":true,"replace":{"args":{"a":2}}}', '{"allow":false,"ask":true}'],
  },
  {
    point: 'tool after_execution',
    payload: { ...call, response: { name: 'echo', content: '1', error: '' } },
    answers: [...verdicts, '{"allow":true,"replace":{"content":"x"}}'],
  },
];

/** The members of `replace`, by phase. Source: docs/reference/protocols/promptkit.md, section 6.3. */
const replaced: Readonly<Record<string, readonly string[]>> = {
  before_call: ['messages', 'system_prompt'],
  after_call: ['message'],
  before_execution: ['args'],
  after_execution: ['content'],
};

/**
 * Section 3: one UTF-8 object, surrounded only by white space and a byte order mark. Section 6.3: exactly one `allow`,
 * which is `true`. Everything else denies, also without `on_failure: deny`.
 */
export const promptkit: Vocabulary = {
  dialect: 'promptkit',
  places,
  expect(point, bytes) {
    const members = objectIn(bytes);
    if (members === undefined || members.times('allow') !== 1) return ['deny'];
    if (members.get('allow') === false) return asks(point, members) ? ['ask'] : ['deny'];
    if (members.get('allow') !== true || !companionsFit(members) || members.get('ask') === true)
      return ['deny'];
    if (!members.has('replace')) return ['pass'];
    return replaceFits(point, members);
  },
};

/** The object that a strict reader finds, or undefined. */
function objectIn(bytes: Uint8Array): Members | undefined {
  const { reading, isGarbled } = read(bytes);
  const isUtf16 = bytes[0] === 0xfe || bytes[0] === 0xff;
  if (reading.kind !== 'object' || isGarbled || isUtf16) return undefined;
  return new Members(reading.members);
}

function companionsFit(members: Members): boolean {
  const [reason, enforced, metadata] = ['reason', 'enforced', 'metadata'].map((key) => members.get(key));
  const isAbsent = (value: unknown) => value === undefined || value === null;
  return (
    (isAbsent(reason) || typeof reason === 'string') &&
    (isAbsent(enforced) || enforced === false) &&
    (isAbsent(metadata) || isRecord(metadata))
  );
}

function asks(point: string, members: Members): boolean {
  const isAsked = members.get('ask') === true && members.times('ask') === 1;
  return point === 'tool before_execution' && isAsked && members.get('enforced') !== true;
}

/** A replacement either applies or denies; the original never passes. */
function replaceFits(point: string, members: Members): readonly Outcome[] {
  const replace = members.inner('replace');
  const known = replaced[point.split(' ')[1] ?? ''] ?? [];
  const keys = replace?.all.map(({ key }) => key) ?? [];
  if (keys.length === 0 || keys.some((key) => !known.includes(key))) return ['deny'];
  const isRight = keys.every((key) => typesOf[key]?.(replace?.get(key)) === true);
  return isRight ? ['change', 'deny'] : ['deny'];
}

const typesOf: Readonly<Record<string, (value: unknown) => boolean>> = {
  messages: Array.isArray,
  system_prompt: (value) => typeof value === 'string',
  message: (value) => isRecord(value) && value['role'] === 'assistant',
  args: isRecord,
  content: (value) => typeof value === 'string',
};

const toolAnswers = [
  '{"result":{"a":1}}',
  '{"result":null}',
  '{"error":"no"}',
  '{"error":"","result":1}',
  '{"pending":{"reason":"r","message":"m"}}',
  '{"pending":{}}',
];

/** Section 4.2: the first line that fits decides. */
export const promptkitTool: Vocabulary = {
  dialect: 'promptkit',
  places: [{ point: 'tool', payload: {}, answers: toolAnswers }],
  expect(_point, bytes) {
    const members = objectIn(bytes);
    if (members === undefined) return ['deny'];
    const error = members.get('error');
    if (members.has('error') && error !== '' && error !== null) return ['deny'];
    const pending = members.get('pending');
    if (!members.has('pending') || pending === null) return members.has('result') ? ['pass'] : ['deny'];
    const isWhole =
      isRecord(pending) &&
      ['reason', 'message'].every((key) => ['string', 'undefined'].includes(typeof pending[key]));
    return isWhole && !members.has('result') ? ['ask'] : ['deny'];
  },
};

const evalAnswers = [
  '{"score":1}',
  '{"score":0.5,"detail":"half","data":{"a":1}}',
  '{"score":0}',
  '{"error":"no text"}',
  '{"score":1,"error":"no text"}',
];

/** Section 7: a score from 0 to 1, with companions of the right type, and no error. */
export const promptkitEval: Vocabulary = {
  dialect: 'promptkit',
  places: [{ point: 'eval', payload: {}, answers: evalAnswers }],
  expect(_point, bytes) {
    const members = objectIn(bytes);
    if (members === undefined) return ['deny'];
    const [score, error, detail, data] = ['score', 'error', 'detail', 'data'].map((key) => members.get(key));
    const isScore = typeof score === 'number' && score >= 0 && score <= 1;
    const isNoError = error === undefined || error === null || error === '';
    const fits = (detail ?? '') === '' || typeof detail === 'string';
    const isSound = isScore && isNoError && fits && (data === undefined || data === null || isRecord(data));
    return isSound ? ['pass'] : ['deny'];
  },
};
