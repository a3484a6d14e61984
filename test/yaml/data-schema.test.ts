import { describe, expect, test } from 'vitest';
import { compileDataSchema } from '../../src/yaml/data-schema.ts';

const draft07 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const draft2020 = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
const pair = [{ type: 'string' }, { type: 'number' }];

describe('a schema is judged by its own draft', () => {
  test.each([
    { title: 'true allows all', schema: true, fits: [1, null], fails: [] },
    { title: 'false allows nothing', schema: false, fits: [], fails: [1, null] },
    {
      title: '2020-12 has prefixItems',
      schema: { ...draft2020, prefixItems: pair },
      fits: [['a', 1]],
      fails: [[1, 'a']],
    },
    {
      title: 'draft-07 has lists of items',
      schema: { ...draft07, items: pair },
      fits: [['a', 1]],
      fails: [[1, 'a']],
    },
    {
      title: 'PromptKit’s spelling of draft-07',
      schema: { $schema: 'https://json-schema.org/draft-07/schema', items: pair },
      fits: [['a', 1]],
      fails: [[1, 'a']],
    },
    {
      title: '2019-09',
      schema: { $schema: 'https://json-schema.org/draft/2019-09/schema', items: pair },
      fits: [['a', 1]],
      fails: [[1, 'a']],
    },
    { title: 'none: 2020-12', schema: { prefixItems: pair }, fits: [['a', 1]], fails: [[1, 'a']] },
    {
      title: 'none, and impossible in 2020-12: draft-07',
      schema: { items: pair },
      fits: [['a', 1]],
      fails: [[1, 'a']],
    },
    {
      title: 'unknown keywords and formats pass',
      schema: { type: 'string', format: 'colour', 'x-own': 1 },
      fits: ['red'],
      fails: [1],
    },
    {
      title: 'a pattern that needs no unicode mode',
      schema: { type: 'string', pattern: '^\\-$' },
      fits: ['-'],
      fails: ['a'],
    },
    {
      title: 'a pattern in unicode mode',
      schema: { type: 'string', pattern: '^\\p{L}$' },
      fits: ['é'],
      fails: ['1'],
    },
    {
      title: 'a reference into itself',
      schema: { $ref: '#/definitions/a', definitions: { a: { type: 'number' } } },
      fits: [1],
      fails: ['a'],
    },
  ])('$title', ({ schema, fits, fails }) => {
    const validate = compileDataSchema(schema);
    expect({
      fits: fits.map((value) => validate(value)),
      fails: fails.map((value) => validate(value)),
    }).toEqual({
      fits: fits.map(() => true),
      fails: fails.map(() => false),
    });
  });
});

test('every violation is told', () => {
  const validate = compileDataSchema({ properties: { a: { type: 'number' }, b: { type: 'number' } } });
  expect([validate({ a: 'x', b: 'y' }), validate.errors?.map(({ instancePath }) => instancePath)]).toEqual([
    false,
    ['/a', '/b'],
  ]);
});

test('two schemas with one $id do not meet', () => {
  const first = compileDataSchema({ $id: 'https://example.com/a', type: 'number' });
  const second = compileDataSchema({ $id: 'https://example.com/a', type: 'string' });
  expect([first(1), first('a'), second(1), second('a')]).toEqual([true, false, false, true]);
});

test('an id inside one schema is nothing that another can refer to', () => {
  const inner = { type: 'number' };
  compileDataSchema({ $defs: { inner: { $id: 'https://example.com/inner', ...inner } } });
  const refer = () => compileDataSchema({ $ref: 'https://example.com/inner', $defs: { inner } });
  expect(refer).toThrow("can't resolve reference https://example.com/inner");
});

describe('a schema that cannot be used throws', () => {
  test.each([
    { schema: { type: 'strng' }, message: 'schema is invalid' },
    { schema: { $ref: '#/none' }, message: "can't resolve reference #/none" },
    { schema: { pattern: '(' }, message: 'Invalid regular expression' },
    { schema: { $async: true }, message: 'it is asynchronous' },
    {
      schema: { $schema: 'http://json-schema.org/draft-04/schema#' },
      message: 'is neither 2020-12, 2019-09 nor draft-07',
    },
    { schema: { ...draft2020, items: pair }, message: 'schema is invalid' },
  ])('$message', ({ schema, message }) => {
    expect(() => compileDataSchema(schema)).toThrow(message);
  });
});
