import type { PlannedRow, SuitePlan } from '../../runtime/open-runtime.ts';
import { explainCase, explainCases, explainGate, explainProblems, toShort, type Wording } from './failure.ts';
import type { SuiteRun } from './run.ts';

/** One test of a suite. */
export interface SuiteTest {
  readonly title: string;
  /** What of the run it waits for: one row, everything, or nothing. */
  readonly needs: PlannedRow | 'all' | 'nothing';
  /** Gives what is wrong. Starts the run when it needs it; throws what ended that early. */
  judge(start: () => Promise<SuiteRun>): Promise<Finding | undefined>;
}

/** What a test found: a fault, or, of a suite that its gates decide, something that those may outweigh. */
export interface Finding {
  readonly error: Error;
  readonly isOutweighed: boolean;
}

/** The tests of a suite: one for each row, or for all of them where they are too many, then one for each gate. */
export function toTests(plan: SuitePlan, wording: Wording): readonly SuiteTest[] {
  // As on the command line: where there are gates, they alone decide whether the cases are good enough.
  const isGated = plan.gates.length > 0;
  const rows = plan.hasMore ? wholeTests(isGated, wording) : rowTests(plan.rows, isGated, wording);
  return [...rows, ...gateTests(plan, wording)];
}

function rowTests(rows: readonly PlannedRow[], isGated: boolean, wording: Wording): SuiteTest[] {
  return rows.map((row) => {
    const { content } = row;
    if ('problem' in content) {
      const title = `${toShort(row.file)}:${row.line}`;
      return { title, needs: 'nothing', judge: async () => fault(explainProblems([content.problem])) };
    }
    return {
      title: wording.oneLine(content.id),
      needs: row,
      judge: async (start) => {
        const run = await start();
        const outcome = await run.outcomeOf(row.number);
        if ('problems' in outcome) return fault(explainProblems(outcome.problems));
        return fault(explainCase(outcome.record, outcome.header, wording), isGated);
      },
    };
  });
}

function wholeTests(isGated: boolean, wording: Wording): SuiteTest[] {
  return [
    {
      title: 'all cases',
      needs: 'all',
      judge: async (start) => {
        const run = await start();
        const report = await run.report();
        return fault(explainCases(report, wording), isGated);
      },
    },
    {
      title: 'all rows can be used',
      needs: 'all',
      judge: async (start) => {
        const run = await start();
        const report = await run.report();
        return fault(explainProblems(report.problems, report.problem_count));
      },
    },
  ];
}

function gateTests({ gates }: SuitePlan, wording: Wording): SuiteTest[] {
  return gates.map((gate, index) => {
    const { min = null, max = null } = gate;
    return {
      title: `gate ${wording.nameGate(gate)} ${wording.describeBounds({ min, max })}`,
      needs: 'all',
      judge: async (start) => {
        const run = await start();
        const { gates: judged } = await run.report();
        const result = judged[index];
        return result && fault(explainGate(result, wording));
      },
    };
  });
}

function fault(error: Error | undefined, isOutweighed = false): Finding | undefined {
  return error && { error, isOutweighed };
}
