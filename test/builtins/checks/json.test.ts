import { describe, expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { findParamProblems } from '../../../src/builtins/checks/params.ts';
import { type Asking, ask, scoreOf } from './asking.ts';

const wrapped = 'Here you are:\n```json\n{"a": 1}\n```\nAnything else?';
const amid = 'As said [1], it is {"a": {"b": "}"}} in {short}.';

describe.each(['json_valid', 'is_valid_json', 'valid_json'])('%s', (type) => {
  test.each([
    ['an object', '{"a": 1}', {}, 1],
    ['a number alone', ' 1 ', {}, 1],
    ['a word', 'yes', {}, 0],
    ['nothing', '', {}, 0],
    ['what is cut off', '{"a": ', {}, 0],
    ['a block, which is not asked for', wrapped, {}, 0],
    ['a block', wrapped, { allow_wrapped: true }, 1],
    ['a block without a language', '```\n[1]\n```', { allow_wrapped: true }, 1],
    ['a block of another language', '```python\n[1]\n```', { allow_wrapped: true }, 0],
    ['a block after one that is no JSON', '```\nno\n```\n```JSON\n1\n```', { allow_wrapped: true }, 1],
    ['a block that is not closed', '```json\n{"a": 1}\n', { allow_wrapped: true }, 0],
    ['an object amid text, which is not asked for', amid, { allow_wrapped: true }, 0],
    ['an object amid text', amid, { extract_json: true }, 1],
    ['braces that hold no JSON', 'in {short}', { extract_json: true }, 0],
    [
      'a block amid text that has no line to itself',
      'so {"a": 1} it is',
      { allow_wrapped: true, extract_json: true },
      1,
    ],
  ])('%s', async (_title, content, params, score) => {
    expect(await scoreOf(type, { params, content })).toBe(score);
  });
});

const person = { type: 'object', required: ['age'], properties: { age: { type: 'integer', minimum: 0 } } };

test.each<[string, Asking, number | string]>([
  ['what fits', { params: { schema: person }, content: '{"age": 3}' }, 1],
  ['what does not fit', { params: { schema: person }, content: '{"age": -3}' }, 0],
  ['what lacks a key', { params: { schema: person }, content: '{}' }, 0],
  ['what is no JSON', { params: { schema: person }, content: 'three' }, 0],
  ['a block', { params: { schema: person, allow_wrapped: true }, content: '```json\n{"age": 3}\n```' }, 1],
  ['text around it', { params: { schema: person, extract_json: true }, content: 'It is {"age": -3}.' }, 0],
  ['a schema that takes everything', { params: { schema: {} }, content: 'null' }, 1],
  [
    'a good address',
    { params: { schema: { type: 'string', format: 'email' } }, content: '"a@example.com"' },
    1,
  ],
  ['a bad address', { params: { schema: { type: 'string', format: 'email' } }, content: '"a"' }, 0],
  [
    'a tuple in the words of draft-07',
    { params: { schema: { items: [{ type: 'string' }] } }, content: '[1]' },
    0,
  ],
  [
    'a tuple in the words of 2020-12',
    {
      params: {
        schema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          prefixItems: [{ type: 'string' }],
        },
      },
      content: '[1]',
    },
    0,
  ],
  [
    'a reference within',
    { params: { schema: { $ref: '#/definitions/a', definitions: { a: { type: 'string' } } } }, content: '1' },
    0,
  ],
  [
    'a pattern that Unicode mode does not know',
    { params: { schema: { pattern: '^\\-$' } }, content: '"-"' },
    1,
  ],
  [
    'a pattern that never ends',
    { params: { schema: { pattern: '^(a+)+$' } }, content: JSON.stringify(`${'a'.repeat(40)}!`) },
    0,
  ],
  [
    'a text that is nested more deeply than anything',
    {
      params: {
        schema: { $ref: '#/definitions/a', definitions: { a: { items: { $ref: '#/definitions/a' } } } },
      },
      content: '['.repeat(200_000) + ']'.repeat(200_000),
    },
    'comparing with the schema ran out of stack',
  ],
])('json_schema: %s', async (_title, asking, score) => {
  expect(await scoreOf('json_schema', asking)).toBe(score);
});

test('json_schema reports the first differences, and their number', async () => {
  const params = { schema: { items: { enum: ['a'] }, additionalProperties: false } };
  expect(await ask('json_schema', { params, content: '[1, 2, 3, 4, 5, 6, 7]' })).toEqual({
    status: 'scored',
    score: 0,
    detail: `does not fit the schema: ${[0, 1, 2, 3, 4].map((index) => `/${index} must be equal to one of the allowed values: ["a"]`).join('; ')}; and 2 more`,
    data: Json.from({
      violations: [0, 1, 2, 3, 4].map(
        (index) => `/${index} must be equal to one of the allowed values: ["a"]`,
      ),
      count: 7,
    }),
  });
  expect(await ask('json_schema', { params, content: '{"b": 1}' })).toMatchObject({
    detail: 'does not fit the schema: the whole must NOT have additional properties: b',
  });
});

test.each([
  ['no schema', {}, 'is required'],
  [
    'a type that there is not',
    { schema: { type: 'text' } },
    'is not a JSON Schema: `type` must be one of: array, boolean, integer, null, number, object, string (got: text)',
  ],
  [
    'a reference to somewhere else',
    { schema: { $ref: 'https://example.com/s.json' } },
    'refers to https://example.com/s.json, which it does not contain; Signalbox fetches nothing',
  ],
  [
    'a draft that nobody knows',
    { schema: { $schema: 'https://example.com/draft-99' } },
    'is not a JSON Schema: its $schema https://example.com/draft-99 is neither 2020-12, 2019-09 nor draft-07',
  ],
  [
    'a pattern that cannot be compiled',
    { schema: { pattern: '(' } },
    'is not a JSON Schema: Invalid regular expression: /(/u: Unterminated group',
  ],
  ['a promise', { schema: { $async: true } }, 'is not a JSON Schema: it is asynchronous ($async)'],
])('json_schema with %s is refused at load', (_title, params, message) => {
  expect(findParamProblems('json_schema', params)).toEqual([{ path: ['schema'], message }]);
});

test('two schemas of one $id are two schemas', async () => {
  const score = (type: string) =>
    scoreOf('json_schema', { params: { schema: { $id: 'https://example.com/a', type } }, content: '1' });
  expect([await score('integer'), await score('string')]).toEqual([1, 0]);
});

const items =
  '{"items": [{"name": "lamp", "price": 20}, {"name": "bulb", "price": 3}], "none": null, "zero": -0}';

test.each<[string, NonNullable<Asking['params']>, number | string]>([
  ['something, where nothing more is asked', { expression: 'items' }, 1],
  ['null, where nothing more is asked', { expression: 'nothing' }, 0],
  ['the expected value', { jmespath_expression: 'items[0]', expected: { price: 20, name: 'lamp' } }, 1],
  ['another value', { expression: 'items[0].price', expected: '20' }, 0],
  ['null as expected', { expression: 'none', expected: null }, 1],
  ['zero as expected', { expression: 'zero', expected: 0 }, 1],
  ['what every object of JavaScript has', { expression: 'toString' }, 0],
  ['a list with what it should hold', { expression: 'items[].name', contains: ['bulb', 'lamp'] }, 1],
  ['a list without it', { expression: 'items[].name', contains: ['bulb', 'chair'] }, 0],
  ['no list', { expression: 'items[0].name', contains: ['lamp'] }, 0],
  ['a number within its bounds', { expression: 'sum(items[].price)', min: 23, max: 23 }, 1],
  ['a number below', { expression: 'items[1].price', min: 3.5 }, 0],
  ['a number above', { expression: 'items[1].price', max: 2.5 }, 0],
  ['no number', { expression: 'items[1].name', max: 2.5 }, 0],
  ['a number of results', { expression: 'items', min_results: 2, max_results: 2 }, 1],
  ['too few results', { expression: 'items', min_results: 3 }, 0],
  ['too many results', { expression: 'items', max_results: 1 }, 0],
  ['no results, where there may be none', { expression: 'nothing[]', max_results: 0 }, 1],
  ['a number, where results are counted', { expression: 'items[0].price', min_results: 1 }, 0],
  ['one condition of two', { expression: 'items[].price', contains: [3], max_results: 1 }, 0],
  ['a function that does not take what is there', { expression: 'length(nothing)' }, 0],
  [
    'a function with too few arguments',
    { expression: 'length()' },
    expect.stringContaining('the expression is not valid: Invalid arity'),
  ],
  [
    'a variable that is not there',
    { expression: '$x' },
    expect.stringContaining('the expression is not valid: '),
  ],
  [
    'an expression that never ends',
    { expression: `[@, @]${' | [@, @]'.repeat(60)}` },
    expect.stringMatching(/^evaluating the expression (took longer than 1 s|took too much memory)$/),
  ],
])('json_path: %s', async (_title, params, score) => {
  expect(await scoreOf('json_path', { params, content: items })).toEqual(score);
});

test('json_path: the first list of objects, or object, counts within text', async () => {
  const content = 'See [1]. [{"a": 1}, {"a": 2}] and {"a": 3}';
  expect(
    await scoreOf('json_path', {
      params: { expression: '[].a', expected: [1, 2], extract_json: true },
      content,
    }),
  ).toBe(1);
  expect(
    await scoreOf('json_path', {
      params: { expression: '[0]', expected: 1, extract_json: true },
      content: 'See [1].',
    }),
  ).toBe(1);
  expect(
    await scoreOf('json_path', { params: { expression: 'a', extract_json: true }, content: 'no JSON' }),
  ).toBe(0);
});

test('json_path reports what it found', async () => {
  const params = { expression: 'items[0].name', expected: 'bulb' };
  expect(await ask('json_path', { params, content: items })).toEqual({
    status: 'scored',
    score: 0,
    detail: 'found "lamp", not "bulb"',
    data: Json.from({ found: 'lamp' }),
  });
});

test.each([
  ['no expression', {}, 'is required'],
  [
    'what is no expression',
    { expression: 'a[' },
    '`a[` is not a JMESPath expression: Syntax error: expected Star, got: EOF (write one such as `items[0].name`)',
  ],
  [
    'a function that there is not',
    { expression: 'a || [nope(@)]' },
    'calls nope(), which JMESPath does not have',
  ],
])('json_path with %s is refused at load', (_title, params, message) => {
  expect(findParamProblems('json_path', params)).toEqual([{ path: ['expression'], message }]);
});

test('a literal that looks like a function is data', () => {
  const expression = '`{"type": "Function", "name": "nope", "children": []}`';
  expect(findParamProblems('json_path', { expression })).toEqual([]);
});
