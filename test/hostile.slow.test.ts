import { expect, test } from 'vitest';
import { toRuntimeError } from '../src/base/errors.ts';
import { compileExpressions } from '../src/base/expression/expression.ts';
import { compileDataSchema } from '../src/base/yaml/data-schema.ts';
import { compileSchema } from '../src/base/yaml/schema-check.ts';
import { open } from './runtime/open.ts';

const many = Array.from({ length: 60_000 }, (_, number) => number);
const run = 'a'.repeat(60_000);

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level++) value = { inner: value };
  return value;
}

const branch = (key: string) => ({ required: [key], properties: { inner: { $ref: '#/$defs/node' } } });
const tree = { $defs: { node: { anyOf: [branch('x'), branch('y')] } }, $ref: '#/$defs/node' };

test.each([
  ['a costly pattern', { pattern: '^(a+)+$' }, `${run}!`, ['must match pattern "^(a+)+$"']],
  [
    'a costly pattern that only JavaScript has',
    { pattern: '^(?=(a+)+$)a' },
    `${'a'.repeat(60)}!`,
    ['it cannot be checked: looking for a pattern took longer than 1 s'],
  ],
  [
    'a key held against a costly pattern',
    { patternProperties: { '^(a+)+$': {} }, additionalProperties: false },
    { [`${'a'.repeat(50)}!`]: 1 },
    [`must NOT have additional properties (${'a'.repeat(50)}!)`],
  ],
  ['uniqueItems over 60,000 objects', { uniqueItems: true }, many.map((id) => ({ id, in: { id } })), []],
  [
    'uniqueItems over 60,000 objects, the last twice',
    { uniqueItems: true },
    [...many.map((id) => ({ id, in: { id } })), { in: { id: 59_999 }, id: 59_999 }],
    ['must NOT have duplicate items (items ## 59999 and 60000 are identical)'],
  ],
  [
    'a schema that tries two ways at each of forty levels',
    tree,
    nested(40),
    ['it cannot be checked: comparing it with the schema took longer than 1 s'],
  ],
  [
    'a schema that refers to itself, and a plain value',
    { properties: { inner: { $ref: '#' } } },
    nested(90),
    [],
  ],
  [
    'a million violations',
    { items: { type: 'string' } },
    Array.from({ length: 1_000_000 }, () => 0),
    ['0: must be string'],
  ],
  [
    'thirty violations',
    { items: { type: 'string' } },
    Array.from({ length: 30 }, () => 0),
    [...Array.from({ length: 20 }, (_, item) => `${item}: must be string`), 'and 10 more'],
  ],
])('a schema in bounded time: %s', (_title, schema, value, violations) => {
  expect(compileSchema(schema)(value)).toEqual(violations);
});

test.each([
  [[1, 1], 1, 0],
  [[1, '1', true, 'true', null, 'null', '\0[1]', [1]], undefined, undefined],
  [
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    1,
    0,
  ],
  [[[1, 2], [2, 1], [1], [1, 2]], 3, 0],
  [['a', 'b', 'a', 'b'], 3, 1],
  [[...many.slice(0, 40), 3], 40, 3],
  [[{}, []], undefined, undefined],
])('uniqueItems has the meaning that the standard gives it: %j', (items, i, j) => {
  const validate = compileDataSchema({ uniqueItems: true });
  validate(items);
  expect(validate.errors?.map(({ params }) => params) ?? []).toEqual(i === undefined ? [] : [{ i, j }]);
});

const tooLong = (what: string) => ({
  code: 'EXPRESSION_FAILED',
  message: expect.stringContaining(`${what} took longer than 1 s`),
});

test.each([
  ['matches, a costly pattern', 'args.t.matches("^(a+)+$")', { t: `${run}!` }, false],
  ['matches, a pattern of RE2’s', 'args.t.matches("(?i)^REFUND")', { t: 'Refund me' }, true],
  ['matches, a pattern that only JavaScript has', 'args.t.matches("^(?!no)")', { t: 'no' }, false],
  [
    'matches, a costly one of those',
    'args.t.matches("^(?=(a+)+$)a")',
    { t: `${'a'.repeat(60)}!` },
    tooLong('looking for a pattern'),
  ],
  [
    'matches, a pattern from outside that is far too long',
    'args.t.matches(args.p)',
    { t: 'a', p: '(a{1000})'.repeat(20_000) },
    expect.objectContaining({ code: 'EXPRESSION_FAILED' }),
  ],
  [
    'loops inside of loops',
    'args.l.all(x, args.l.all(y, args.l.all(z, x + y + z >= 0)))',
    { l: many },
    tooLong('evaluating it'),
  ],
  [
    'a list looked through for each of its items',
    'args.l.all(x, x in args.l)',
    { l: many },
    tooLong('evaluating it'),
  ],
  [
    'loops over the letters of a text',
    'args.t.split("").all(x, args.t.split("").all(y, x == y))',
    { t: run },
    tooLong('evaluating it'),
  ],
  ['one loop over many items', 'args.l.filter(x, x % 2 == 0).size()', { l: many }, 30_000],
  [
    'a long text looked for in a long text',
    'args.t.contains(args.n) || args.t.indexOf(args.n) >= 0 || args.t.lastIndexOf(args.n) >= 0 || args.t.split(args.n).size() > 1',
    { t: run.repeat(16), n: `${run}${run}b${run}${run}` },
    false,
  ],
  [
    'a duration of sixty thousand digits',
    'duration(args.t) > duration("1s")',
    { t: '1'.repeat(60_000) },
    {
      code: 'EXPRESSION_FAILED',
      message: expect.stringContaining('a duration has at most a hundred characters'),
    },
  ],
  [
    'an argument of the wrong type, told by the name of the function',
    'args.t.matches(1)',
    { t: 'a' },
    { code: 'EXPRESSION_FAILED', message: expect.stringContaining("'string.matches(int)'") },
  ],
])('an expression in bounded time: %s', (_title, code, args, wanted) => {
  expect(evaluate(code, args)).toEqual(wanted);
});

function evaluate(code: string, args: object): unknown {
  try {
    return compileExpressions(`\${${code}}`, ['args']).evaluate({ args });
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    return { code: error.code, message: error.message };
  }
}

test('functions have CEL’s meaning as before', () => {
  const code =
    '["a-b-c".split("-"), "a-b-c".split("-", 2), ["abcabc".indexOf("c"), "abcabc".indexOf("c", 3), "abcabc".lastIndexOf("a"), "abcabc".lastIndexOf("a", 2)], "abc".contains("bc"), duration("90s").getMinutes(), ["a"].map(x, x + "b").join("")]';
  expect(evaluate(code, {})).toEqual([['a', 'b', 'c'], ['a', 'b-c'], [2, 5, 3, 0], true, 1, 'ab']);
});

const spec = `
tools:
  echo:
    input_schema: {type: object, properties: {text: {type: string, pattern: '^(?=(a+)+$)a'}}}
    exec: {command: $bin/echo-args, timeout_ms: 300}
  result:
    output_schema: {type: object, properties: {text: {type: string, pattern: '^(?=(a+)+$)a'}}}
    exec: {command: $bin/echo-args}
  ask:
    approval: {when: '\${args.text.matches("^(?=(a+)+$)a")}'}
    exec: {command: $bin/echo-args}
`;

test('a call whose arguments, result or approval would take for ever is refused, and the next one is served', async () => {
  const { runtime } = await open(spec);
  const hostile = { text: `${'a'.repeat(60)}!` };
  expect({
    args: await runtime.tools.call('echo', hostile),
    result: await runtime.tools.call('result', hostile),
    approval: await runtime.tools.call('ask', hostile),
    next: await runtime.tools.call('echo', { text: 'a' }),
  }).toMatchObject({
    args: {
      status: 'failed',
      error: { code: 'ARGS_INVALID', message: expect.stringContaining('took longer than 1 s') },
    },
    result: {
      status: 'failed',
      error: { code: 'RESULT_INVALID', message: expect.stringContaining('took longer than 1 s') },
    },
    approval: { status: 'pending', pending: { reason: expect.stringContaining('took longer than 1 s') } },
    next: { status: 'ok', result: { text: 'a' } },
  });
});
