import { RuntimeError } from '../../../base/errors.ts';

/** The client library, which is loaded when a Postgres store is used. Throws STORE_FAILED where it is not installed. */
export async function loadPg(): Promise<typeof import('pg')> {
  try {
    return await import('pg');
  } catch (cause) {
    throw new RuntimeError(
      'STORE_FAILED',
      'the package "pg", which a Postgres store needs, cannot be loaded',
      {
        hint: 'Install it: npm install pg.',
        cause,
      },
    );
  }
}
