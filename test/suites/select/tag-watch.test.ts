import { expect, test } from 'vitest';
import { watchTags } from '../../../src/suites/select/tag-watch.ts';
import { openBench } from '../../runtime/suite-bench.ts';

test.each([
  {
    title: 'the one that was meant',
    tags: ['od'],
    fault: { message: 'none of 2 cases has the tag "od"', hint: 'did you mean `odd`?' },
  },
  {
    title: 'those that there are',
    tags: ['nosuch', 'other'],
    fault: { message: 'none of 2 cases has the tag "nosuch" or "other"', hint: 'known tags: odd, even' },
  },
])('a run without a case that has the tag names $title', async ({ tags, fault }) => {
  const bench = await openBench([1, 1]);
  bench.replace(
    'demo.suite.yaml',
    'content: x',
    "content: x, tags: [\"${case.id == 'c1' ? 'odd' : 'even'}\"]",
  );
  const report = await bench.runtime.evals.run(bench.suite, { select: { tags } });
  expect(report).toMatchObject({ status: 'error', cases: 0, problem_count: 1, problems: [fault] });
});

test('a long list of tags is cut, and a partly read dataset raises no complaint', () => {
  const watch = watchTags();
  watch.see(
    Array.from({ length: 21 }, (_, index) => `t${String(index).padStart(9, '0')}`),
    false,
  );
  expect(watch.findFault(['x'])).toBeUndefined();
  watch.end();
  expect(watch.findFault(['x'])?.hint).toMatch(/^known tags: t000000000, .*, t000000019, …$/);
  watch.see(['x'], true);
  expect(watch.findFault(['x'])).toBeUndefined();
});
