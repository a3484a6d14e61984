import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import type { Reply } from '../../../src/contract/exchange.ts';
import { promptkit } from '../../../src/dialects/promptkit/dialect.ts';
import { event } from '../verdicts.ts';

const rpc = (text: string): Reply => ({ via: 'rpc', result: new Json(text) });
const call = { name: 't', callId: 'c', args: new Json('{"a": [1.0,\n "x\\n"]}') };

test('a bare allow is read like any other spelling of it', () => {
  const [spelt, ...bare] = ['{ "allow" : true }', '{"allow":true}', '{"allow": true}'].map((text) =>
    promptkit.hook.decode(rpc(text), event),
  );
  expect(bare).toEqual([spelt, spelt]);
});

test('an error beside a bare allow takes precedence', () => {
  const reply = {
    via: 'rpc',
    result: new Json('{"allow":true}'),
    error: new Json('{"message":"no"}'),
  } as const;
  expect(() => promptkit.hook.decode(reply, event)).toThrow('no');
});

test.each([
  ['{"pending":{}}', 'pending'],
  [' {\n"pending": {"reason": "r"}}', 'pending'],
  ['{"\\u0070ending":{}}', 'pending'],
  ['{"p\\u0065nding":{}}', 'pending'],
  ['{"pending":{},"pending":{}}', 'pending'],
  ['{"pending":{},"more":1}', 'ok'],
  ['{"more":1,"pending":{}}', 'ok'],
  ['{"pending":1}', 'ok'],
  ['{"pendin\\"g":{}}', 'ok'],
  ['{}', 'ok'],
  ['[{"pending":{}}]', 'ok'],
  ['"pending"', 'ok'],
])('the result %s of a server is %s', (text, status) => {
  expect(promptkit.tool.decode(rpc(text), call).output.status).toBe(status);
});

test('arguments reach the process as they were spelt, on one line', () => {
  expect(promptkit.tool.encode(call).body).toBe('{"args":{"a": [1.0,  "x\\n"]}}');
  const keyed = promptkit.tool.encode({ ...call, idempotencyKey: 'k' });
  expect(keyed.body).toBe('{"args":{"a": [1.0,  "x\\n"]},"idempotency_key":"k"}');
});
