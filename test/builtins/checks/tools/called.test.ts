import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../../../../src/contract/provider.ts';
import { ask, scoreOf } from '../asking.ts';
import { call, calls, judges, outcomeOf } from './calls.ts';

const failed = call('refund', { error: 'denied' });
const refused = call('refund', { error: 'order is missing', error_type: 'validation' });

for (const type of ['tools_called', 'tool_called']) {
  judges(type, [
    [
      'all were called',
      { tool_names: ['lookup', 'refund'] },
      calls('lookup', 'refund'),
      [1, 'all 2 were called; called: lookup, refund'],
    ],
    [
      'one was not',
      { tools: ['lookup', 'refund'] },
      calls('lookup', 'notify', 'lookup'),
      [0.5, 'refund was not called; called: lookup (2), notify'],
    ],
    ['without calls', { tool_names: ['lookup'] }, [], [0, 'lookup was not called; no tool was called']],
    [
      'a call that failed does not count',
      { tool_names: ['refund'] },
      [failed],
      [0, 'refund was not called (1 call failed or had no arguments); called: refund'],
    ],
    [
      'a call whose arguments were refused counts when that is to be ignored',
      { tool_names: ['refund'], ignore_validation: true },
      [refused],
      [1, 'all 1 were called; called: refund'],
    ],
    [
      'a call that failed otherwise does not count even then',
      { tool_names: ['refund'], ignore_validation: true },
      [failed],
      [0, 'refund was not called (1 call failed or had no arguments); called: refund'],
    ],
    [
      'refused arguments do not count by default',
      { tool_names: ['refund'] },
      [refused],
      [0, 'refund was not called (1 call failed or had no arguments); called: refund'],
    ],
    [
      'a call without arguments does not count when they are required',
      { tool_names: ['lookup', 'refund'], require_args: true },
      [call('lookup'), call('refund', { args: { order: 7 } })],
      [0.5, 'lookup was not called (1 call failed or had no arguments); called: lookup, refund'],
    ],
    [
      'too few calls',
      { tool_names: ['lookup'], min_calls: 2 },
      calls('lookup'),
      [0, 'lookup was called 1 of 2 times; called: lookup'],
    ],
    [
      'too many calls of one tool outweigh all others',
      { tool_names: ['lookup', 'refund'], max_calls: 1 },
      calls('lookup', 'refund', 'refund'),
      [0, 'refund was called 2 times, at most 1 wanted; called: lookup, refund (2)'],
    ],
    [
      'none may be called',
      { tool_names: ['refund'], min_calls: 0, max_calls: 0 },
      calls('lookup'),
      [1, 'all 1 were called; called: lookup'],
    ],
    [
      'a name of every object is no tool that was called',
      { tool_names: ['constructor'] },
      calls('lookup'),
      [0, 'constructor was not called; called: lookup'],
    ],
    [
      'a limit below the default minimum',
      { tool_names: ['refund'], max_calls: 0 },
      [],
      `the params of ${type} are not valid: max_calls is below min_calls, which is 1`,
    ],
  ]);
}

judges('tools_not_called', [
  [
    'none of them',
    { tool_names: ['refund'] },
    calls('lookup'),
    [1, 'none of them was called; called: lookup'],
  ],
  ['one of them, in vain', { tools: ['refund', 'pay'] }, [failed], [0, 'refund was called; called: refund']],
  ['two of them', { tools: ['a', 'b'] }, calls('b', 'a', 'b'), [0, 'b, a were called; called: b (2), a']],
  [
    'another case of letters',
    { tools: ['refund'] },
    calls('Refund'),
    [1, 'none of them was called; called: Refund'],
  ],
]);

judges('tools_called_session', [
  [
    'a call that failed counts',
    { tool_names: ['refund'] },
    [failed],
    [1, 'all 1 were called; called: refund'],
  ],
  [
    'one was called too rarely',
    { tool_names: ['lookup', 'refund'], min_calls: 2 },
    calls('lookup', 'lookup', 'refund'),
    [0.5, 'refund was called 1 of 2 times; called: lookup (2), refund'],
  ],
]);

test('data lists found and missing calls', async () => {
  const outcome = await ask('tools_called', {
    params: { tool_names: ['lookup', 'refund', 'notify'], max_calls: 1 },
    context: { tool_calls: calls('lookup', 'lookup', 'notify') },
  });
  const data = '{"found":2,"expected":3,"missing":["refund"],"over_limit":["lookup"]}';
  expect(outcome).toMatchObject({ status: 'scored', score: 0, data: { text: data } });
});

describe('the turn', () => {
  const messages: readonly ChatMessage[] = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: '' },
    { role: 'user', content: 'Pay me back.' },
    { role: 'assistant', content: '' },
  ];
  const earlier = call('lookup', { index: 2 });
  const now = call('refund', { index: 4 });
  const context = { messages, tool_calls: [earlier, now] };

  test('begins after the last user message', async () => {
    expect(await outcomeOf('tools_called', { params: { tools: ['lookup'] }, context })).toEqual([
      0,
      'lookup was not called; called: refund',
    ]);
    expect(await scoreOf('tools_not_called', { params: { tools: ['lookup'] }, context })).toBe(1);
    expect(await scoreOf('tools_not_called', { params: { tools: ['refund'] }, context })).toBe(0);
  });

  test.each([
    ['tools_called_session', { tools: ['lookup', 'refund'] }, 1],
    ['tools_not_called_session', { tools: ['lookup'] }, 0],
    ['tools_called', { tools: ['lookup', 'refund'], scope: 'conversation' }, 1],
    ['tool_call_count', { min: 2, scope: 'conversation' }, 1],
    ['tool_call_count', { max: 1 }, 1],
    ['tool_call_sequence', { sequence: ['lookup', 'refund'], scope: 'conversation' }, 1],
    ['tool_call_sequence', { sequence: ['lookup', 'refund'] }, 0],
  ] as const)('%s of %j gives %d', async (type, params, score) => {
    expect(await scoreOf(type, { params, context })).toBe(score);
  });

  test.each([
    ['no message at all', []],
    ['a question that is not answered yet', messages.slice(0, 4)],
    ['an index that points at no answer', messages.slice(0, 2)],
  ])('a call with an unknown place belongs to it: %s', async (_title, shown) => {
    const forbidden = { messages: shown, tool_calls: [call('refund', { index: 0 })] };
    expect(await scoreOf('tools_not_called', { params: { tools: ['refund'] }, context: forbidden })).toBe(0);
  });
});
