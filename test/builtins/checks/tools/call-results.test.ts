import { describe, expect, test } from 'vitest';
import { findParamProblems } from '../../../../src/builtins/checks/params.ts';
import type { ChatMessage } from '../../../../src/contract/provider.ts';
import { scoreOf } from '../asking.ts';
import { call, calls, judges, outcomeOf } from './calls.ts';

const good = call('lookup', { result: 'Order 7 is PAID' });
const busy = call('lookup', { error: 'busy' });

judges('tool_call_count', [
  ['enough of one tool', { tool: 'a', min: 1, max: 2 }, calls('a', 'b', 'a'), [1, '2 calls of a']],
  ['too few of all', { min: 2 }, calls('a'), [0, '1 call, at least 2 wanted']],
  ['too many of one', { tool_name: 'a', max: 0 }, calls('a'), [0, '1 call of a, at most 0 wanted']],
  ['none, and none wanted', { max: 0 }, [], [1, '0 calls']],
]);

judges('no_tool_errors', [
  ['none failed', {}, [good], [1, 'no call failed; called: lookup']],
  ['no calls', {}, [], [1, 'no call failed; no tool was called']],
  ['one of four failed', {}, [busy, good, good, good], [0.75, 'lookup failed: busy']],
  [
    'another tool failed',
    { tools: ['refund'] },
    [busy, call('refund')],
    [1, 'no call failed; called: refund'],
  ],
  [
    'the share is that of the tools that matter',
    { tools: ['lookup'] },
    [busy, call('a')],
    [0, 'lookup failed: busy'],
  ],
]);

judges('tool_efficiency', [
  ['a quarter of the calls', { max_calls: 4 }, calls('a'), [0.75, '1 call, 0 of them failed']],
  ['no calls', { max_calls: 4 }, [], [1, '0 calls, 0 of them failed']],
  ['all of the calls', { max_calls: 1 }, calls('a'), [0, '1 call, 0 of them failed']],
  ['more than all', { max_calls: 1 }, calls('a', 'a'), [0, '2 calls, at most 1 wanted']],
  ['none allowed, none made', { max_calls: 0 }, [], [1, '0 calls, 0 of them failed']],
  ['none allowed, one made', { max_calls: 0 }, calls('a'), [0, '1 call, at most 0 wanted']],
  ['as many errors as allowed', { max_errors: 1 }, [busy, good], [1, '2 calls, 1 of them failed']],
  ['more errors', { max_errors: 0 }, [busy], [0, '1 failed, at most 0 wanted']],
  ['as high a share as allowed', { max_error_rate: 0.5 }, [busy, good], [1, '2 calls, 1 of them failed']],
  [
    'too high a share',
    { max_error_rate: 0.4 },
    [busy, good],
    [0, '1 of 2 failed, at most the share 0.4 wanted'],
  ],
  ['a share of no calls', { max_error_rate: 0 }, [], [1, '0 calls, 0 of them failed']],
]);

judges('tool_result_includes', [
  [
    'all texts in one result, in any case',
    { tool: 'lookup', patterns: ['paid', 'ORDER 7'] },
    [good],
    [1, '1 of 1 call returned such a result, 1 wanted'],
  ],
  [
    'the texts in two results',
    { patterns: ['paid', 'sent'] },
    [good, call('lookup', { result: 'sent' })],
    [0, '0 of 2 calls returned such a result, 1 wanted: its result lacks "sent"'],
  ],
  [
    'too few such results',
    { patterns: ['paid'], occurrence: 2 },
    [good, busy],
    [0, '1 of 2 calls returned such a result, 2 wanted: its result lacks "paid"'],
  ],
  [
    'in the result of another tool',
    { tool_name: 'refund', patterns: ['paid'] },
    [good],
    [0, 'refund was not called; called: lookup'],
  ],
  ['no calls', { patterns: ['paid'] }, [], [0, 'no tool was called']],
]);

judges('tool_result_matches', [
  [
    'in another case',
    { pattern: 'order \\d' },
    [good],
    [0, '0 of 1 call returned such a result, 1 wanted: its result does not match order \\d'],
  ],
  [
    'found in any case',
    { pattern: '(?i)order \\d' },
    [good],
    [1, '1 of 1 call returned such a result, 1 wanted'],
  ],
  [
    'one that takes for ever does not matter where another is enough',
    { pattern: '^(a+)+$' },
    [call('a', { result: `${'a'.repeat(40)}b` }), call('a', { result: 'aa' })],
    [1, '1 of 2 calls returned such a result, 1 wanted'],
  ],
  [
    'one that takes for ever might have been enough',
    { pattern: '^(a+)+$' },
    [call('a', { result: `${'a'.repeat(40)}b` }), call('a', { result: 'x' })],
    'the pattern took longer than 1 s',
  ],
]);

const png = { type: 'image', media: { mime_type: 'image/png', data: 'iVBORw0=' } };
const note = { type: 'text', text: 'image/jpeg', media: { mime_type: 'image/jpeg' } };

describe.each([
  ['a list of parts', JSON.stringify([note, png])],
  ['an object with `parts`', JSON.stringify({ parts: [note, png] })],
  [
    'an object with `content`, with the names of MCP',
    '{"content":[{"type":"image","mimeType":"image/png"}]}',
  ],
  ['one part', JSON.stringify(png)],
])('media in %s', (_title, result) => {
  test.each([
    ['tool_result_has_media', { tool: 'chart', media_type: 'IMAGE' }, 1],
    ['tool_result_has_media', { media_type: 'audio' }, 0],
    ['tool_result_has_media', { media_type: 'text' }, 0],
    ['tool_result_has_media', { tool: 'other', media_type: 'image' }, 0],
    ['tool_result_media_type', { mime_type: 'image/PNG' }, 1],
    ['tool_result_media_type', { tool_name: 'chart', media_type: 'image/jpeg' }, 0],
  ] as const)('%s %j gives %d', async (type, params, score) => {
    expect(await scoreOf(type, { params, context: { tool_calls: [call('chart', { result })] } })).toBe(score);
  });
});

test('media in the message of the result', async () => {
  const result = (name: string, parts: unknown): ChatMessage => ({
    role: 'tool',
    content: '',
    tool_result: { id: '1', name },
    parts,
  });
  const asked: ChatMessage = { role: 'assistant', content: '' };
  const user: ChatMessage = { role: 'user', content: 'Draw.' };
  const score = (messages: readonly ChatMessage[]) =>
    scoreOf('tool_result_has_media', {
      params: { tool: 'chart', media_type: 'image' },
      context: { messages, tool_calls: [call('chart', { index: 1 })] },
    });
  expect(await score([user, asked, result('other', []), result('chart', [png])])).toBe(1);
  expect(await score([user, asked, result('other', [png])])).toBe(0);
  expect(await score([user, asked, asked, result('chart', [png])])).toBe(0);
});

test('a result that is not JSON has no media', async () => {
  const context = { tool_calls: [call('chart', { result: 'a picture of type image' })] };
  expect(await outcomeOf('tool_result_has_media', { params: { media_type: 'image' }, context })).toEqual([
    0,
    'no result has image; found: no media in 1 result',
  ]);
});

test.each([
  ['tool_call_count', {}, 'needs one of: min, max'],
  ['tool_call_count', { min: 2, max: 1 }, 'is below min, which is 2'],
  ['tool_efficiency', {}, 'needs one of: max_calls, max_errors, max_error_rate'],
  [
    'tool_result_matches',
    { pattern: '(' },
    'is not a valid JavaScript pattern: /(/: Unterminated group (to match a special character itself, write it in brackets, such as [(])',
  ],
])('%s refuses %j', (type, params, message) => {
  expect(findParamProblems(type, params).map((problem) => problem.message)).toEqual([message]);
});
