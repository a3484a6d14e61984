import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { readReply } from '../../../src/calls/capability/invoke.ts';
import type { EvalRequest } from '../../../src/contract/eval.ts';
import { promptkit } from '../../../src/dialects/promptkit/dialect.ts';
import { createScrubber } from '../../../src/runtime/log/scrub.ts';

const secret = 'correct-horse-battery';

const request: EvalRequest = {
  type: 'grade',
  params: {},
  content: 'x',
  context: { messages: [], turn_index: 0, tool_calls: [], variables: {}, metadata: {} },
};

const outcomesOf = (results: string) => {
  const reply = { via: 'rpc', result: new Json(`{"results":[${results}]}`) } as const;
  const scrubber = createScrubber([secret]);
  return readReply(reply, scrubber, (given) => promptkit.evalBatch.decode(given, [request, request])).output;
};

test('messages of single results hide secrets, and their data stays exact', () => {
  const [first, second] = outcomesOf(
    `{"error":"it was ${secret}"},{"score":1,"detail":"${secret}!","data":{"key":"${secret}","big":12345678901234567890}}`,
  );
  expect(first?.status === 'unscored' && first.reason).toMatch(/^it was /);
  expect(JSON.stringify(first)).not.toContain(secret);
  expect(second?.status === 'scored' && second.detail).not.toContain(secret);
  expect(second?.status === 'scored' && second.data?.text).toBe(
    `{"key":"${secret}","big":12345678901234567890}`,
  );
});

test('faults of single results hide secrets, also where an excerpt cuts one', () => {
  const [, second] = outcomesOf(`{"score":1},{"score":"${'x'.repeat(490)}${secret}"}`);
  expect(second?.status === 'unscored' && second.error?.code).toBe('REPLY_MALFORMED');
  expect(JSON.stringify(second)).not.toContain('correct');
});
