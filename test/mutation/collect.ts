import type { RunnerTask, RunnerTestCase, RunnerTestSuite } from 'vitest';

export interface ReplayedTest {
  readonly id: string;
  readonly test: RunnerTestCase;
  readonly driver: RunnerTestCase;
  ms: number;
}

/** Every test of the file except the driver, by an id that is the same in each process. */
export function collectTests(file: RunnerTestSuite, driver: RunnerTestCase): Map<string, ReplayedTest> {
  const found = new Map<string, ReplayedTest>();
  for (const test of file.tasks.flatMap(leavesOf)) {
    if (test === driver || test.mode === 'todo' || test.mode === 'skip') continue;
    const title = titleOf(test);
    let id = title;
    for (let count = 2; found.has(id); count += 1) id = `${title} (${count})`;
    found.set(id, { id, test, driver, ms: 0 });
  }
  return found;
}

function leavesOf(task: RunnerTask): RunnerTestCase[] {
  return task.type === 'suite' ? task.tasks.flatMap(leavesOf) : [task];
}

function titleOf(task: RunnerTask): string {
  return task.suite === undefined ? task.name : `${titleOf(task.suite)} > ${task.name}`;
}
