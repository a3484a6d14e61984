import { expect, test } from 'vitest';
import { volatileFieldsOf } from '../../../src/dialects/registry.ts';
import { withoutVolatileFields } from '../../../src/process/cassette/volatile-fields.ts';

const id = 'run_0123456789abcdef';

const made = [
  {
    title: 'the id of a tool call and its time',
    body: '{"hook":"tool","phase":"after_execution","request":{"name":"t","args":{"call_id":"mine"},"call_id":"call_1"},"response":{"call_id":"call_1","content":"\\"latency_ms\\":1","latency_ms":12}}',
    left: '{"hook":"tool","phase":"after_execution","request":{"name":"t","args":{"call_id":"mine"},"call_id":null},"response":{"call_id":null,"content":"\\"latency_ms\\":1","latency_ms":null}}',
  },
  {
    title: 'the same as PromptKit’s Go program writes it',
    body: '{"request":{"CallID":"call_1"},"response":{"LatencyMs":3}}',
    left: '{"request":{"CallID":null},"response":{"LatencyMs":null}}',
  },
  {
    title: 'the session of a run, wherever it is told',
    body: `{"context":{"session_id":"${id}"},"event":{"session_id":"${id}","conversation_id":"${id}"},"request":{"metadata":{"session_id":"${id}"}}}`,
    left: '{"context":{"session_id":null},"event":{"session_id":null,"conversation_id":null},"request":{"metadata":{"session_id":null}}}',
  },
  {
    title: 'the time of an eval',
    body: '{"eval_id":"e","duration_ms":17}',
    left: '{"eval_id":"e","duration_ms":null}',
  },
  {
    title: 'the time of a subject',
    body: '{"context":{"metadata":{"latency_ms":17,"topic":"x"},"turn_index":0}}',
    left: '{"context":{"metadata":{"latency_ms":null,"topic":"x"},"turn_index":0}}',
  },
  {
    title: 'the key of an idempotent call and the id of an approval',
    body: '{"args":{"idempotency_key":"k"},"idempotency_key":"call_1","approval":{"id":"p","by":"ann"}}',
    left: '{"args":{"idempotency_key":"k"},"idempotency_key":null,"approval":{"id":null,"by":"ann"}}',
  },
];

test.each(made)('$title does not count', ({ body, left }) => {
  expect(withoutVolatileFields(body, volatileFieldsOf('promptkit'))).toBe(left);
});

const own = [
  { title: 'a session that a dataset names', body: '{"context":{"session_id":"ann-1"}}' },
  {
    title: 'what stands in params, args and content',
    body: `{"params":{"duration_ms":1},"args":{"session_id":"${id}"},"content":"${id}"}`,
  },
  {
    title: 'the other metadata of a case',
    body: `{"context":{"metadata":{"duration_ms":5,"session_id":"${id}"}}}`,
  },
  { title: 'an unusual spelling of a number', body: '{"args":{"n": 1.0e0 ,"n":2}}' },
  { title: 'a member of another kind', body: '{"request":[1],"context":"x","approval":null}' },
  { title: 'what is no object', body: '[{"duration_ms":1}]' },
  { title: 'what is no JSON', body: '{"duration_ms":1' },
];

test.each(own)('$title counts unchanged', ({ body }) => {
  expect(withoutVolatileFields(body, volatileFieldsOf('promptkit'))).toBe(body);
});
