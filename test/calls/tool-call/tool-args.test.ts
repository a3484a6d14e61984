import { expect, test } from 'vitest';
import { MAX_JSON_DEPTH } from '../../../src/base/json/depth.ts';
import { Json } from '../../../src/base/json/json.ts';
import { compileSchema, fitsAnything } from '../../../src/base/yaml/schema-check.ts';
import {
  type CallableTool,
  findMisfits,
  readArgs,
  readCheckedArgs,
  readGivenArgs,
} from '../../../src/calls/tool-call/callable-tool.ts';

const refused = expect.objectContaining({ code: 'ARGS_INVALID' });
const nested = (levels: number): string => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
const holdingItself: Record<string, unknown> = {};
holdingItself['a'] = [holdingItself];

test.each([
  [undefined, '{}'],
  [null, '{}'],
  ['', '{}'],
  [' \n', '{}'],
  [' null ', '{}'],
  [' {"a" : 1.10} ', '{"a" : 1.10}'],
  [{ a: 1, b: undefined }, '{"a":1}'],
  [{ a: new Json('1.10') }, '{"a":1.10}'],
  [new Map(), '{}'],
  [nested(MAX_JSON_DEPTH), nested(MAX_JSON_DEPTH)],
  [JSON.parse(nested(MAX_JSON_DEPTH)), nested(MAX_JSON_DEPTH)],
])('arguments are read unchanged: %#', (given, text) => {
  expect(readArgs('w', given).text).toBe(text);
});

test.each([
  ...[
    '{',
    '{} {}',
    '[]',
    '"{}"',
    '7',
    'true',
    'nullx',
    'x null',
    '{"a":1,"a":1}',
    '{"a":[{"b":1,"\\u0062":2}]}',
  ],
  ...[7, true, [], [{}], () => ({}), Symbol('s'), Number.NaN, 7n],
  ...[holdingItself, nested(MAX_JSON_DEPTH + 1), JSON.parse(nested(MAX_JSON_DEPTH + 1))],
  {
    toJSON: () => {
      throw new Error('no');
    },
  },
])('a text that is not one JSON object is refused: %#', (given) => {
  expect(() => readArgs('w', given)).toThrow(refused);
});

test.each(['', ' \n', 'null', ' null ', null])(
  '%j is no edit of arguments, while nothing and {} are',
  (given) => {
    expect(() => readGivenArgs('w', given)).toThrow(refused);
    expect(readGivenArgs('w', '{}').text).toBe('{}');
    expect(readGivenArgs('w', undefined).text).toBe('{}');
  },
);

test.each(['nullx', 'xnull', '{"null":null}', 7])('an edit is read like any arguments: %j', (given) => {
  const read = () => readGivenArgs('w', given).text;
  if (given === '{"null":null}') expect(read()).toBe(given);
  else expect(read).toThrow(refused);
});

const tool: CallableTool = {
  ...{ name: 'w', port: undefined, links: [], checkResult: fitsAnything },
  checkArgs: compileSchema({ required: ['n'] }),
};
const direct = { ...tool, isDirect: ({ text }: Json) => text.startsWith('{"args"') };

test('arguments fit the schema of their tool', () => {
  expect(readCheckedArgs(tool, '{"n":1}').text).toBe('{"n":1}');
  expect(() => readCheckedArgs(tool, '{}')).toThrow(refused);
  expect(() => readCheckedArgs(tool, '{}', true)).toThrow(refused);
  expect(() => readCheckedArgs(direct, '{}')).toThrow(refused);
});

test('a list of arguments may come only from a host, whatever the schema', () => {
  expect(readCheckedArgs(direct, '{"args":[]}', true).text).toBe('{"args":[]}');
  expect(() => readCheckedArgs(direct, '{"args":[]}')).toThrow(refused);
  expect(() => readCheckedArgs(direct, '{"args":[]}', false)).toThrow(refused);
});

test('a value without a schema is not parsed', () => {
  expect(findMisfits(fitsAnything, new Json('no JSON'))).toEqual([]);
  expect(findMisfits(() => ['misfit'], new Json('1'))).toEqual(['misfit']);
});
