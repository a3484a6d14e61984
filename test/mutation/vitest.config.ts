import { defineConfig } from 'vitest/config';

/** For mutation workers, whose only file never ends. */
export default defineConfig({
  test: {
    include: ['test/mutation/driver.ts'],
    pool: 'forks',
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 20_000,
    // Mutants cause errors outside of tests.
    dangerouslyIgnoreUnhandledErrors: true,
  },
});
