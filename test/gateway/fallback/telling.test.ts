import { expect, test } from 'vitest';
import { tellingOf } from '../../../src/gateway/call/ask.ts';

const chat = (delta: unknown, more = {}) => ({
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});

test.each([
  ['nothing', { type: 'ping' }],
  ['nothing', { type: 'message_start', message: { content: [] } }],
  ['nothing', { type: 'response.created', response: {} }],
  ['nothing', { type: 'response.in_progress', response: {} }],
  ['nothing', chat({ role: 'assistant', content: '', refusal: null })],
  ['nothing', { choices: [] }],
  ['answer', chat({ content: 'a' })],
  ['answer', chat({ tool_calls: [] })],
  ['answer', chat({}, { finish_reason: 'stop' })],
  ['answer', { choices: ['odd'] }],
  ['answer', { choices: [{}] }],
  ['answer', { type: 'content_block_start' }],
  ['answer', { type: 'response.output_item.added' }],
  ['answer', { type: 'response.completed', response: { error: null } }],
  ['answer', { type: 'of-a-kind-that-nobody-knows' }],
  ['answer', {}],
  ['answer', 'text'],
  ['answer', null],
  ['fault', { type: 'error', error: { type: 'overloaded_error', message: 'm' } }],
  ['fault', { type: 'error', code: 'server_error', message: 'm' }],
  ['fault', { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded' } } }],
  ['fault', { error: { code: 502, message: 'm' } }],
  ['fault', { error: { code: '429' } }],
  ['answer', { type: 'error', error: { type: 'invalid_request_error' } }],
  ['answer', { type: 'response.failed', response: { error: { code: 'invalid_prompt' } } }],
  ['answer', { type: 'response.failed', response: {} }],
  ['answer', { error: { code: 400, type: null } }],
  ['answer', { error: { code: true, message: 'overloaded_error' } }],
])('%s: %j', (telling, value) => {
  expect(tellingOf({ event: undefined, data: JSON.stringify(value) })).toBe(telling);
});

test.each([
  ['answer', ''],
  ['answer', '[DONE]'],
  ['answer', '{"error": {"type": "overloaded_error"}'],
])('%s: %s', (telling, data) => {
  expect(tellingOf({ event: undefined, data })).toBe(telling);
});
