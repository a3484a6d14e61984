import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest begins first, lest it be alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      /\/durability\/|\/examples\.|\/hostile\./.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const all = 'test/**/*.test.ts';
/** Tests that leave nothing behind in their process: many files share one. */
const clean = [
  'test/{binding,capability,checks,config,dialects,protocol,provider}/**/*.test.ts',
  // But not those that measure the memory of their process.
  'test/suite/{compare,dataset,schema,select,stats,transcript}/**/!(memory).test.ts',
];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'apart', include: [all], exclude: clean } },
      { extends: true, test: { name: 'together', include: clean, isolate: false } },
    ],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/generate.ts'],
    setupFiles: ['test/setup.ts'],
    // Tests wait for processes more than they compute.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // A title carries the ids of the requirements it shows; it must not be cut.
    taskTitleValueFormatTruncate: 0,
    // A test without an assertion cannot fail.
    expect: { requireAssertions: true },
  },
});
