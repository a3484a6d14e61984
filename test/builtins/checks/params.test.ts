import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { findParamProblems, readParams } from '../../../src/builtins/checks/params.ts';
import { findCheck } from '../../../src/builtins/checks/registry.ts';
import { ask } from './asking.ts';

test.each([
  ['nothing at all', 'json_valid', undefined, []],
  ['another type than a built-in one', 'politeness', { anything: 1 }, []],
  ['good params', 'contains', { patterns: ['a'] }, []],
  ['good params under other names', 'min_length', { min_chars: 3 }, []],
  ['params that are all an expression', 'contains', '${case.params}', []],
  ['params that are no mapping', 'contains', ['a'], [{ path: [], message: 'must be a mapping' }]],
  [
    'a misspelt param',
    'contains',
    { pattern: ['a'] },
    [{ path: ['pattern'], message: 'unknown param', hint: 'did you mean `patterns`?' }],
  ],
  [
    'an unknown param',
    'contains',
    { patterns: ['a'], colour: 1 },
    [{ path: ['colour'], message: 'unknown param', hint: 'params of contains: patterns' }],
  ],
  [
    'a param of JavaScript’s objects',
    'contains',
    JSON.parse('{"patterns": ["a"], "__proto__": 1}'),
    [{ path: ['__proto__'], message: 'unknown param', hint: 'params of contains: patterns' }],
  ],
  ['a missing param', 'contains', {}, [{ path: ['patterns'], message: 'is required' }]],
  ['none of a group', 'max_length', {}, [{ path: [], message: 'needs one of: max, max_tokens' }]],
  ['one of a group, under its other name', 'max_length', { max_characters: 9 }, []],
  [
    'a name beside its other name',
    'max_length',
    { max: 9, max_chars: 9 },
    [
      {
        path: ['max_chars'],
        message: 'is another name of `max`, which is also given',
        hint: 'Remove one of them.',
      },
    ],
  ],
  [
    'a wrong type, at the name it has in the file',
    'min_length',
    { min_chars: '3' },
    [
      {
        path: ['min_chars'],
        message: 'must be a whole number, not the string "3"',
        hint: 'Write 3, without quotes.',
      },
    ],
  ],
  [
    'a wrong element',
    'contains',
    { patterns: ['a', 3] },
    [
      {
        path: ['patterns', 1],
        message: 'must be a string, not the number 3',
        hint: 'Write "3", with quotes.',
      },
    ],
  ],
  [
    'a value beside an expression',
    'contains',
    { patterns: ['${case.word}', 3] },
    [
      {
        path: ['patterns', 1],
        message: 'must be a string, not the number 3',
        hint: 'Write "3", with quotes.',
      },
    ],
  ],
  ['a list where an expression stands for one element', 'contains', { patterns: ['${case.word}'] }, []],
  ['an expression for a number', 'min_length', { min: '${case.least}' }, []],
  ['an expression within a text', 'regex', { pattern: '(${case.word}' }, []],
  [
    'a wrong value that an expression stands in',
    'regex',
    { pattern: { of: '${case.word}' } },
    [{ path: ['pattern'], message: 'must be a string, not a mapping' }],
  ],
  ['an expression without its end, which others tell', 'regex', { pattern: '${case.' }, []],
  ['what `$${` stands for', 'regex', { pattern: 'a\\$${' }, []],
  [
    'a pattern that no expression will mend',
    'regex',
    { pattern: '(' },
    [
      {
        path: ['pattern'],
        message:
          'is not a valid JavaScript pattern: /(/: Unterminated group (to match a special character itself, write it in brackets, such as [(])',
      },
    ],
  ],
  [
    'the same under another name',
    'json_path',
    { jmespath_expression: 'a[' },
    [
      {
        path: ['jmespath_expression'],
        message:
          '`a[` is not a JMESPath expression: Syntax error: expected Star, got: EOF (write one such as `items[0].name`)',
      },
    ],
  ],
])('what is wrong with %s', (_title, type, params, problems) => {
  expect(findParamProblems(type, params)).toEqual(problems);
});

function read(type: string, params: Parameters<typeof readParams>[1]) {
  const check = findCheck(type);
  return check && readParams(check, params);
}

test('a check gets its params plain, complete and under their main names', () => {
  const text = '{"words": ["a"]}';
  const wanted = { params: { patterns: ['a'], match_mode: 'substring', scope: 'conversation' } };
  expect(read('content_excludes', new Json(text))).toEqual(wanted);
  expect(read('content_excludes', { words: new Json('["a"]') })).toEqual(wanted);
  expect(read('min_length', { min: JSON.rawJSON('3.00') })).toEqual({ params: { min: 3 } });
  expect(read('contains', { patterns: ['${x}', '$${x}'] })).toEqual({
    params: { patterns: ['${x}', '$${x}'] },
  });
});

test('invalid params leave the check unscored, and are named', async () => {
  expect(await ask('contains', { params: { patterns: ['a', 3], colour: 1 } })).toEqual({
    status: 'unscored',
    reason:
      'the params of contains are not valid: colour unknown param; patterns[1] must be a string, not the number 3',
    error: {
      code: 'USAGE',
      message:
        'the params of contains are not valid: colour unknown param; patterns[1] must be a string, not the number 3',
      hint: 'params of contains: patterns',
    },
  });
});

test.each([
  ['a type that is not there', 'contians', {}, 'NAME_UNKNOWN', 'there is no eval "contians"'],
  [
    'a call that was given up',
    'contains',
    { signal: AbortSignal.abort() },
    'ABORTED',
    'the check contains was aborted',
  ],
  ['params that are not JSON', 'contains', { params: new Json('{') }, 'INTERNAL', expect.any(String)],
])('%s is unscored, with the fault', async (_title, type, asking, code, message) => {
  expect(await ask(type, asking)).toMatchObject({ status: 'unscored', error: { code, message } });
});
