import { describe, expect, test } from 'vitest';
import { Json } from '../../../../src/base/json/json.ts';
import { findParamProblems } from '../../../../src/builtins/checks/params.ts';
import { scoreOf } from '../asking.ts';
import { call, judges, written } from './calls.ts';

const refund = call('refund', { args: { order: 7, to: { name: 'Ada', tags: ['a', 'b'] }, note: null } });

for (const type of ['tool_args', 'tool_args_session']) {
  judges(type, [
    [
      'a part of the arguments',
      { tool_name: 'refund', expected_args: { order: 7 } },
      [refund],
      [1, 'refund was called with the arguments'],
    ],
    [
      'one call of several, and a mapping in another order of keys',
      { tool: 'refund', expected_args: { to: { tags: ['a', 'b'], name: 'Ada' }, note: null } },
      [call('refund'), refund],
      [1, 'refund was called with the arguments'],
    ],
    [
      'an inner mapping that has more',
      { tool_name: 'refund', expected_args: { to: { name: 'Ada' } } },
      [refund],
      [
        0,
        'refund was not called with the arguments: to is {"name":"Ada","tags":["a","b"]}, not {"name":"Ada"}',
      ],
    ],
    [
      'an inner mapping that has less',
      { tool_name: 'refund', expected_args: { to: { name: 'Ada', age: 36 } } },
      [call('refund', { args: { to: { name: 'Ada' } } })],
      [0, 'refund was not called with the arguments: to is {"name":"Ada"}, not {"name":"Ada","age":36}'],
    ],
    [
      'a list in another order',
      { tool_name: 'refund', expected_args: { tags: ['b', 'a'] } },
      [call('refund', { args: { tags: ['a', 'b'] } })],
      [0, 'refund was not called with the arguments: tags is ["a","b"], not ["b","a"]'],
    ],
    [
      'a number as text is another value',
      { tool_name: 'refund', expected_args: { order: 7 } },
      [call('refund', { args: { order: '7' } })],
      [0, 'refund was not called with the arguments: order is "7", not 7'],
    ],
    [
      'null is not absence',
      { tool_name: 'refund', expected_args: { note: null } },
      [call('refund')],
      [0, 'refund was not called with the arguments: note is missing'],
    ],
    [
      'the nearest of several calls is told',
      { tool_name: 'refund', expected_args: { order: 7, note: 'x' } },
      [call('refund'), call('refund', { args: { order: 7 } }), call('refund', { args: { order: 8 } })],
      [0, 'refund was not called with the arguments: note is missing'],
    ],
    [
      'the tool was not called',
      { tool_name: 'refund', expected_args: { order: 7 } },
      [call('lookup', { args: { order: 7 } })],
      [0, 'refund was not called; called: lookup'],
    ],
    [
      'what every object has is no argument',
      { tool_name: 'refund', expected_args: { toString: {} } },
      [call('refund')],
      [0, 'refund was not called with the arguments: toString is missing'],
    ],
    [
      'a long value is shortened to whole characters',
      { tool_name: 'refund', expected_args: { note: 'x' } },
      [call('refund', { args: { note: `${'a'.repeat(98)}😀${'b'.repeat(50)}` } })],
      [0, `refund was not called with the arguments: note is "${'a'.repeat(98)}…, not "x"`],
    ],
  ]);
}

describe('numbers that a double cannot hold', () => {
  const params = written('{"tool_name": "refund", "expected_args": {"order": 12345678901234567890}}');

  test.each([
    ['the same digits', '{"order": 12345678901234567890}', 1],
    ['the next number', '{"order": 12345678901234567891}', 0],
    ['the double next to it', '{"order": 12345678901234567000}', 0],
    ['another spelling', '{"order": 1.2345678901234567890e19}', 1],
    ['a fraction', '{"order": 12345678901234567890.5}', 0],
    ['the other sign', '{"order": -12345678901234567890}', 0],
  ])('%s', async (_title, args, score) => {
    for (const given of [new Json(args), args]) {
      const context = { tool_calls: [call('refund', { args: given })] };
      expect(await scoreOf('tool_args', { params, context })).toBe(score);
    }
  });

  test.each([
    ['7', '7.0', 1],
    ['7', '70e-1', 1],
    ['0', '-0.00e9', 1],
    ['0.1', '0.10000000000000000000', 1],
    ['0.1', '0.10000000000000000001', 0],
    ['100', '1e2', 1],
    ['1e400', '10e399', 1],
    ['1e400', '1e401', 0],
    ['1e-400', '0', 0],
    ['true', '1', 0],
  ])('%s and %s: %d', async (wanted, given, score) => {
    const asked = written(`{"tool_name": "pay", "expected_args": {"amount": ${wanted}}}`);
    const tool_calls = [call('pay', { args: new Json(`{"amount": ${given}}`) })];
    expect(await scoreOf('tool_args', { params: asked, context: { tool_calls } })).toBe(score);
  });

  test('a million zeros are compared quickly', async () => {
    const asked = written(`{"tool_name": "pay", "expected_args": {"amount": 1${'0'.repeat(1_000_000)}1}}`);
    const tool_calls = [call('pay', { args: new Json(`{"amount": 1${'0'.repeat(1_000_000)}2}`) })];
    expect(await scoreOf('tool_args', { params: asked, context: { tool_calls } })).toBe(0);
  });
});

test.each([
  ['text that is no JSON', 'order 7'],
  ['broken JSON', new Json('{"order": 7')],
  ['a list', [7]],
  ['a long number', new Json('12345678901234567890')],
  ['nothing', undefined],
])('arguments that are not a mapping have no members: %s', async (_title, args) => {
  const params = { tool_name: 'refund', expected_args: { order: 7 } };
  expect(await scoreOf('tool_args', { params, context: { tool_calls: [call('refund', { args })] } })).toBe(0);
});

for (const type of ['tool_args_excluded_session', 'tools_not_called_with_args']) {
  judges(type, [
    [
      'no call has the value',
      { tool_name: 'run', excluded_args: { mode: 'debug' } },
      [call('run', { args: { mode: 'safe' } }), call('walk', { args: { mode: 'debug' } })],
      [1, 'no call of run has them'],
    ],
    [
      'one of several calls has one of the values',
      { tool: 'run', forbidden_args: { mode: ['debug', 'unsafe'], user: 'root' } },
      [call('run'), call('run', { args: { mode: 'unsafe', user: 'ada' } })],
      [0, 'run was called with mode "unsafe"'],
    ],
    [
      'a number that is written as text',
      { tool_name: 'run', excluded_args: { level: 7 } },
      [call('run', { args: { level: ' 7.0' } })],
      [0, 'run was called with level " 7.0"'],
    ],
    [
      'text that the file writes as a number',
      { tool_name: 'run', excluded_args: { level: '7' } },
      [call('run', { args: { level: 7 } })],
      [0, 'run was called with level 7'],
    ],
    [
      'a list as a value',
      { tool_name: 'run', excluded_args: { flags: ['-f'] } },
      [call('run', { args: { flags: ['-f'] } })],
      [0, 'run was called with flags ["-f"]'],
    ],
    [
      'the tool was not called',
      { tool_name: 'run', excluded_args: { a: 1 } },
      [],
      [1, 'no call of run has them'],
    ],
    [
      'a long number is excluded to its last digit',
      written('{"tool_name": "run", "excluded_args": {"id": 12345678901234567890}}'),
      [call('run', { args: new Json('{"id": 12345678901234567891}') })],
      [1, 'no call of run has them'],
    ],
  ]);
}

const lookup = call('lookup', { args: { city: 'Oslo', days: 3 }, result: 'Rain. SUN', index: 2 });

judges('tool_calls_with_args', [
  [
    'everything is as wanted',
    {
      tool_name: 'lookup',
      expected_args: { city: 'Oslo', days: null },
      args_match: { city: '^O', days: '^\\d$' },
      result_includes: ['rain', 'sun'],
      result_matches: '^Rain',
      no_error: true,
    },
    [lookup, lookup],
    [1, 'every call is as expected; called: lookup (2)'],
  ],
  [
    'nothing is as wanted',
    {
      expected_args: { city: 'Bergen', unit: null },
      args_match: { city: '^B', zone: '.' },
      result_includes: ['snow'],
      result_matches: '^Snow',
      no_error: true,
    },
    [{ ...lookup, error: 'slow' }],
    [
      0,
      [
        'lookup: unit is missing',
        'lookup: city is "Oslo", not "Bergen"',
        'lookup: it failed: slow',
        'lookup: its result lacks "snow"',
        'lookup: city "Oslo" does not match ^B',
        'lookup: zone is missing',
        'lookup: its result does not match ^Snow',
      ].join('; '),
    ],
  ],
  [
    'one call of two is not',
    { tool_name: 'lookup', expected_args: { city: 'Oslo' } },
    [lookup, call('lookup')],
    [0, 'lookup: city is missing'],
  ],
  [
    'the tool was not called',
    { tool_name: 'lookup', no_error: true },
    [call('refund')],
    [0, 'lookup was not called; called: refund'],
  ],
  [
    'no tool is named and none was called',
    { no_error: true },
    [],
    [1, 'every call is as expected; no tool was called'],
  ],
  [
    'the JSON text of what is no text',
    { args_match: { to: '"name":"Ada"' } },
    [call('refund', { args: { to: { name: 'Ada' } } })],
    [1, 'every call is as expected; called: refund'],
  ],
  [
    'a pattern that would take for ever',
    { result_matches: '^(a+)+$' },
    [call('lookup', { result: `${'a'.repeat(40)}b` })],
    'the pattern took longer than 1 s',
  ],
]);

test.each([
  [
    'tool_calls_with_args',
    { tool_name: 'lookup' },
    'needs one of: expected_args, args_match, result_includes, result_matches, no_error',
  ],
  [
    'tool_calls_with_args',
    { args_match: { city: '(' } },
    'city is not a valid JavaScript pattern: /(/: Unterminated group (to match a special character itself, write it in brackets, such as [(])',
  ],
  ['tool_args', { tool_name: 'a', expected_args: {} }, 'must not be empty'],
  ['tool_args', { expected_args: { a: 1 } }, 'is required'],
  ['tool_args_excluded_session', { tool_name: 'a' }, 'needs one of: excluded_args, forbidden_args'],
])('%s refuses %j', (type, params, message) => {
  expect(findParamProblems(type, params).map((problem) => problem.message)).toEqual([message]);
});
