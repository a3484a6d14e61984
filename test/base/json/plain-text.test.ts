import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Json, stringifyJson, toPlain } from '../../../src/base/json/json.ts';
import { plainText } from '../../../src/base/json/plain-text.ts';

test('the text of plain data equals that of stringifyJson', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), (tree) => {
      expect(plainText(tree)).toBe(stringifyJson(tree));
    }),
  );
});

test('any generated value has that text or none', () => {
  const anything = fc.object({
    ...{ maxDepth: 3, withBigInt: true, withDate: true, withNullPrototype: true, withBoxedValues: true },
    ...{ withMap: true, withSet: true, withSparseArray: true, withTypedArray: true },
  });
  fc.assert(
    fc.property(anything, (tree) => {
      const text = plainText(tree);
      if (text !== undefined) expect(text).toBe(stringifyJson(tree));
    }),
  );
});

const deep = (levels: number): object => (levels === 0 ? {} : { in: deep(levels - 1) });
const itself: Record<string, unknown> = {};
itself['itself'] = itself;
const withHole: unknown[] = [1, 2];
delete withHole[0];

test.each([
  { title: 'an exact text', tree: { a: new Json('1.0') } },
  { title: 'a value with an exact text', tree: toPlain({ a: new Json('12345678901234567890') }) },
  { title: 'what is inside such a value', tree: { inside: toPlain({ a: new Json('{"b":1.0}') })['a'] } },
  { title: 'a date', tree: { at: new Date(0) } },
  { title: 'a toJSON', tree: { toJSON: () => 1 } },
  { title: 'a bigint', tree: { a: 1n } },
  { title: 'a symbol', tree: { a: Symbol('a') } },
  { title: 'a raw number', tree: { a: JSON.rawJSON('1.0') } },
  { title: 'a boxed text', tree: { a: Object('a') } },
  { title: 'a hole', tree: { a: withHole } },
  { title: 'undefined in a list', tree: { a: [undefined] } },
  { title: 'an object without a prototype', tree: { a: Object.create(null) } },
  { title: 'what contains itself', tree: itself },
  { title: 'what is deep', tree: deep(200) },
])('is left to the full writer: $title', ({ tree }) => {
  expect(plainText(tree)).toBeUndefined();
});

test('undefined members are omitted, and a key may be __proto__', () => {
  const tree = { a: undefined, b: [null, { c: undefined }], ['__proto__']: { d: -0 } };
  expect(plainText(tree)).toBe('{"b":[null,{}],"__proto__":{"d":0}}');
  expect(stringifyJson(tree)).toBe('{"b":[null,{}],"__proto__":{"d":0}}');
});

test('a plain value of a document keeps its digits, whatever its members are called', () => {
  const document = toPlain({
    ['__proto__']: new Json('{"big":12345678901234567890}'),
    list: [new Json('1.0')],
  });
  expect(Object.keys(document)).toEqual(['__proto__', 'list']);
  expect(Object.getPrototypeOf(document)).toBe(Object.prototype);
  expect(stringifyJson(document)).toBe('{"__proto__":{"big":12345678901234567890},"list":[1.0]}');
  const value = Object.getOwnPropertyDescriptor(document, '__proto__')?.value;
  expect(stringifyJson({ value })).toBe('{"value":{"big":12345678901234567890}}');
  expect(stringifyJson(Object.freeze(value))).toBe('{"big":12345678901234567890}');
  expect(Reflect.ownKeys(value)).toEqual(['big']);
});
