import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
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
