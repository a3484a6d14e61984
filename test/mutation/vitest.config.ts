import { defineConfig } from 'vitest/config';

/** For the workers of the mutation tests, which run one file that never ends. */
export default defineConfig({
  test: {
    include: ['test/mutation/driver.ts'],
    pool: 'forks',
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 20_000,
    // Errors outside of a test are no news: mutants make them.
    dangerouslyIgnoreUnhandledErrors: true,
  },
});
