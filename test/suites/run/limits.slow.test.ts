import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isRunning, until } from '../../process/harness.ts';
import { type BenchOptions, openBench } from '../../runtime/suite-bench.ts';

async function judge(scores: readonly number[], bench: BenchOptions) {
  const { runtime, suite, folder, graded } = await openBench(scores, bench);
  const report = await runtime.evals.run(suite);
  const source = await runtime.evals.runs.open(report.run_id);
  const records = await Array.fromAsync(source.cases());
  const results = records.flatMap(({ epochs }) => epochs.flatMap((epoch) => epoch.results));
  return {
    report,
    records,
    results,
    told: results.map(({ score, passed, error, attempts }) => ({
      score,
      passed,
      fault: error?.code,
      attempts,
    })),
    /** The process ids of graders that hung. */
    hung: () => readFileSync(join(folder, 'hung'), 'utf8').split('\n').filter(Boolean).map(Number),
    graded,
  };
}

/** The second case hangs and records its process id. */
const hangs = `grep -q '"case":"c2"' || { echo '{"score": 1}'; exit 0; }
echo $$ >> hung
exec sleep 600
`;

const cut = { score: null, passed: false, fault: 'STEP_TIMEOUT' };
const good = { score: 1, passed: true, fault: undefined };

describe('the time of a case', () => {
  const evals = (items: string) => `dataset: {path: rows.jsonl}
timeout_ms: 2000
case: {id: "\${case.id}", content: x}
evals:
${items}`;
  const grade = '{type: grade, params: {case: "${case.id}"}}';

  test('ends the process of an eval that takes too long, which is unscored, and the run continues', async () => {
    const { told, results, report, hung } = await judge([1, 1, 1], {
      spec: evals(`  - {id: e, ${grade.slice(1)}\n`),
      grade: hangs,
    });
    expect(told).toEqual([
      { ...good, attempts: 1 },
      { ...cut, attempts: 1 },
      { ...good, attempts: 1 },
    ]);
    expect(results[1]?.detail).toBe('the case took longer than 2000 ms');
    expect(report).toMatchObject({ status: 'error', cases: 3 });
    expect(hung()).toHaveLength(1);
    await until(() => !hung().some(isRunning), 'end of what hung');
  });

  test('keeps the finished parts of a combination', async () => {
    const fine = '{type: max_length, params: {max_characters: 5}}';
    const { told } = await judge([1, 1], {
      spec: evals(`  - {id: any, any_of: [${grade}, ${fine}]}
  - {id: all, all_of: [${grade}, ${fine}]}
  - {id: none, all_of: [${grade}, {not: ${fine}}], threshold: {max_score: 0}}
`),
      grade: hangs,
    });
    expect(told.slice(3)).toEqual([
      { ...good, attempts: 1 },
      { ...cut, attempts: 1 },
      { score: 0, passed: true, fault: undefined, attempts: 1 },
    ]);
  });

  test('ends a subject that takes too long; its evals do not run', async () => {
    const { told, records, hung, graded } = await judge([1, 1, 1], {
      spec: evals('  - {id: e, type: grade, params: {case: "${case.id}", score: "${case.score}"}}\n').replace(
        'evals:',
        'subject: {tool: hangs, args: {case: "${case.id}"}}\nevals:',
      ),
      runtime: `evals: {grade: {command: sh, args: [grade.sh]}}
tools: {hangs: {exec: {command: sh, args: [hangs.sh], grace_ms: 100}}}`,
      files: { 'hangs.sh': hangs.replace('"score": 1', '"result": "fine"') },
    });
    expect(told).toEqual([
      { ...good, attempts: 1 },
      { ...cut, attempts: 0 },
      { ...good, attempts: 1 },
    ]);
    expect(records.map(({ epochs: [epoch] }) => epoch?.subject?.error?.code)).toEqual([
      undefined,
      'STEP_TIMEOUT',
      undefined,
    ]);
    expect(hung()).toHaveLength(1);
    await until(() => !hung().some(isRunning), 'end of what hung');
    expect(graded().toSorted()).toEqual(['c1', 'c3']);
  });

  test('ends a guard that takes too long, which then is unscored', async () => {
    const guard = `guard: {hook: provider, request: {messages: [{role: user, content: "\${case.id}"}]}}, expected: false`;
    const { told } = await judge([1, 1, 1], {
      spec: evals(`  - {id: g, ${guard}}\n`),
      runtime: 'hooks: {slow: {hook: provider, command: sh, args: [slow.sh], grace_ms: 100}}',
      files: { 'slow.sh': `grep -q c2 && exec sleep 600\necho '{"allow": true}'\n` },
    });
    expect(told).toEqual([
      { ...good, attempts: 1 },
      { ...cut, attempts: 1 },
      { ...good, attempts: 1 },
    ]);
  });

  test('does not run while other cases have the slot', async () => {
    const { told } = await judge([1, 1], {
      spec: evals(`  - {id: e, ${grade.slice(1)}\n`).replace('evals:', 'repeat: {epochs: 6}\nevals:'),
      runtime: 'concurrency: 1\nevals: {grade: {command: sh, args: [grade.sh]}}',
      grade: `cat > seen; sleep 0.3; echo '{"score": 1}'\n`,
    });
    expect(told).toEqual(Array.from({ length: 12 }, () => ({ ...good, attempts: 1 })));
  });
});

describe('retries', () => {
  /** The first request about a case ends in `fault`, later ones in a score. */
  const once = (fault: string) => `case=$(sed 's/.*"case":"\\([^"]*\\)".*/\\1/')
echo "$case" >> graded
[ "$(grep -c "$case" graded)" -gt 1 ] || { ${fault}; }
echo '{"score": 0.25}'
`;
  const spec = `dataset: {path: rows.jsonl}
retries: 2
case: {id: "\${case.id}", content: x}
evals: [{id: e, type: grade, params: {case: "\${case.id}"}, threshold: {min_score: 0.2}}]
`;
  const scored = { score: 0.25, passed: true, fault: undefined };

  test.each([
    { title: 'ends with another code than 0', fault: 'exit 3', attempts: 2, ends: scored },
    { title: 'is killed', fault: 'kill -9 $$', attempts: 2, ends: scored },
    { title: 'hangs', fault: 'exec sleep 600', attempts: 2, ends: scored },
    {
      title: 'answers a low score',
      fault: `echo '{"score": 0.1}'; exit 0`,
      attempts: 1,
      ends: { score: 0.1, passed: false, fault: undefined },
    },
    {
      title: 'says that it cannot tell',
      fault: `echo '{"error": "no idea"}'; exit 0`,
      attempts: 1,
      ends: { score: null, passed: false, fault: 'EVAL_ERROR' },
    },
    {
      title: 'babbles',
      fault: 'echo well; exit 0',
      attempts: 1,
      ends: { score: null, passed: false, fault: 'REPLY_MALFORMED' },
    },
  ])('an eval that $title is run $attempts times', async ({ fault, attempts, ends }) => {
    const { told, graded } = await judge([1], {
      spec,
      runtime: 'evals: {grade: {command: sh, args: [grade.sh], timeout_ms: 1000, grace_ms: 100}}',
      grade: once(fault),
    });
    expect(told).toEqual([{ ...ends, attempts }]);
    expect(graded()).toHaveLength(attempts);
  });

  test('a server that dies is restarted, and a lasting fault is reported after the last attempt', async () => {
    const dies = `read -r line\necho dead >> graded\nexit 1\n`;
    const { told, graded } = await judge([1], {
      spec,
      runtime: 'evals: {grade: {command: sh, args: [grade.sh], runtime: server}}',
      grade: dies,
    });
    expect(told).toEqual([{ score: null, passed: false, fault: 'SERVER_EXIT', attempts: 3 }]);
    expect(graded()).toHaveLength(3);
  });
});
