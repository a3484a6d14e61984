import type { SuitePlan } from '../../runtime/runtime.ts';
import {
  explainCase,
  explainCases,
  explainGate,
  explainProblems,
  type ResultsModule,
  toShort,
} from './failure.ts';
import type { AwaitedRow, SuiteRun } from './run.ts';

/** One test of a suite. */
export interface SuiteTest {
  readonly title: string;
  /** The part of the run that it waits for: one row, all of it, or nothing. */
  readonly needs: AwaitedRow | 'all' | 'nothing';
  /**
   * Resolves to the failure, if there is one. Calls `start` when it needs the run; throws what ended that
   * early.
   */
  judge(start: () => Promise<SuiteRun>): Promise<TestFailure | undefined>;
}

/**
 * Why a test fails; `isOverruled`: the suite has gates, which alone decide, so the test is skipped instead.
 */
interface TestFailure {
  readonly error: Error;
  readonly isOverruled: boolean;
}

/** The tests of a suite: one for each row, or for all of them where they are too many, then one for each gate. */
export function toTests(plan: SuitePlan, wording: ResultsModule): readonly SuiteTest[] {
  // As on the command line: where there are gates, they alone decide whether the cases are good enough.
  const isGated = plan.gates.length > 0;
  const rows = plan.hasMore ? wholeTests(isGated, wording) : rowTests(plan, isGated, wording);
  return [...rows, ...gateTests(plan, wording)];
}

function rowTests({ rows, variants }: SuitePlan, isGated: boolean, wording: ResultsModule): SuiteTest[] {
  return rows.flatMap((row) => {
    const { content } = row;
    if ('problem' in content) {
      const title = `${toShort(row.file)}:${row.line}`;
      const judge = async () => toFailure(explainProblems([content.problem]));
      return [{ title, needs: 'nothing' as const, judge }];
    }
    const awaited: readonly AwaitedRow[] = variants?.map((variant) => ({ ...row, variant })) ?? [row];
    return awaited.map(
      (each): SuiteTest => ({
        title: wording.oneLine(wording.nameCase({ id: content.id, variant: each.variant })),
        needs: each,
        judge: async (start) => {
          const run = await start();
          const outcome = await run.outcomeOf(each);
          if ('problems' in outcome) return toFailure(explainProblems(outcome.problems));
          return toFailure(explainCase(outcome.record, outcome.header, wording), isGated);
        },
      }),
    );
  });
}

function wholeTests(isGated: boolean, wording: ResultsModule): SuiteTest[] {
  return [
    {
      title: 'all cases',
      needs: 'all',
      judge: async (start) => {
        const run = await start();
        const report = await run.report();
        return toFailure(explainCases(report, wording), isGated);
      },
    },
    {
      title: 'all rows can be used',
      needs: 'all',
      judge: async (start) => {
        const run = await start();
        const report = await run.report();
        return toFailure(explainProblems(report.problems, report.problem_count));
      },
    },
  ];
}

function gateTests({ gates }: SuitePlan, wording: ResultsModule): SuiteTest[] {
  return gates.map((gate, index) => {
    const { min = null, max = null, betterThan } = gate;
    const wanted =
      betterThan === undefined ? wording.describeBounds({ min, max }) : `better than ${betterThan}`;
    return {
      title: wording.oneLine(`gate ${wording.nameGate(gate)} ${wanted}`),
      needs: 'all',
      judge: async (start) => {
        const run = await start();
        const { gates: judged } = await run.report();
        const result = judged[index];
        return result && toFailure(explainGate(result, wording));
      },
    };
  });
}

function toFailure(error: Error | undefined, isOverruled = false): TestFailure | undefined {
  return error && { error, isOverruled };
}
