import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { promptkit } from '../../../src/dialects/promptkit/dialect.ts';

const call = { name: 'pay', callId: 'c', args: new Json('{"n": 1.0}') };
const printed = (text: string) =>
  ({ via: 'process', exitCode: 0, signal: null, stdout: Buffer.from(text), stderr: '' }) as const;

function read(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof RuntimeError ? error.code : error;
  }
}

test.each([
  ['{"result":1.0}', { status: 'ok', result: new Json('1.0') }],
  ['{"result":null}', { status: 'ok', result: new Json('null') }],
  ['{"result":1,"error":"","pending":null}', { status: 'ok', result: new Json('1') }],
  ['{"error":"no","result":1}', { status: 'failed', error: { code: 'TOOL_ERROR', message: 'no' } }],
  ['{"error":"no","pending":{}}', { status: 'failed', error: { code: 'TOOL_ERROR' } }],
])('a tool that prints %s', (text, output) => {
  expect(read(() => promptkit.tool.decode(printed(text), call).output)).toMatchObject(output);
});

test.each([
  ['{}', 'REPLY_MALFORMED'],
  ['{"error":1}', 'REPLY_MALFORMED'],
  ['{"error":{},"result":1}', 'REPLY_MALFORMED'],
  ['{"pending":{},"result":1}', 'REPLY_MALFORMED'],
  ['{"pending":1}', 'REPLY_MALFORMED'],
  ['{"pending":{"reason":1}}', 'REPLY_MALFORMED'],
  ['{"pending":{"message":null}}', 'REPLY_MALFORMED'],
])('a tool that prints %s has failed', (text, code) => {
  expect(read(() => promptkit.tool.decode(printed(text), call))).toBe(code);
});

test.each([
  ['{}', '', 'Tool "pay" asks for a decision.'],
  ['{"reason":"big","message":"Shall I?","x":1.0}', 'big', 'Shall I?'],
])('a tool that asks with %s waits', (pending, reason, message) => {
  const text = `{"pending":${pending}}`;
  const { output } = promptkit.tool.decode(printed(text), call);
  expect(output).toMatchObject({ status: 'pending', reason, message });
  const answered = { via: 'rpc', result: new Json(text) } as const;
  expect(promptkit.tool.decode(answered, call).output).toEqual(output);
});

test('an unknown member of a printed reply is noted', () => {
  expect(promptkit.tool.decode(printed('{"result":1,"more":1}'), call).notes).toHaveLength(1);
  expect(promptkit.tool.decode(printed('{"result":1,"error":"","pending":null}'), call).notes).toEqual([]);
});

test('a tool receives its approval and its key, and nothing else', () => {
  const approval = { id: 'p', decision: 'approved', by: 'ann', reason: 'fine' } as const;
  const bodyOf = (more: object) => JSON.parse(promptkit.tool.encode({ ...call, ...more }).body);
  expect(bodyOf({})).toEqual({ args: { n: 1 } });
  expect(bodyOf({ approval })).toEqual({ args: { n: 1 }, approval });
  expect(bodyOf({ approval, idempotencyKey: 'k' })).toEqual({
    args: { n: 1 },
    approval,
    idempotency_key: 'k',
  });
});

const outcomeOf = (text: string) => read(() => promptkit.eval.decode(printed(text), {} as never).output);

test.each([
  ['{"score":0}', 0],
  ['{"score":1}', 1],
  ['{"score":0.5,"error":"","detail":null,"data":null}', 0.5],
])('%s is a score', (text, score) => {
  expect(outcomeOf(text)).toMatchObject({ status: 'scored', score });
});

test('detail and data are kept', () => {
  const text = '{"score":1,"detail":"so","data":{"a":1.0}}';
  expect(outcomeOf(text)).toMatchObject({ detail: 'so', data: new Json('{"a":1.0}') });
});

test('an error is unscored, whatever other members there are', () => {
  expect(outcomeOf('{"error":"no","score":1}')).toMatchObject({ status: 'unscored' });
});

test.each([
  '{}',
  '{"score":"1"}',
  '{"score":null}',
  '{"score":1.1}',
  '{"score":-0.1}',
  '{"score":1e400}',
  '{"error":1,"score":1}',
  '{"score":1,"detail":1}',
  '{"score":1,"data":[]}',
])('%s is no score', (text) => {
  expect(outcomeOf(text)).toBe('REPLY_MALFORMED');
});

test('an eval receives its type, the judged text and its context', () => {
  const context = { messages: [], turn_index: 2, tool_calls: [], variables: { a: 1 }, metadata: { b: 2 } };
  const { body } = promptkit.eval.encode({ type: 'tone', params: { strict: true }, content: 'hi', context });
  expect(JSON.parse(body)).toEqual({ type: 'tone', params: { strict: true }, content: 'hi', context });
});

test('data of a server is neither a question nor noted', () => {
  const answered = (text: string) => promptkit.tool.decode({ via: 'rpc', result: new Json(text) }, call);
  expect(answered('{"pending":{}}').notes).toEqual([]);
  expect(answered('{"a":{"pending":{}}}')).toEqual({
    output: { status: 'ok', result: expect.any(Json) },
    notes: [],
  });
});
