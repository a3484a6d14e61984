import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import { formatProblem, loadPlan, loadResults, problemsOf } from '../../runtime.ts';
import { type DescribeSuiteOptions, readTimeout } from './options.ts';
import { type SuiteRun, startRun } from './run.ts';
import { type SuiteTest, toTests } from './tests.ts';

export type { DescribeSuiteOptions } from './options.ts';

/**
 * Makes the cases and gates of an EvalSuite tests of vitest; to be awaited where tests are declared. Relative paths
 * start from the current folder. Throws CONFIG_INVALID with the problems of the files in its message, FILE_UNREADABLE,
 * DATASET_INVALID for a dataset without cases, and USAGE.
 */
export async function describeSuite(file: string | URL, options: DescribeSuiteOptions = {}): Promise<void> {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const timeoutMs = readTimeout(options);
  const plan = await readPlan(path, options);
  const wording = await loadResults();
  const tests = toTests(plan, wording);
  describe(plan.suite, () => {
    let run: SuiteRun | undefined;
    // Their own time is the run's, so vitest's is none.
    const unlimited = { timeout: 0, retry: 0 };
    beforeAll(async (suite) => {
      // What `-t` and `.only` leave out is not run.
      const wanted = tests.filter((_, index) => isWanted(suite.tasks[index]?.mode));
      if (wanted.every(({ needs }) => needs === 'nothing')) return;
      const isPartial = wanted.every(({ needs }) => needs !== 'all');
      const awaited = wanted.flatMap(({ needs }) => (typeof needs === 'object' ? [needs] : []));
      run = await startRun({ file: path, config: plan.config, options, timeoutMs, awaited, isPartial });
    }, 0);
    afterAll(async () => await run?.close(), 0);
    for (const each of tests) {
      test(each.title, unlimited, async (context) => await perform(each, run, context));
    }
  });
}

/** The number of cases up to which each is a test of its own. */
const mostCases = 1000;

async function readPlan(file: string, { select, config, dataset }: DescribeSuiteOptions) {
  const { planSuite } = await loadPlan();
  try {
    const plan = await planSuite(file, { select, config, dataset, most: mostCases });
    if (plan.rows.length > 0) return plan;
  } catch (thrown) {
    throw listProblems(toRuntimeError(thrown));
  }
  throw new RuntimeError('DATASET_INVALID', `${file}: the dataset has no rows, or none was selected`);
}

/** Vitest shows the message of an error, so that what the error is about has to stand there. */
function listProblems(error: RuntimeError): RuntimeError {
  const problems = problemsOf(error).map(formatProblem);
  if (problems.length === 0) return error;
  return new RuntimeError(error.code, [error.message, ...problems].join('\n'), {
    details: error.details,
    hint: error.hint,
    cause: error.cause,
  });
}

function isWanted(mode: string | undefined): boolean {
  return mode !== 'skip' && mode !== 'todo';
}

async function perform(each: SuiteTest, run: SuiteRun | undefined, context: TestContext): Promise<void> {
  const found = await each.judge(run).catch((thrown: unknown) => {
    throw listProblems(toRuntimeError(thrown));
  });
  if (found?.isOutweighed) context.skip(found.error.message);
  if (found !== undefined) throw found.error;
  // A project may require that every test makes an assertion.
  expect(found).toBeUndefined();
}
