import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { formatProblem, loadPlan, loadResults, problemsOf } from '../../runtime/runtime.ts';
import { type DescribeSuiteOptions, type RunPlan, readTimeout, type SuiteRun, startRun } from './run.ts';
import { type SuiteTest, toTests } from './tests.ts';

export type { DescribeSuiteOptions } from './run.ts';

const OLDEST_VITEST = 3;
requireVitest(createRequire(import.meta.url)('vitest/package.json'));

/** Throws USAGE for a vitest that is older than the versions in the tests. */
function requireVitest({ version }: { readonly version: string }): void {
  if (Number.parseInt(version, 10) >= OLDEST_VITEST) return;
  throw new RuntimeError(
    'USAGE',
    `signalbox/vitest needs vitest ${OLDEST_VITEST} or newer; the installed version is ${version}`,
    {
      hint: 'npm install --save-dev vitest@latest',
    },
  );
}

/**
 * Turns the cases and gates of an EvalSuite into vitest tests. Await it where tests are declared. Relative paths start
 * from the current folder. Throws CONFIG_INVALID with the problems of the files in its message, FILE_UNREADABLE,
 * DATASET_INVALID for a dataset without cases, and USAGE.
 */
export async function describeSuite(file: string | URL, options: DescribeSuiteOptions = {}): Promise<void> {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const timeoutMs = readTimeout(options);
  const plan = await readPlan(path, options);
  const resultsModule = await loadResults();
  const tests = toTests(plan, resultsModule);
  describe(plan.suite, () => {
    let starting: Promise<SuiteRun> | undefined;
    const start = (rows: AwaitedRows) => {
      starting ??= startRun({ file: path, config: plan.config, options, timeoutMs, ...rows });
      return starting;
    };
    afterAll(async () => {
      const run = await starting?.catch(() => undefined);
      await run?.close();
    }, 0);
    for (const { title, judge } of tests) {
      // The run has its own timeout, so vitest's is disabled.
      test(title, { timeout: 0, retry: 0 }, async (context) => {
        const failure = await withProblemsInMessage(async () => {
          return await judge(() => start(awaitedRowsOf(tests, context.task.suite?.tasks ?? [])));
        });
        if (failure?.isOverruled) {
          context.skip(
            resultsModule.oneLine(
              `the gates decide; this case failed, but does not count: ${failure.error.message}`,
            ),
          );
        }
        if (failure !== undefined) throw failure.error;
        // A project may require an assertion in every test.
        expect(failure).toBeUndefined();
      });
    }
  });
}

type AwaitedRows = Pick<RunPlan, 'awaited' | 'isPartial'>;

/** The rows of the tests that `-t` and `.only` leave. Vitest's tasks are in the order of the tests. */
function awaitedRowsOf(
  tests: readonly SuiteTest[],
  tasks: readonly { readonly mode: string }[],
): AwaitedRows {
  const wanted = tests.filter((_, index) => tasks[index]?.mode !== 'skip').map(({ needs }) => needs);
  return {
    awaited: wanted.flatMap((needs) => (typeof needs === 'object' ? [needs] : [])),
    isPartial: wanted.every((needs) => needs !== 'all'),
  };
}

const maxCases = 1000;

async function readPlan(file: string, { select, config, overlays, dataset }: DescribeSuiteOptions) {
  const { planSuite } = await loadPlan();
  const plan = await withProblemsInMessage(
    async () => await planSuite(file, { select, config, overlays, dataset, maxRows: maxCases }),
  );
  if (plan.rows.length > 0) return plan;
  throw new RuntimeError('DATASET_INVALID', `${file}: the dataset has no rows, or none was selected`);
}

/** Adds the problems of an error to its message, the only part that vitest shows. */
async function withProblemsInMessage<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    const problems = problemsOf(error).map(formatProblem);
    if (problems.length === 0) throw error;
    // Without details and cause, which would repeat the problems.
    throw new RuntimeError(error.code, [error.message, ...problems].join('\n'), { hint: error.hint });
  }
}
