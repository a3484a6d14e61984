import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { textWidth } from '../../../src/base/text/width.ts';
import { compareRuns } from '../../../src/suites/compare/compare.ts';
import { renderComparison, renderComparisonMarkdown } from '../../../src/suites/compare/render.ts';
import { decided, header, record, said, source } from '../stats/records.ts';

const evals = [header('exact'), header('guard')];

/** Six cases that passed before; five of them fail now. One case exists only on each side. */
async function example() {
  const guard = (flagged: boolean) =>
    said('guard', flagged ? 1 : 0, { guard: decided({ expected: true, flagged, confidence: null }) });
  const run = (scoreOf: (index: number) => number | null, only: string, runId: string) => {
    const results = (index: number) => {
      const score = scoreOf(index);
      const exact = said('exact', score, score === 0 ? { detail: 'said | 41\n<b>@you</b> `x`' } : {});
      return [exact, ...(index === 0 ? [guard(score === 1)] : [])];
    };
    const cases = Array.from({ length: 6 }, (_none, index) =>
      record(`c${index}`, [results(index)], { evals, number: index + 1 }),
    );
    return source([...cases, record(only, [[said('exact', 1)]], { evals, number: 7 })], { evals, runId });
  };
  return await compareRuns(
    run(() => 1, 'gone', 'old'),
    run((index) => (index === 5 ? 1 : index === 4 ? null : 0), 'new', 'now'),
  );
}

const table = `A: demo, run old, 7 cases
B: demo, run now, 7 cases

eval       pairs  A passed  B passed       p  regressions  improvements  unscored  A mean  B mean               B − A (95 %)       p
exact          6   100.00%    16.67%  0.0625            5             0     0 → 1   1.000   0.200  -0.800 (-1.000 to -0.245)  0.1250
guard          1   100.00%     0.00%  1.0000            1             0             1.000   0.000                     -1.000       –
all cases      6   100.00%    16.67%  0.0625            5             0     0 → 1   1.000   0.200  -0.800 (-1.000 to -0.245)  0.1250

guard    precision  recall     f1     f2  accuracy  auc
guard A      1.000   1.000  1.000  1.000     1.000    –
guard B          –   0.000  0.000  0.000     0.000    –
`;

describe('a comparison as a text', () => {
  test('has both sides, a line for each eval, and the guards', async () => {
    const text = renderComparison(await example(), false);
    expect(text.slice(0, table.length)).toBe(table);
  });

  test('explains the result, what is missing, and what got worse', async () => {
    const text = renderComparison(await example(), false);
    expect(text.slice(table.length)).toBe(`
exact
  verdicts: no significant change (p = 0.0625)
  scores: no significant change (p = 0.1250)
  passed in both 1, only in A 5, only in B 0, in neither 0
guard
  verdicts: no significant change (p = 1.0000)
  passed in both 0, only in A 1, only in B 0, in neither 0
all cases
  verdicts: no significant change (p = 0.0625)
  scores: no significant change (p = 0.1250)
  passed in both 1, only in A 5, only in B 0, in neither 0

only in A: 1 case
only in B: 1 case

exact: 5 regressions:
  rows.jsonl:1  case c0: score 1 → score 0: said | 41 <b>@you</b> \`x\`
  rows.jsonl:2  case c1: score 1 → score 0: said | 41 <b>@you</b> \`x\`
  rows.jsonl:3  case c2: score 1 → score 0: said | 41 <b>@you</b> \`x\`
  rows.jsonl:4  case c3: score 1 → score 0: said | 41 <b>@you</b> \`x\`
  rows.jsonl:5  case c4: score 1 → unscored: no score

guard: 1 regression:
  rows.jsonl:1  case c0: score 1 → score 0: said 0

all cases: 5 regressions:
  rows.jsonl:1  case c0: score 1 → score 0: exact: said | 41 <b>@you</b> \`x\`; guard: said 0
  rows.jsonl:2  case c1: score 1 → score 0: exact: said | 41 <b>@you</b> \`x\`
  rows.jsonl:3  case c2: score 1 → score 0: exact: said | 41 <b>@you</b> \`x\`
  rows.jsonl:4  case c3: score 1 → score 0: exact: said | 41 <b>@you</b> \`x\`
  rows.jsonl:5  case c4: score 1 → unscored: exact: no score
`);
  });

  test('is no wider than the terminal, and colours add only colours', async () => {
    const comparison = await example();
    const plain = renderComparison(comparison, false, 60);
    expect(plain.split('\n').filter((line) => textWidth(line) > 60)).toEqual([]);
    const coloured = renderComparison(comparison, true, 60);
    expect(coloured).not.toBe(plain);
    expect(stripVTControlCharacters(coloured)).toBe(plain);
  });

  test('reports sides that have nothing in common, and an interrupted one', async () => {
    const one = source([record('1', [[said('a', 1)]])]);
    const other = source([record('2', [[said('a', 1)]])], { isComplete: false });
    const text = renderComparison(await compareRuns(one, other), false);
    expect(text).toContain('B: demo, run run-1, 1 case (the run did not finish)\n');
    expect(text).toContain('a\n  no pairs to compare\n');
  });
});

describe('a comparison in Markdown', () => {
  test('has the same content, and no model output becomes markup', async () => {
    const text = renderComparisonMarkdown(await example());
    expect(text).toContain(
      '| `exact` | 6 | 100.00% | 16.67% | 0.0625 | 5 | 0 | 0 | 0 → 1 | -0.800 (-1.000 to -0.245) |\n',
    );
    expect(text).toContain('| `guard B` | – | 0.000 | 0.000 | 0.000 | 0.000 | – |\n');
    expect(text).toContain(
      '- `exact`: verdicts: no significant change (p = 0.0625); scores: no significant change',
    );
    expect(text).toContain('- `only in B: 1 case`\n');
    expect(text).toContain(
      '| `c0` | `rows.jsonl:1` | `` score 1 → score 0: said \\| 41 <b>@you</b> `x` `` |\n',
    );
  });

  test('fits into a comment on GitHub', async () => {
    const long = 'x'.repeat(500);
    const many = Array.from({ length: 20 }, (_none, index) => header(`eval ${index}`));
    const run = (score: number) =>
      source(
        Array.from({ length: 60 }, (_none, index) =>
          record(`${index}`, [many.map(({ id }) => said(id, score, { detail: long }))], { evals: many }),
        ),
        { evals: many },
      );
    const text = renderComparisonMarkdown(await compareRuns(run(1), run(0)));
    expect(text.length).toBeLessThan(60_000);
    expect(text.endsWith('_The rest is left out, because the length of this text is limited._\n')).toBe(true);
  });
});
