import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileDataSchema, isSchema202012 } from '../../../src/base/yaml/data-schema.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
const keyword = fc.constantFrom(
  ...[
    'type',
    'properties',
    'required',
    'enum',
    'items',
    'prefixItems',
    'minLength',
    'pattern',
    'anyOf',
    'not',
    '$ref',
    '$defs',
  ],
  ...[
    'uniqueItems',
    'dependentRequired',
    'additionalProperties',
    '$anchor',
    'multipleOf',
    'const',
    'unknown',
  ],
);
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof({ maxDepth: 4 }, fc.boolean(), fc.dictionary(keyword, tie('value'), { maxKeys: 4 })),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      'string',
      'object',
      'strin',
      '#/$defs/a',
      1,
      -1,
      0.5,
      true,
      null,
      ['a'],
      ['a', 'a'],
      ['string', 'null'],
      {},
    ),
    tie('schema'),
    fc.array(tie('schema'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
  ),
}));

test('the generated check tells schemas from other values as ajv does', () => {
  let valid = 0;
  fc.assert(
    fc.property(schema, (value) => {
      const isOne = ajv.validateSchema(value as object) === true;
      valid += Number(isOne);
      expect(isSchema202012(value)).toBe(isOne);
    }),
    { numRuns: 2_000 },
  );
  expect(valid).toBeGreaterThan(200);
  expect(valid).toBeLessThan(1_800);
});

test('a schema that refers to the meta-schema can still be used', () => {
  const validate = compileDataSchema({ $ref: 'https://json-schema.org/draft/2020-12/schema' });
  expect([validate({ type: 'string' }), validate({ type: 'strin' })]).toEqual([true, false]);
});

test('an error has its place and a sentence', () => {
  expect(() => compileDataSchema({ properties: { a: { minLength: -1 } } })).toThrow(
    /^`properties\.a\.minLength` must be at least 0 \(got: -1\)$/,
  );
});
