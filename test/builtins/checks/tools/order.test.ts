import { expect, test } from 'vitest';
import { findParamProblems } from '../../../../src/builtins/checks/params.ts';
import { ask } from '../asking.ts';
import { call, calls, judges } from './calls.ts';

judges('tool_call_sequence', [
  [
    'in order, with others between',
    { sequence: ['a', 'b', 'a'] },
    calls('a', 'x', 'b', 'x', 'a'),
    [1, 'called in order: a, b, a'],
  ],
  [
    'half of it',
    { sequence: ['a', 'b', 'c', 'd'] },
    calls('a', 'b', 'd'),
    [0.5, 'c was not called after b; called: a, b, d'],
  ],
  [
    'in the other order',
    { sequence: ['a', 'b'] },
    calls('b', 'a'),
    [0.5, 'b was not called after a; called: b, a'],
  ],
  ['one call is not two', { sequence: ['a', 'a'] }, calls('a'), [0.5, 'a was not called after a; called: a']],
  ['none', { sequence: ['a'] }, [], [0, 'a was not called; no tool was called']],
]);

judges('tool_anti_pattern', [
  [
    'a forbidden order, with others between',
    { patterns: [{ sequence: ['b', 'c'], message: 'c before b' }, { sequence: ['a', 'b'] }] },
    calls('b', 'x', 'c'),
    [0, 'called in order: b, c (c before b)'],
  ],
  [
    'a part of it',
    { patterns: [{ sequence: ['a', 'b'] }] },
    calls('b', 'a'),
    [1, 'none of the sequences; called: b, a'],
  ],
  ['one forbidden tool', { patterns: [{ sequence: ['a'] }] }, calls('a'), [0, 'called in order: a']],
]);

const paid = call('lookup', { args: { order: 7 }, result: 'PAID in full' });
const refunded = call('refund', { args: { order: 7 }, result: 'done' });

judges('tool_call_chain', [
  [
    'every step as wanted',
    {
      steps: [
        { tool: 'lookup', args_match: { order: '^7$' }, result_includes: ['paid'] },
        { tool: 'refund', result_matches: 'done$', no_error: true },
      ],
    },
    [paid, call('notify'), refunded],
    [1, 'every step was completed'],
  ],
  ['names alone', { chain: ['lookup', 'refund'] }, [paid, refunded], [1, 'every step was completed']],
  [
    'the first call of a step counts, whatever follows',
    { steps: [{ tool: 'lookup', no_error: true }, 'refund'] },
    [call('lookup', { error: 'busy' }), paid, refunded],
    [0, 'step 1, lookup: it failed: busy'],
  ],
  [
    'a later step falls short',
    { steps: ['lookup', { tool: 'refund', args_match: { order: '^8$' } }, 'notify'] },
    [paid, refunded],
    [1 / 3, 'step 2, refund: order 7 does not match ^8$'],
  ],
  [
    'a step is missing',
    { steps: ['lookup', 'refund'] },
    calls('refund', 'lookup'),
    [0.5, 'step 2: refund was not called; called: refund, lookup'],
  ],
  ['without calls', { steps: ['lookup'] }, [], [0, 'step 1: lookup was not called; no tool was called']],
]);

test('an unusable pattern of a step is reported with its step', () => {
  const steps = ['a', { tool: 'b', result_matches: '(' }, { tool: 'c', args_match: { d: '[' } }];
  expect(findParamProblems('tool_call_chain', { steps }).map(({ path, message }) => [path, message])).toEqual(
    [
      [
        ['steps'],
        'step 2: result_matches is not a valid JavaScript pattern: /(/: Unterminated group (to match a special character itself, write it in brackets, such as [(])',
      ],
      [
        ['steps'],
        'step 3: args_match d is not a valid JavaScript pattern: /[/: Unterminated character class (to match a special character itself, write it in brackets, such as [(])',
      ],
    ],
  );
});

judges('tool_no_repeat', [
  ['others between', {}, calls('a', 'b', 'a'), [1, 'no tool was called more than 1 times in a row']],
  ['twice', {}, calls('a', 'b', 'b'), [0, 'b was called 2 times in a row, at most 1 wanted']],
  [
    'as often as allowed',
    { max_repeats: 2 },
    calls('a', 'a'),
    [1, 'no tool was called more than 2 times in a row'],
  ],
  [
    'a tool that does not matter',
    { tools: ['b'] },
    calls('a', 'a', 'a'),
    [1, 'no tool was called more than 1 times in a row'],
  ],
  ['no calls', {}, [], [1, 'no tool was called more than 1 times in a row']],
]);

judges('invariant_fields_preserved', [
  [
    'kept, with another value',
    { tool: 'search', fields: ['city'] },
    [call('search', { args: { city: 'Oslo' } }), call('search', { args: { city: 'Bergen' } })],
    [1, 'nothing was lost among 2 calls of search'],
  ],
  [
    'lost for one call',
    { tool_name: 'search', fields: ['city', 'date'] },
    [{ city: 1, date: 1 }, { city: 1 }, { city: 1, date: 2 }].map((args) => call('search', { args })),
    [0.5, 'lost: date, among 3 calls of search'],
  ],
  [
    'given late',
    { tool: 'search', fields: ['city'] },
    [call('search'), call('search', { args: { city: 'Oslo' } })],
    [1, 'nothing was lost among 2 calls of search'],
  ],
  [
    'calls of other tools',
    { tool: 'search', fields: ['city'] },
    [call('search', { args: { city: 'Oslo' } }), call('book')],
    [1, 'nothing was lost among 1 call of search'],
  ],
  ['never called', { tool: 'search', fields: ['city'] }, [], [1, 'nothing was lost among 0 calls of search']],
]);

test('data shows the order that was found', async () => {
  const outcome = await ask('tool_call_sequence', {
    params: { sequence: ['a', 'b'] },
    context: { tool_calls: calls('b', 'a') },
  });
  expect(outcome).toMatchObject({
    data: { text: '{"matched":1,"expected_sequence":["a","b"],"actual_sequence":["b","a"]}' },
  });
});
