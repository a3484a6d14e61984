import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest begins first, lest it be alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      /\/durability\/|\.slow\.|\/interrupt\.|\/examples\.|\/page\./.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

// The name of a file says its tier; docs/internals/development.md says what belongs into which.
const isProcess = 'test/**/*.process.test.ts';
const isSlow = 'test/**/*.slow.test.ts';

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        // Tests that leave nothing behind in their process: many files share one, and what they import.
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [isProcess, isSlow],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'process', include: [isProcess] } },
      // A limit finds a test that hangs, and never judges how fast a busy machine is.
      {
        extends: true,
        test: { name: 'slow', include: [isSlow], testTimeout: 600_000, hookTimeout: 120_000 },
      },
    ],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/generate.ts', 'test/interpreters.ts'],
    setupFiles: ['test/setup.ts'],
    // Tests wait for processes more than they compute.
    maxWorkers: 4,
    // A program starts in half a second; on a machine with much else to do, it may take many.
    testTimeout: 60_000,
    hookTimeout: 20_000,
    // A title carries the ids of the requirements it shows; it must not be cut.
    taskTitleValueFormatTruncate: 0,
    // A test without an assertion cannot fail.
    // What has to become true may take its time on a machine with much else to do.
    expect: { requireAssertions: true, poll: { timeout: 20_000 } },
  },
});
