import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import {
  compileExpressions,
  ExpressionError,
  findExpressionErrors,
} from '../../../src/base/expression/expression.ts';
import { Json, parseLossless, stringifyJson } from '../../../src/base/json/json.ts';

const row = parseLossless(`{
  "n": 3, "half": 0.5, "text": "a", "none": null, "yes": true, "list": [1, 2, 3], "user": {"name": "Ann"},
  "long": 12345678901234567890, "odd": 9007199254740993, "pi": 3.14159265358979323846,
  "car": {"constructor": "Ferrari", "wins": 16}
}`);

function evaluate(tree: unknown, scope: Record<string, unknown> = { case: row }): unknown {
  return compileExpressions(tree, Object.keys(scope)).evaluate(scope);
}

const values = [
  { title: 'a number', tree: '${case.n}', json: '3' },
  { title: 'a text', tree: '${case.text}', json: '"a"' },
  { title: 'null', tree: '${case.none}', json: 'null' },
  { title: 'a boolean', tree: '${case.yes}', json: 'true' },
  { title: 'a list', tree: '${case.list}', json: '[1,2,3]' },
  { title: 'an object', tree: '${case.user}', json: '{"name":"Ann"}' },
  { title: 'an element of a list', tree: '${case.list[1]}', json: '2' },
  { title: 'a key in brackets', tree: '${case["user"].name}', json: '"Ann"' },
  { title: 'an integer literal', tree: '${1 + 2}', json: '3' },
  { title: 'a literal beyond 2^53', tree: '${9007199254740993}', json: '9007199254740993' },
  { title: 'an unsigned literal', tree: '${7u}', json: '7' },
  { title: 'bytes, as base64', tree: '${b"abc"}', json: '"YWJj"' },
  { title: 'a moment', tree: '${timestamp("2024-01-01T00:00:00Z")}', json: '"2024-01-01T00:00:00.000Z"' },
  { title: 'a duration', tree: '${duration("1.5s")}', json: '"1.5s"' },
  { title: 'a map literal', tree: '${ {"a": case.n, "b": "c"} }', json: '{"a":3,"b":"c"}' },
  { title: 'a list literal of mixed types', tree: '${[case.n, 1, "a"]}', json: '[3,1,"a"]' },
];

test.each(values)(
  'a string that is one expression keeps the type of $title [DS-SUITE-02]',
  ({ tree, json }) => {
    expect(stringifyJson(evaluate(tree))).toBe(json);
  },
);

const numbers = [
  { tree: '${case.n == 3}', json: 'true' },
  { tree: '${3 == case.n}', json: 'true' },
  { tree: '${case.n != 3}', json: 'false' },
  { tree: '${case.n in [1, 2, 3]}', json: 'true' },
  { tree: '${case.n in case.list}', json: 'true' },
  { tree: '${case.n < 4 && case.n >= 3}', json: 'true' },
  { tree: '${case.list == [1, 2, 3]}', json: 'true' },
  { tree: '${size(case.list) == case.n}', json: 'true' },
  { tree: '${case.n + 1}', json: '4' },
  { tree: '${1 - case.n}', json: '-2' },
  { tree: '${case.half * 2}', json: '1' },
  { tree: '${case.n / 2}', json: '1.5' },
  { tree: '${case.n % 2}', json: '1' },
  { tree: '${case.n % case.n}', json: '0' },
  { tree: '${-case.n}', json: '-3' },
  { tree: '${case.list[case.n - 1]}', json: '3' },
  { tree: '${case.list.map(x, x + 1)}', json: '[2,3,4]' },
  { tree: '${case.list.filter(x, x > 1).size()}', json: '2' },
  { tree: '${case.yes ? case.n : 0}', json: '3' },
  { tree: '${string(case.n) + "!"}', json: '"3!"' },
  { tree: '${case.odd == 9007199254740993}', json: 'true' },
  { tree: '${case.odd == 9007199254740992}', json: 'false' },
  { tree: '${case.odd + 1}', json: '9007199254740994' },
  { tree: '${case.long == 12345678901234567890}', json: 'true' },
  { tree: '${[case.long, case.odd]}', json: '[12345678901234567890,9007199254740993]' },
  { tree: '${case.pi > 3.14}', json: 'true' },
];

test.each(numbers)('JSON numbers behave as expected: $tree is $json', ({ tree, json }) => {
  expect(stringifyJson(evaluate(tree))).toBe(json);
});

test.each([
  { title: 'a 20-digit integer', tree: '${case.long}' },
  { title: 'an integer just beyond 2^53', tree: '${case.odd}' },
  { title: 'a long fraction', tree: '${case.pi}' },
  { title: 'a whole row that holds them', tree: '${case}' },
])('$title passes through unchanged', ({ tree }) => {
  const source = tree.slice(2, -1).split('.')[1];
  const expected = source === undefined ? row : Reflect.get(Object(row), source);
  expect(evaluate(tree)).toBe(expected);
});

const texts = [
  { title: 'a text as it stands', tree: 'Hello ${case.user.name}!', text: 'Hello Ann!' },
  { title: 'a number as JSON', tree: 'n=${case.n}', text: 'n=3' },
  { title: 'a long number with all digits', tree: 'n=${case.long}', text: 'n=12345678901234567890' },
  { title: 'null as null', tree: 'x${case.none}x', text: 'xnullx' },
  { title: 'an object as JSON', tree: 'u: ${case.user}', text: 'u: {"name":"Ann"}' },
  { title: 'several values', tree: '${case.n}${case.text}${case.yes}', text: '3atrue' },
  { title: 'nothing around an expression but a space', tree: ' ${case.n}', text: ' 3' },
];

test.each(texts)('text accepts $title [DS-SUITE-02]', ({ tree, text }) => {
  expect(evaluate(tree)).toBe(text);
});

const scans = [
  { title: 'a brace in a string', tree: "${ {'a': '}'}.a }", value: '}' },
  { title: 'an opening brace in a string', tree: '${"{" + case.text}', value: '{a' },
  { title: 'an escaped quote', tree: '${"\\"}"}', value: '"}' },
  { title: 'a string in three quotes', tree: '${"""it is "}" here"""}', value: 'it is "}" here' },
  { title: 'a brace in a comment', tree: '${case.n // }\n}', value: 3 },
  { title: 'nested maps', tree: '${ {"a": {"b": 1}}.a.b }', value: 1 },
  { title: 'a quote of the other kind', tree: `\${"it's"}`, value: "it's" },
  { title: 'an escape', tree: '$${case.n}', value: '${case.n}' },
  { title: 'an escape after a dollar', tree: '$$${case.n}', value: '$${case.n}' },
  { title: 'an escape beside an expression', tree: '$${a} ${case.n}', value: '${a} 3' },
  { title: 'a lone dollar and lone braces', tree: '$5 {a} $ {b}', value: '$5 {a} $ {b}' },
];

test.each(scans)('reads $title', ({ tree, value }) => {
  expect(evaluate(tree)).toBe(value);
});

test('a tree is filled in wherever its strings are, and its keys are unchanged', () => {
  const tree = { a: ['${case.n}', { b: 'x${case.text}' }], '${case.n}': 1, c: null, d: '${case.none}' };
  expect(evaluate(tree)).toEqual({ a: [3, { b: 'xa' }], '${case.n}': 1, c: null, d: null });
});

test('a tree without expressions is its own value', () => {
  const tree = { a: [1, { b: 'text' }], long: JSON.rawJSON('12345678901234567890') };
  expect(evaluate(tree)).toBe(tree);
});

test('parts without expressions are shared, not copied', () => {
  const tree = { fixed: { a: [1] }, filled: '${case.n}' };
  expect(Reflect.get(Object(evaluate(tree)), 'fixed')).toBe(tree.fixed);
});

test('a key named __proto__ stays an ordinary key', () => {
  const tree: unknown = JSON.parse('{"__proto__": "${case.n}"}');
  expect(JSON.stringify(evaluate(tree))).toBe('{"__proto__":3}');
});

test.each([
  { title: 'read', tree: '${case.car}', json: '{"constructor":"Ferrari","wins":16}' },
  { title: 'entered', tree: '${case.car.constructor}', json: '"Ferrari"' },
  { title: 'computed with', tree: '${case.car.wins + 1}', json: '17' },
  { title: 'joined', tree: '${case.car.constructor + "!"}', json: '"Ferrari!"' },
  { title: 'counted', tree: '${size(case.car)}', json: '2' },
  { title: 'handed on', tree: '${[case.car]}', json: '[{"constructor":"Ferrari","wins":16}]' },
])('an object with a key named constructor is $title like any other', ({ tree, json }) => {
  expect(stringifyJson(evaluate(tree))).toBe(json);
});

test.each([
  { title: 'absent and optional', tree: '${case.?gone}', value: null },
  { title: 'absent, with a substitute', tree: '${case.?gone.orValue("none")}', value: 'none' },
  { title: 'there, and optional', tree: '${case.?text}', value: 'a' },
  { title: 'asked for with has()', tree: '${has(case.gone)}', value: false },
])('a field may be $title', ({ tree, value }) => {
  expect(evaluate(tree)).toBe(value);
});

const refused = [
  { title: 'an unknown variable', tree: '${cas.n}', expression: 'cas.n' },
  { title: 'an unknown function', tree: '${shout(case.n)}', expression: 'shout(case.n)' },
  { title: 'an unknown method', tree: '${case.text.shout()}', expression: 'case.text.shout()' },
  { title: 'a syntax error', tree: '${case.n +}', expression: 'case.n +' },
  { title: 'a type error among literals', tree: '${1 + "a"}', expression: '1 + "a"' },
  { title: 'an empty expression', tree: '${ }', expression: '' },
  { title: 'a missing brace', tree: 'text ${case.n', expression: 'case.n' },
  { title: 'a brace that only a string closes', tree: '${"}"', expression: '"}"' },
];

test.each(refused)('$title is refused when it is compiled', ({ tree, expression }) => {
  const compile = (): unknown => compileExpressions({ list: ['fine', tree] }, ['case']);
  expect(compile).toThrow(ExpressionError);
  expect(compile).toThrow(expect.objectContaining({ expression, path: ['list', 1] }));
});

test('every refusal is found, in the order of the tree', () => {
  const tree = { a: '${x}', b: ['${case.n}', { c: '${case.n +}' }], d: '${' };
  const found = findExpressionErrors(tree, ['case']).map(({ expression, path }) => ({ expression, path }));
  expect(found).toEqual([
    { expression: 'x', path: ['a'] },
    { expression: 'case.n +', path: ['b', 1, 'c'] },
    { expression: '', path: ['d'] },
  ]);
});

const failing = [
  { title: 'a missing key', tree: '${case.gone}' },
  { title: 'a key of null', tree: '${case.none.x}' },
  { title: 'a key of a text', tree: '${case.text.x}' },
  { title: 'an index beyond the end', tree: '${case.list[7]}' },
  { title: 'a key inside a number that is too long for a double', tree: '${case.long.rawJSON}' },
  { title: 'a missing key in a computation', tree: '${case.gone + 1}' },
  { title: 'an operator that the types lack', tree: '${case.text + 1}' },
  { title: 'a division of integers by zero', tree: '${1 / (size(case.list) - 3)}' },
  { title: 'a result that JSON lacks', tree: '${case.n / 0.0}' },
  { title: 'a mix with a double that would change an integer', tree: '${case.odd + case.n}' },
  { title: 'an inherited property', tree: '${case.toString}' },
];

test.each(failing)('$title fails on evaluation, naming the expression', ({ tree }) => {
  expect(() => evaluate(tree)).toThrow(RuntimeError);
  expect(() => evaluate(tree)).toThrow(
    expect.objectContaining({
      code: 'EXPRESSION_FAILED',
      message: expect.stringContaining(`\`${tree}\` failed: `),
      details: { expression: tree.slice(2, -1) },
    }),
  );
});

test('a variable without a value fails', () => {
  const expression = compileExpressions('${input.a}', ['input', 'steps']);
  expect(() => expression.evaluate({ steps: {} })).toThrow(
    expect.objectContaining({ code: 'EXPRESSION_FAILED' }),
  );
});

test('the same expression serves many scopes', () => {
  const expression = compileExpressions('${case.n > 1 ? case.list.map(x, x * case.n) : []}', ['case']);
  const results = [2, 1, 3].map((n) => expression.evaluate({ case: { n, list: [1, 2] } }));
  expect(results).toEqual([[2, 4], [], [3, 6]]);
});

test('property: any JSON value passes through one whole expression, digit by digit', () => {
  const integer = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String);
  const json = fc.oneof(integer, fc.json());
  fc.assert(
    fc.property(json, (text) => {
      const value = parseLossless(text);
      expect(stringifyJson(evaluate('${case}', { case: value }))).toBe(stringifyJson(value));
      expect(stringifyJson(evaluate('${[case]}', { case: value }))).toBe(stringifyJson([computed(value)]));
    }),
  );
});

test('property: a lossless value reads as the value that it contains', () => {
  const scope = (value: unknown) => ({ case: { args: value, key: 'k' } });
  const trees = [
    '${case.args}',
    '${[case.args]}',
    '${case.args.k}',
    '${case.?args[?case.key].orValue(0)}',
    '${case}',
  ];
  const member = fc.oneof(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String), fc.json());
  fc.assert(
    fc.property(member, fc.constantFrom(...trees), (text, tree) => {
      const object = `{"k":${text}}`;
      const read = (value: unknown) => stringifyJson(evaluate(tree, scope(value)));
      expect(read(new Json(object))).toBe(read(parseLossless(object)));
    }),
  );
});

/** Integers stay exact; other numbers become doubles. */
function computed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (JSON.isRawJSON(value)) return value.rawJSON.includes('.') ? Number(value.rawJSON) : value;
  if (Array.isArray(value)) return value.map(computed);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, computed(member)]));
}

test('property: text without `${` is never changed', () => {
  const text = fc.string({ unit: fc.constantFrom('$', '{', '}', 'a', '"', "'", '\\', '\n', 'é', '漢') });
  fc.assert(
    fc.property(
      text.filter((candidate) => !candidate.includes('${')),
      (candidate) => {
        expect(evaluate(candidate)).toBe(candidate);
      },
    ),
  );
});

test('property: any string literal is found to its end, whatever braces and quotes it contains', () => {
  const unit = fc.constantFrom('{', '}', '$', '"', "'", '\\', '/', 'a', 'é');
  fc.assert(
    fc.property(fc.string({ unit }), fc.constantFrom('"', "'"), (text, quote) => {
      const literal = quote + text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`) + quote;
      expect(evaluate(`<\${${literal}}>`)).toBe(`<${text}>`);
    }),
  );
});

test.each([
  { wanted: 'bool' as const, value: '${case.n > 1}' },
  { wanted: 'bool' as const, value: '${case.yes}' },
  { wanted: 'bool' as const, value: '${case.?yes}' },
  { wanted: 'bool' as const, value: '${has(case.n)}' },
  { wanted: 'number' as const, value: '${size(case.list)}' },
  { wanted: 'number' as const, value: '${case.n}' },
  { wanted: 'number' as const, value: '${0.5}' },
  { wanted: 'number' as const, value: 0.5 },
  { wanted: 'list' as const, value: '${case.list.map(x, x + 1)}' },
  { wanted: 'list' as const, value: ['${case.n}', 1] },
  { wanted: 'map' as const, value: '${ {"a": case.n} }' },
  { wanted: 'map' as const, value: { a: 'text with ${case.n}' } },
])('$value may give the required type: $wanted', ({ wanted, value }) => {
  expect(findExpressionErrors(value, ['case'], wanted)).toEqual([]);
});

test.each([
  { wanted: 'bool' as const, value: 'true', says: 'must be a single `${…}` that gives true or false' },
  { wanted: 'bool' as const, value: '', says: 'must be a single `${…}` that gives true or false' },
  {
    wanted: 'bool' as const,
    value: '$${case.yes}',
    says: 'must be a single `${…}` that gives true or false',
  },
  {
    wanted: 'bool' as const,
    value: '${case.yes} ',
    says: 'must be a single `${…}` that gives true or false',
  },
  {
    wanted: 'bool' as const,
    value: '${"a"}',
    says: 'must give true or false, but `${"a"}` gives a value of type string',
  },
  {
    wanted: 'number' as const,
    value: '${"5"}',
    says: 'must give a number, but `${"5"}` gives a value of type string',
  },
  {
    wanted: 'list' as const,
    value: '${case.a}${case.b}',
    says: 'must be a single `${…}` that gives a list',
  },
  {
    wanted: 'list' as const,
    value: '${1 < 2}',
    says: 'must give a list, but `${1 < 2}` gives a value of type bool',
  },
  {
    wanted: 'map' as const,
    value: '${[1]}',
    says: 'must give a mapping, but `${[1]}` gives a value of type list<int>',
  },
  {
    wanted: 'map' as const,
    value: '${cas}',
    says: '`${cas}` is not a valid expression: Unknown variable: cas',
  },
])('$value can never give the required type: $wanted', ({ wanted, value, says }) => {
  expect(findExpressionErrors(value, ['case'], wanted).map(({ message }) => message)).toEqual([says]);
});
