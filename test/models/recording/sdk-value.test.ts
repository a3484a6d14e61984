import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { canonicalJson } from '../../../src/base/json/equal.ts';
import { parseLossless, stringifyJson } from '../../../src/base/json/json.ts';
import { decodeSdkValue, encodeSdkValue } from '../../../src/models/recording/recorded-call.ts';

const leaf = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.boolean(),
  fc.constantFrom(null, undefined),
  fc.date({ noInvalidDate: true }),
  fc.uint8Array({ maxLength: 5 }),
  fc.webUrl().map((url) => new URL(url)),
);

const keys = fc.oneof(fc.constantFrom('$', 'value', 'type'), fc.string({ maxLength: 3 }));

const { value: trees } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, tie('list'), tie('object')),
  list: fc.array(
    tie('value').filter((member) => member !== undefined),
    { maxLength: 3 },
  ),
  object: fc.dictionary(keys, tie('value'), { maxKeys: 3, noNullPrototype: true }),
}));

test('a written value is read back unchanged', () => {
  fc.assert(
    fc.property(trees, (tree) => {
      const text = stringifyJson({ tree: encodeSdkValue(tree, 'keep') });
      const parsed = parseLossless(text);
      expect(decodeSdkValue(Reflect.get(Object(parsed), 'tree') ?? undefined) ?? null).toStrictEqual(
        tree ?? null,
      );
    }),
  );
});

test('the order of keys has no effect, and neither have undefined members', () => {
  const one = encodeSdkValue({ b: 1, a: { d: [{ y: 1, x: undefined }], c: 2 } }, 'drop');
  const other = encodeSdkValue({ a: { c: 2, d: [{ y: 1 }], e: undefined }, b: 1 }, 'drop');
  expect(canonicalJson(one)).toBe('{"a":{"c":2,"d":[{"y":1}]},"b":1}');
  expect(canonicalJson(other)).toBe(canonicalJson(one));
});

test('numbers keep their digits', () => {
  const json = canonicalJson(encodeSdkValue({ id: JSON.rawJSON('9007199254740993') }, 'keep'));
  expect(json).toBe('{"id":9007199254740993}');
  expect(stringifyJson(decodeSdkValue(parseLossless(json)))).toBe(json);
});

test('an error is read back with its code and details, and an unknown one as a provider’s', () => {
  const error = new RuntimeError('PROVIDER_TIMEOUT', 'too late', {
    hint: 'wait',
    details: { timeout_ms: 5 },
  });
  const back = decodeSdkValue(parseLossless(stringifyJson(encodeSdkValue({ error }, 'keep'))));
  expect(back).toStrictEqual({ error });
  expect(decodeSdkValue({ $: 'error', value: { code: 'NEW', message: 'x' } })).toMatchObject({
    code: 'PROVIDER_FAILED',
  });
});
