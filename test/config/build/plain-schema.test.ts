import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileDataSchema } from '../../../src/base/yaml/data-schema.ts';
import { isPlainSchema } from '../../../src/config/build/refused.ts';

const keywords = fc.constantFrom(
  ...[
    'type',
    'required',
    'enum',
    'const',
    'minimum',
    'minLength',
    'maxItems',
    'default',
    'examples',
    'title',
  ],
  ...[
    'additionalProperties',
    'items',
    'properties',
    'pattern',
    '$ref',
    '$id',
    '$async',
    'nullable',
    'not',
    'format',
  ],
);

const schema: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(
      true,
      'string',
      'object',
      3,
      -1,
      '[',
      [],
      ['a'],
      ['string', 'null'],
      ['a', 'a'],
      null,
    ),
    fc.dictionary(keywords, tie('any'), { maxKeys: 3 }),
  ),
})).any;

test('a plain schema is certain to compile', () => {
  fc.assert(
    fc.property(fc.dictionary(keywords, schema, { maxKeys: 4 }), (given) => {
      fc.pre(isPlainSchema(given));
      expect(() => compileDataSchema(given)).not.toThrow();
    }),
    { numRuns: 3_000, maxSkipsPerRun: 1_000 },
  );
});

test.each([
  [{ type: 'object', required: ['a'], properties: { a: { type: 'string', minLength: 1 } } }, true],
  [{ items: { enum: [1] }, additionalProperties: false }, true],
  [{ type: 'text' }, false],
  [{ enum: [] }, false],
  [{ pattern: '[' }, false],
  [{ properties: { a: { $ref: '#/gone' } } }, false],
  [{ properties: { a: 7 } }, false],
  [{ $async: true }, false],
])('%j: %s', (given, isPlain) => {
  expect(isPlainSchema(given)).toBe(isPlain);
});
