import { expect, test } from 'vitest';
import { findParamProblems } from '../../../src/builtins/checks/params.ts';
import { checks, checkTypes, findCheck } from '../../../src/builtins/checks/registry.ts';
import { scoreOf } from './asking.ts';

test('no two checks share a type or an alias', () => {
  const names = checks.flatMap(({ type, aliases }) => [type, ...aliases]);
  expect(checkTypes()).toEqual(names);
  expect([...new Set(names)]).toEqual(names);
});

test('no two params of a check share a name or an alias', () => {
  for (const { type, params } of checks) {
    const names = Object.entries(params).flatMap(([name, { aliases }]) => [name, ...(aliases ?? [])]);
    expect([type, ...new Set(names)]).toEqual([type, ...names]);
  }
});

test('a check is found by its type and by each alias', () => {
  expect(findCheck('content_includes')).toBe(findCheck('contains'));
  expect(findCheck('is_valid_json')?.type).toBe('json_valid');
  expect(findCheck('required_fields')?.type).toBe('field_presence');
  expect(findCheck('toString')).toBeUndefined();
});

test.each(checks.map((check) => [check.type, check] as const))(
  'the example of %s scores as documented',
  async (type, check) => {
    const { example } = check;
    expect(findParamProblems(type, example.params)).toEqual([]);
    expect(await scoreOf(type, example)).toBe(example.score);
  },
);
