import { expect, test } from 'vitest';
import { findReferences } from '../../../src/base/expression/references.ts';
import { parseLossless } from '../../../src/base/json/json.ts';

function read(tree: unknown): string[] {
  return findReferences(tree, ['steps', 'input', 'item']).map(({ path }) => path.join(' '));
}

test.each([
  { code: 'steps', reads: ['steps'] },
  { code: 'steps.a', reads: ['steps a'] },
  { code: 'steps.a.result.list[0].b', reads: ['steps a result list'] },
  { code: 'steps["a"].b', reads: ['steps a b'] },
  { code: 'steps[\'a\']["b"]', reads: ['steps a b'] },
  { code: 'steps.?a.?b', reads: ['steps a b'] },
  { code: 'steps[?"a"]', reads: ['steps a'] },
  { code: 'has(steps.a.b)', reads: ['steps a b'] },
  { code: 'size(steps.a) + input.n', reads: ['steps a', 'input n'] },
  { code: '-steps.a', reads: ['steps a'] },
  { code: '!steps.a || steps.b && !steps.c', reads: ['steps a', 'steps b', 'steps c'] },
  { code: 'steps.a ? steps.b : steps.c', reads: ['steps a', 'steps b', 'steps c'] },
  { code: '[1, steps.a]', reads: ['steps a'] },
  { code: '{"k": steps.a, input.key: 1}', reads: ['steps a', 'input key'] },
  { code: '{"k": 1}[input.key]', reads: ['input key'] },
  { code: '"a" in steps', reads: ['steps'] },
  { code: 'steps[input.name].b', reads: ['steps', 'input name'] },
  { code: 'steps.a[input.i].b', reads: ['steps a', 'input i'] },
  { code: 'steps.a.matches(input.pattern)', reads: ['steps a', 'input pattern'] },
  { code: 'other.a + item', reads: ['item'] },
  { code: 'type(steps) == map', reads: ['steps'] },
  { code: 'optional.of(steps.a)', reads: ['steps a'] },
  { code: 'input.list.map(x, x.a + steps.b.c)', reads: ['input list', 'steps b c'] },
  { code: 'input.list.map(x, x > 1, steps.b)', reads: ['input list', 'steps b'] },
  { code: 'input.list.exists(steps, steps.x) && steps.y', reads: ['input list', 'steps y'] },
  { code: 'item.list.filter(item, item.a)', reads: ['item list'] },
  { code: 'input.a.all(x, x.b.exists_one(y, y == x && item.z))', reads: ['input a', 'item z'] },
  { code: 'cel.bind(v, steps.a, v.b + steps.c)', reads: ['steps a', 'steps c'] },
  { code: 'cel.bind(steps, steps.a, steps.b)', reads: ['steps a'] },
  { code: 'optional.of(steps.a).optMap(item, item.b)', reads: ['steps a'] },
  { code: 'steps.a.map', reads: ['steps a map'] },
  { code: 'input.contains(item, steps.a)', reads: ['input', 'item', 'steps a'] },
  { code: '"steps.a"', reads: [] },
  { code: 'steps.', reads: [] },
])('$code', ({ code, reads }) => {
  expect(read(`\${${code}}`)).toEqual(reads);
});

test('a tree reads what its strings read, each in its place', () => {
  const tree = parseLossless(
    '{"n": 12345678901234567890, "a": ["x", "${steps.b} and ${input.c}"], "d": {"e": "${item}"}}',
  );
  expect(findReferences(tree, ['steps', 'input', 'item'])).toEqual([
    { path: ['steps', 'b'], at: ['a', 1] },
    { path: ['input', 'c'], at: ['a', 1] },
    { path: ['item'], at: ['d', 'e'] },
  ]);
});

test.each(['no expression', '$${steps.a}', '${steps.a', null, 5, true, undefined])(
  '%j reads nothing',
  (tree) => {
    expect(read(tree)).toEqual([]);
  },
);
