import type { RunnerTestCase, RunnerTestSuite } from 'vitest';
import { TestRunner } from 'vitest';
import type { ReplayedTest } from './collect.ts';

/**
 * Runs a test with its suites' hooks inside the driver's test. Returns the failure, or undefined if it passed. A test
 * over the limit fails and is abandoned.
 */
export async function replay(replayed: ReplayedTest, limitMs: number): Promise<string | undefined> {
  const { promise: tooLate, resolve: give } = Promise.withResolvers<string>();
  const timer = setTimeout(() => give(`is not done after ${Math.round(limitMs)} ms`), limitMs);
  try {
    return await Promise.race([runOnce(replayed), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

async function runOnce({ test, driver }: ReplayedTest): Promise<string | undefined> {
  const suites = suitesOf(test.suite);
  const cleanups: unknown[] = [];
  let failure: string | undefined;
  const attempt = async (work: () => unknown) => {
    try {
      return await work();
    } catch (error) {
      failure ??= error instanceof Error ? error.message : String(error);
      return undefined;
    }
  };
  for (const suite of suites)
    for (const hook of hooksOf(suite).beforeAll)
      cleanups.push(await attempt(() => Reflect.apply(hook, undefined, [suite])));
  for (const suite of suites)
    for (const hook of hooksOf(suite).beforeEach)
      cleanups.push(await attempt(() => Reflect.apply(hook, undefined, [test.context, suite])));
  if (failure === undefined) await attempt(() => TestRunner.getTestFn(test)());
  for (const each of [test, driver])
    for (const hook of finishersOf(each).splice(0).reverse()) await attempt(() => hook(test.context));
  const inward = suites.toReversed();
  for (const suite of inward)
    for (const hook of hooksOf(suite).afterEach)
      await attempt(() => Reflect.apply(hook, undefined, [test.context, suite]));
  for (const suite of inward)
    for (const hook of hooksOf(suite).afterAll) await attempt(() => Reflect.apply(hook, undefined, [suite]));
  for (const cleanup of cleanups) if (typeof cleanup === 'function') await attempt(() => cleanup());
  return failure;
}

function finishersOf(test: RunnerTestCase): ((context: unknown) => unknown)[] {
  return Reflect.get(test, 'onFinished') ?? [];
}

function suitesOf(suite: RunnerTestSuite | undefined): RunnerTestSuite[] {
  return suite === undefined ? [] : [...suitesOf(suite.suite), suite];
}

const hooksOf = (suite: RunnerTestSuite) => TestRunner.getSuiteHooks(suite);
