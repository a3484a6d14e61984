import { RuntimeError } from '../../base/errors.ts';

/** The queue in Postgres, which is loaded when it is used. Throws STORE_FAILED where it is not installed. */
export async function loadPgBoss(): Promise<typeof import('pg-boss')> {
  try {
    return await import('pg-boss');
  } catch (cause) {
    throw new RuntimeError(
      'STORE_FAILED',
      'the package "pg-boss", by which workers of a Postgres store are told of runs, cannot be loaded',
      { hint: 'Install it: npm install pg-boss.', cause },
    );
  }
}
