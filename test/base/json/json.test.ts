import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findDuplicateKey } from '../../../src/base/json/duplicate-key.ts';
import { isObject, Json, parseLossless, stringifyJson, toPlain } from '../../../src/base/json/json.ts';
import { memberOf, scanElements, scanMembers } from '../../../src/base/json/scan.ts';
import {
  anySample,
  arraySample,
  hasDuplicate,
  numberText,
  objectSample,
  plainValue,
} from '../../json-texts.ts';

test('scanMembers yields every member of any object, with the exact text of its value', () => {
  fc.assert(
    fc.property(objectSample, ({ text, members }) => {
      const found = scanMembers(text).map(({ key, start, end }) => [key, text.slice(start, end)]);
      expect(found).toEqual(members.map(([key, value]) => [key, value.text]));
    }),
  );
});

test('scanMembers starts at the given offset, past white space', () => {
  fc.assert(
    fc.property(objectSample, ({ text, members }) => {
      const inside = `{"before": 1, "it": \n ${text} , "after": {}}`;
      const found = scanMembers(inside, inside.indexOf('\n'));
      expect(found.map(({ key, start, end }) => [key, inside.slice(start, end)])).toEqual(
        members.map(([key, value]) => [key, value.text]),
      );
    }),
  );
});

test('scanElements yields every element of any array, with its exact text', () => {
  fc.assert(
    fc.property(arraySample, ({ text, elements }) => {
      const found = scanElements(text).map(({ start, end }) => text.slice(start, end));
      expect(found).toEqual(elements.map((element) => element.text));
    }),
  );
});

test('memberOf has the value that JSON.parse keeps, the last of duplicates', () => {
  fc.assert(
    fc.property(objectSample, ({ text }) => {
      const members = scanMembers(text);
      const found = members.map(({ key }) => [key, memberOf(text, members, key)?.value]);
      expect(new Map(found.map(([key, value]) => [key, value]))).toEqual(
        new Map(Object.entries(JSON.parse(text))),
      );
    }),
  );
});

test('memberOf has nothing for a missing key', () => {
  const text = '{"a": {"b": 1}}';
  expect(memberOf(text, scanMembers(text), 'b')).toBeUndefined();
});

test('findDuplicateKey finds a duplicate exactly if there is one', () => {
  fc.assert(
    fc.property(anySample, (sample) => {
      expect(findDuplicateKey(sample.text) !== undefined).toBe(hasDuplicate(sample));
    }),
    { numRuns: 500 },
  );
});

const duplicates = [
  { title: 'at the top', text: '{"a": 1, "b": 2, "a": 3}', path: 'a' },
  { title: 'one of them spelt with escapes', text: '{"a": 1, "\\u0061": 2}', path: 'a' },
  { title: 'in a member', text: '{"user": {"name": 1, "name": 1}}', path: 'user.name' },
  { title: 'in an element', text: '[0, {"a": [1, {"b": 1, "b": 2}]}]', path: '[1].a[1].b' },
  { title: 'the first of several', text: '{"a": {"x": 1, "x": 2}, "a": 0}', path: 'a.x' },
  { title: 'not in different objects', text: '{"a": {"a": {"a": [{"a": 1}, {"a": 1}]}}}', path: undefined },
  { title: 'not in strings', text: '{"a": "{\\"a\\": 1, \\"a\\": 2}"}', path: undefined },
  { title: 'not by letter case', text: '{"a": 1, "A": 2}', path: undefined },
  { title: 'of a name that every object has', text: '{"toString": 1}', path: undefined },
];

test.each(duplicates)('findDuplicateKey names the path: $title', ({ text, path }) => {
  expect(findDuplicateKey(text)).toBe(path);
});

test('findDuplicateKey reaches any depth that JSON.parse does', () => {
  const depth = 50_000;
  const text = `${'['.repeat(depth)}{"a": 1, "a": 2}${']'.repeat(depth)}`;
  expect(findDuplicateKey(text)).toBe(`${'[0]'.repeat(depth)}.a`);
});

test('stringifyJson writes plain values as JSON.stringify does', () => {
  fc.assert(
    fc.property(plainValue, (value) => {
      expect(stringifyJson(value)).toBe(JSON.stringify(value));
    }),
  );
});

test('stringifyJson inserts the text of every Json, wherever it is', () => {
  fc.assert(
    fc.property(anySample, ({ text }) => {
      expect(stringifyJson({ a: [new Json(text)], b: new Json(text) })).toBe(`{"a":[${text}],"b":${text}}`);
    }),
  );
});

const written = [
  { title: 'a bigint', value: 12345678901234567890n, text: '12345678901234567890' },
  { title: 'a raw number', value: [JSON.rawJSON('1.10')], text: '[1.10]' },
  { title: 'a date', value: { at: new Date(0) }, text: '{"at":"1970-01-01T00:00:00.000Z"}' },
  { title: 'what JSON lacks in an object', value: { a: undefined, b: () => 1, c: 1 }, text: '{"c":1}' },
  { title: 'what JSON lacks in an array', value: [undefined, Number.NaN], text: '[null,null]' },
  { title: 'a key with quotes', value: { 'a"b': 'c\nd' }, text: '{"a\\"b":"c\\nd"}' },
  { title: 'nothing at all', value: undefined, text: 'null' },
];

test.each(written)('stringifyJson writes $title', ({ value, text }) => {
  expect(stringifyJson(value)).toBe(text);
});

test('parseLossless gives what JSON.parse gives, number by number the same', () => {
  fc.assert(
    fc.property(anySample, ({ text }) => {
      expect(JSON.parse(JSON.stringify(parseLossless(text)))).toEqual(JSON.parse(text));
    }),
  );
});

test('parseLossless changes the digits of no number', () => {
  fc.assert(
    fc.property(numberText, (number) => {
      expect(decimalOf(JSON.stringify(parseLossless(number)))).toEqual(decimalOf(number));
    }),
    { numRuns: 1000 },
  );
});

const digits = [
  '12345678901234567890',
  '-9007199254740993',
  '0.1000000000000000055511151231257827',
  '3.141592653589793238462643383279',
  '1e400',
  '-1e-400',
  '-0',
  '1.2345678e-320',
  '123456789012345e-330',
];

test.each(digits)('parseLossless keeps %s, whole texts too', (number) => {
  const text = `{"a":[${number},{"b":${number}}],"c":"${number}","d":0.5}`;
  expect(JSON.stringify(parseLossless(text))).toBe(text);
  expect(JSON.stringify({ spliced: new Json(text) })).toBe(`{"spliced":${text}}`);
});

/** A number's sign, digits without outer zeros, and the exponent of its last digit. */
function decimalOf(text: string): { negative: boolean; digits: string; exponent: number } {
  const [, sign, whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  if (digits === '') return { negative: false, digits: '', exponent: 0 };
  return {
    negative: sign === '-',
    digits,
    exponent: Number(power) - fraction.length + all.length - digits.length,
  };
}

test('a Json parses its text once and shares it as it is', () => {
  const json = new Json(' {"a": 12345678901234567890} ');
  expect(json.value).toBe(json.value);
  expect(json.value).toEqual({ a: 12345678901234567000 });
  expect(Json.from(json)).toBe(json);
  expect(Json.from({ a: [json] }).text).toBe('{"a":[ {"a": 12345678901234567890} ]}');
  expect(() => new Json('{').value).toThrow(SyntaxError);
});

test('toPlain reads as plain values and still writes the exact text', () => {
  const big = new Json('{"n": 12345678901234567890}');
  const plain = toPlain({ result: big, list: [big, 'x'], inner: { big } });
  const rounded = { n: 12345678901234567000 };
  expect(plain).toEqual({ result: rounded, list: [rounded, 'x'], inner: { big: rounded } });
  expect(stringifyJson({ plain })).toBe(
    `{"plain":{"result":${big.text},"list":[${big.text},"x"],"inner":{"big":${big.text}}}}`,
  );
});

const shapes = [
  { title: 'an object', value: {}, is: true },
  { title: 'an array', value: [], is: false },
  { title: 'null', value: null, is: false },
  { title: 'a string', value: '{}', is: false },
];

test.each(shapes)('isObject of $title is $is', ({ value, is }) => {
  expect(isObject(value)).toBe(is);
});

test('a former Json in a plain tree is still written with its text', () => {
  const { result } = toPlain({ status: 'ok', result: new Json('{ "id": 12345678901234567890 }') });
  expect(stringifyJson(result)).toBe('{ "id": 12345678901234567890 }');
});
