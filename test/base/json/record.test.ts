import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { eachOf, exact, ifPresent, object, parsed } from '../../../src/base/json/record.ts';
import {
  flag,
  listOf,
  members,
  nullOr,
  number,
  oneOf,
  optional,
  text,
} from '../../../src/base/json/shape.ts';

const inner = object({ id: text, data: exact });
const read = object({
  kind: oneOf('a', 'b'),
  names: optional(listOf(text)),
  limits: members<{ most: number | null; isHard?: boolean | undefined }>({
    most: nullOr(number),
    isHard: optional(flag),
  }),
  parts: eachOf(inner),
  last: ifPresent(inner),
  any: parsed,
});

const limits = '"limits":{"most":1,"more":2}';
const rest = `${limits},"parts":[],"any":0`;

test('exact text stays, members of shapes stay, further members of objects do not', () => {
  const part = '{"id":"x","data":1.0e400,"more":1}';
  expect(read(new Json(`{"kind":"a","v":1,${limits},"any":[null],"parts":[${part}]}`), '')).toEqual({
    kind: 'a',
    limits: { most: 1, more: 2 },
    parts: [{ id: 'x', data: new Json('1.0e400') }],
    any: [null],
  });
});

test.each([
  ['[]', 'it is not an object'],
  [`{${rest}}`, '"kind" is missing'],
  [`{"kind":"c",${rest}}`, '"kind" is not one of a, b'],
  [`{"kind":"a","names":{},${rest}}`, '"names" is not a list'],
  [`{"kind":"a","names":["x",1],${rest}}`, '"names[1]" is not a text'],
  [`{"kind":"a","names":null,${rest}}`, '"names" is not a list'],
  ['{"kind":"a","limits":[]}', '"limits" is not an object'],
  ['{"kind":"a","limits":{}}', '"limits.most" is missing'],
  ['{"kind":"a","limits":{"most":null,"isHard":0}}', '"limits.isHard" is not true or false'],
  [`{"kind":"a",${limits},"parts":{}}`, '"parts" is not a list'],
  [`{"kind":"a",${limits},"parts":[{"id":"x"}]}`, '"parts[0].data" is missing'],
  [`{"kind":"a",${rest},"last":null}`, '"last" is not an object'],
  [`{"kind":"a",${limits},"parts":[]}`, '"any" is missing'],
])('%s: %s', (json, says) => {
  expect(() => read(new Json(json), '')).toThrow(new Error(says));
});
