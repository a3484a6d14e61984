import { expect, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import { Json } from '../../src/base/json/json.ts';
import { createHookContext } from '../../src/contract/turn.ts';
import {
  defaultsOf,
  fillIn,
  isOfKind,
  type Kind,
  member,
  optional,
  requireMembers,
  type Table,
  withFallback,
} from '../../src/dialects/payload-table.ts';

const kinds: readonly { kind: Kind; fits: readonly string[]; fails: readonly string[] }[] = [
  { kind: 'text', fits: ['""', '"a"'], fails: ['null', '1', '{}'] },
  { kind: 'text or null', fits: ['"a"', 'null'], fails: ['1', 'false'] },
  { kind: 'filled text', fits: ['"a"'], fails: ['""', 'null'] },
  { kind: 'flag', fits: ['true', 'false'], fails: ['"true"', '0', 'null'] },
  { kind: 'number', fits: ['0', '-1.5', '1e3'], fails: ['"1"', 'null'] },
  { kind: 'number or null', fits: ['0.5', 'null'], fails: ['"1"'] },
  { kind: 'integer', fits: ['-3', '5', '1e3'], fails: ['1.5', '"5"'] },
  { kind: 'count', fits: ['0', '12345678901234567890123'], fails: ['-1', '1.0', '1e3'] },
  { kind: 'fuel', fits: ['0', '18446744073709551615'], fails: ['18446744073709551616', '-1'] },
  { kind: 'delta', fits: ['-9223372036854775808', '5'], fails: ['9223372036854775808', '-0', '1.5'] },
  { kind: 'object', fits: ['{}'], fails: ['[]', 'null'] },
  { kind: 'list', fits: ['[1]'], fails: ['{}', 'null'] },
  { kind: 'names', fits: ['[]', '["a"]'], fails: ['["a", 1]', '"a"'] },
  { kind: 'any', fits: ['null', '1', '{}'], fails: [] },
];

test.each(kinds)('a $kind accepts its values only', ({ kind, fits, fails }) => {
  const judged = [...fits, ...fails].map((text) => isOfKind(new Json(text), kind));
  expect(judged).toEqual([...fits.map(() => true), ...fails.map(() => false)]);
});

const text = member('text', 'is no text');
const table: Table = {
  name: text,
  session: withFallback(text, ({ session_id }) => session_id),
  copy: optional(withFallback(text, (_context, { name }) => name)),
  count: withFallback(member('count', 'is no count'), 0),
  note: optional(text),
};
const context = createHookContext('s1');

test('defaults come in the order of the table, and those without a value are absent', () => {
  expect(Object.entries(defaultsOf(table, {}, context))).toEqual([
    ['session', 's1'],
    ['count', 0],
  ]);
});

test('given members keep place and value, and omitted ones follow', () => {
  const filled = fillIn(table, { other: 1, count: 5, name: 'n', session: undefined }, context);
  expect(Object.entries(filled)).toEqual([
    ['other', 1],
    ['count', 5],
    ['name', 'n'],
    ['session', 's1'],
    ['copy', 'n'],
  ]);
});

function problemOf(payload: Readonly<Record<string, unknown>>): unknown {
  try {
    requireMembers(table, payload, (key, problem = 'is missing') => `${key} ${problem}`);
    return undefined;
  } catch (thrown) {
    return thrown instanceof RuntimeError ? [thrown.code, thrown.message] : thrown;
  }
}

test('the first missing or wrong member of the table is named, for a tree and for a text', () => {
  const whole = { name: 'n', session: 's', count: 1 };
  expect([
    problemOf(whole),
    problemOf({ ...whole, note: 5, count: 'x' }),
    problemOf({ ...whole, note: new Json('5') }),
    problemOf({ session: 5 }),
  ]).toEqual([
    undefined,
    ['EVENT_INVALID', 'count is no count'],
    ['EVENT_INVALID', 'note is no text'],
    ['EVENT_INVALID', 'name is missing'],
  ]);
});
