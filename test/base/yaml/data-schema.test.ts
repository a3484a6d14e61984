import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { compileDataSchema } from '../../../src/base/yaml/data-schema.ts';

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

test('every violation is reported', () => {
  const validate = compileDataSchema({ properties: { a: { type: 'number' }, b: { type: 'number' } } });
  expect([validate({ a: 'x', b: 'y' }), validate.errors?.map(({ instancePath }) => instancePath)]).toEqual([
    false,
    ['/a', '/b'],
  ]);
});

test('two schemas with one $id do not conflict', () => {
  const first = compileDataSchema({ $id: 'https://example.com/a', type: 'number' });
  const second = compileDataSchema({ $id: 'https://example.com/a', type: 'string' });
  expect([first(1), first('a'), second(1), second('a')]).toEqual([true, false, false, true]);
});

test('an id inside one schema cannot be referred to by another', () => {
  const inner = { type: 'number' };
  compileDataSchema({ $defs: { inner: { $id: 'https://example.com/inner', ...inner } } });
  const refer = () => compileDataSchema({ $ref: 'https://example.com/inner', $defs: { inner } });
  expect(refer).toThrow("can't resolve reference https://example.com/inner");
});

describe('a schema that cannot be used throws', () => {
  test.each([
    { schema: { type: 'strng' }, message: 'did you mean `string`?' },
    { schema: { $ref: '#/none' }, message: "can't resolve reference #/none" },
    { schema: { pattern: '(' }, message: 'Invalid regular expression' },
    { schema: { $async: true }, message: 'it is asynchronous' },
    {
      schema: { $schema: 'http://json-schema.org/draft-04/schema#' },
      message: 'is neither 2020-12, 2019-09 nor draft-07',
    },
    { schema: { ...draft2020, items: pair }, message: '`items` must be a mapping' },
  ])('$message', ({ schema, message }) => {
    expect(() => compileDataSchema(schema)).toThrow(message);
  });
});

const names = [
  'constructor',
  'valueOf',
  'toString',
  'hasOwnProperty',
  '__proto__',
  '__defineGetter__',
  'a',
  '',
];
const name = fc.constantFrom(...names);
const someNames = fc.uniqueArray(name, { maxLength: 3 });

/** Like `JSON.parse`, makes every name an own member. */
function objectOf<Value>(keys: readonly string[], value: Value): Record<string, Value> {
  return Object.fromEntries(keys.map((key) => [key, value]));
}

describe('names are those of own members, whatever objects inherit', () => {
  test('property: in every keyword that names members', () => {
    fc.assert(
      fc.property(someNames, someNames, fc.boolean(), (wanted, given, isFirstOnly) => {
        const has = (key: string) => given.includes(key);
        const isAmong = given.every((key) => wanted.includes(key));
        const numbers = objectOf(given, 1);
        const fits = (schema: Record<string, unknown>, data: unknown = numbers) =>
          compileDataSchema(schema, { isFirstOnly })(data);
        const properties = objectOf(wanted, { type: 'string' });
        expect(fits({ required: wanted })).toBe(wanted.every(has));
        expect(fits({ properties })).toBe(!wanted.some(has));
        expect(fits({ properties, additionalProperties: false }, objectOf(given, ''))).toBe(isAmong);
        expect(fits({ properties, unevaluatedProperties: false }, objectOf(given, ''))).toBe(isAmong);
        const branch = { anyOf: [{ properties: objectOf(wanted, true) }], unevaluatedProperties: false };
        expect(fits(branch)).toBe(isAmong);
        expect(fits({ dependentRequired: objectOf(wanted, ['b']) })).toBe(!wanted.some(has));
        expect(fits({ dependentSchemas: objectOf(wanted, false) })).toBe(!wanted.some(has));
        expect(fits({ dependencies: objectOf(wanted, ['b']), $schema: draft07.$schema })).toBe(
          !wanted.some(has),
        );
        const isSame = given.length === wanted.length && isAmong;
        expect(fits({ const: objectOf(wanted, 1) })).toBe(isSame);
        expect(fits({ enum: [objectOf(wanted, 1), 'x'] })).toBe(isSame);
        expect(fits({ uniqueItems: true }, [numbers, objectOf(wanted, 1)])).toBe(!isSame);
        expect(fits({ minProperties: given.length, maxProperties: given.length })).toBe(true);
        expect(fits({ propertyNames: { enum: wanted } })).toBe(isAmong);
      }),
    );
  });
});

describe('numbers are decimals', () => {
  /** A number of up to 25 digits, as a multiple of 10^-6 and as JSON text. */
  const decimal = fc
    .oneof(
      fc.bigInt({ min: -(10n ** 8n), max: 10n ** 8n }),
      fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
    )
    .map((units) => ({ units, text: `${units}e-6` }));

  test('property: they compare, divide and are whole by their digits, in data and in schemas', () => {
    fc.assert(
      fc.property(decimal, decimal, fc.boolean(), (data, bound, isFirstOnly) => {
        const fits = (schema: string) =>
          compileDataSchema(new Json(schema), { isFirstOnly })(new Json(data.text));
        const [a, b] = [data.units, bound.units];
        expect(fits(`{"maximum": ${bound.text}}`)).toBe(a <= b);
        expect(fits(`{"minimum": ${bound.text}}`)).toBe(a >= b);
        expect(fits(`{"exclusiveMaximum": ${bound.text}}`)).toBe(a < b);
        expect(fits(`{"exclusiveMinimum": ${bound.text}}`)).toBe(a > b);
        expect(fits(`{"const": ${bound.text}}`)).toBe(a === b);
        expect(fits(`{"enum": ["x", ${bound.text}]}`)).toBe(a === b);
        expect(fits('{"type": "integer"}')).toBe(a % 1_000_000n === 0n);
        expect(fits('{"type": "number"}')).toBe(true);
        if (b > 0n) expect(fits(`{"multipleOf": ${bound.text}}`)).toBe(a % b === 0n);
        const inside = compileDataSchema(
          new Json(`{"items": {"not": {"const": ${bound.text}}}, "uniqueItems": true}`),
        );
        expect(inside(new Json(`[${data.text}, 7]`))).toBe(a !== b && a !== 7_000_000n);
      }),
    );
  });

  test.each([
    ['{"multipleOf": 0.01}', '19.99', true],
    ['{"maximum": 9007199254740992}', '9007199254740993', false],
    ['{"type": "integer"}', '1e400', true],
    ['{"type": "integer"}', '9007199254740993.5', false],
    ['{"type": "integer"}', '1.0', true],
    ['{"multipleOf": 7}', '1e400', false],
    ['{"multipleOf": 1e-400}', '1', true],
    ['{"properties": {"n": {"maximum": 1}}}', '{"n": 1.0000000000000000001}', false],
    [
      '{"$ref": "#/$defs/a", "$defs": {"a": {"exclusiveMinimum": 9007199254740993}}}',
      '9007199254740993',
      false,
    ],
    [
      '{"$schema": "https://json-schema.org/draft/2020-12/schema", "maximum": 9007199254740993}',
      '9007199254740994',
      false,
    ],
  ])('%s of %s: %s', (schema, data, fits) => {
    expect(compileDataSchema(new Json(schema))(new Json(data))).toBe(fits);
  });
});

describe('without $schema, nothing of draft-07 is ignored', () => {
  test.each([
    [{ items: pair }, ['a', 1], [1, 1]],
    [{ items: pair, additionalItems: false }, ['a', 1], ['a', 1, 2]],
    [{ dependencies: { a: ['b'] } }, { a: 1, b: 2 }, { a: 1 }],
    [{ dependencies: { a: { required: ['b'] } } }, { a: 1, b: 2 }, { a: 1 }],
  ])('%j', (schema, good, bad) => {
    const fits = compileDataSchema(schema);
    expect([fits(good), fits(bad)]).toEqual([true, false]);
  });

  test.each([
    [{ items: pair, unevaluatedItems: false }, 'it has `unevaluatedItems`, which draft-07 lacks'],
    [{ $recursiveRef: '#' }, '$recursiveRef'],
    [{ contains: true, unevaluatedItems: false }, 'it has `unevaluatedItems` over `contains`'],
    [{ if: {}, unevaluatedProperties: false }, 'it has `unevaluatedProperties` over `if`'],
  ])('%j is refused', (schema, message) => {
    expect(() => compileDataSchema(schema)).toThrow(message);
  });
});
