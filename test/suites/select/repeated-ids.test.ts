import { expect, test } from 'vitest';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import { openRuntime } from '../../../src/index.ts';
import { newSeenKeys, watchRepeatedIds } from '../../../src/suites/select/repeated-ids.ts';
import type { Candidate } from '../../../src/suites/select/select.ts';
import { openBench } from '../../runtime/suite-bench.ts';

async function repeatsOf(cases: readonly (readonly [id: string, ...tags: string[]])[], most?: number) {
  const told: string[] = [];
  const candidates = cases.map(([id, ...tags], index): Candidate => {
    return {
      row: { number: index + 1, file: 'x', line: index + 1, content: { usable: true, value: {} } },
      id,
      tags,
      value: {},
    };
  });
  async function* source() {
    yield* candidates;
  }
  const taken = await Array.fromAsync(watchRepeatedIds(({ id }) => told.push(id), most)(source()));
  expect(taken).toEqual(candidates);
  return told;
}

test.each([
  { title: 'the first one alone', cases: [['a'], ['b'], ['b'], ['a'], ['b']], told: ['b'] },
  { title: 'none of different tags', cases: [['a', 'small'], ['a', 'large'], ['a']], told: [] },
  {
    title: 'one of the same tags',
    cases: [
      ['a', 'small'],
      ['a', 'small'],
    ],
    told: ['a'],
  },
  { title: 'none after so many cases', cases: [['a'], ['b'], ['c'], ['a']], most: 3, told: [] },
] as const)('of repeated ids, $title is reported', async ({ cases, told, ...rest }) => {
  expect(await repeatsOf(cases, 'most' in rest ? rest.most : undefined)).toEqual(told);
});

test('a run warns that an id occurs in several rows, and judges them all', async () => {
  const bench = await openBench([1, 1, 1]);
  bench.replace('rows.jsonl', '"c2"', '"c1"');
  bench.replace('rows.jsonl', '"c3"', '"c1"');
  const events: RuntimeEvent[] = [];
  await using runtime = await openRuntime(`${bench.folder}/runtime.yaml`, {
    log: false,
    onEvent: (event) => events.push(event),
  });
  expect(await runtime.evals.run(bench.suite)).toMatchObject({ status: 'passed', cases: 3 });
  expect(events.filter(({ type }) => type === 'note')).toMatchObject([
    {
      ...{ type: 'note', name: bench.suite, level: 'warn' },
      message: expect.stringMatching(/rows\.jsonl:2 case id "c1" is also the id of an earlier row/),
    },
  ]);
});

test('each key is new once, whatever its length', () => {
  const seen = newSeenKeys();
  const keys = ['', 'a', 'b', 'ab', 'ba', 'a'.repeat(10_000), '\ud800', '1', '11'];
  expect(keys.map((key) => seen.add(key))).toEqual(keys.map(() => true));
  expect(keys.map((key) => seen.add(key))).toEqual(keys.map(() => false));
  expect(seen.size()).toBe(keys.length);
});

test.each([
  { title: 'numbers', key: (index: number) => String(index) },
  { title: 'names that differ at their end', key: (index: number) => `a name of the usual length ${index}` },
  {
    title: 'names that differ at their start',
    key: (index: number) => `${index} is a name of the usual length`,
  },
])('no two of 300,000 $title are confused', ({ key }) => {
  const seen = newSeenKeys();
  for (let index = 0; index < 300_000; index++) seen.add(key(index));
  expect(seen.size()).toBe(300_000);
  expect(seen.add(key(123_456))).toBe(false);
});
