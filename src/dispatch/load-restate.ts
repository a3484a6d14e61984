import { RuntimeError } from '../errors.ts';

/** The client of Restate, which is loaded when it is used. Throws STORE_FAILED where it is not installed. */
export async function loadRestate(): Promise<typeof import('@restatedev/restate-sdk')> {
  try {
    return await import('@restatedev/restate-sdk');
  } catch (cause) {
    throw new RuntimeError(
      'STORE_FAILED',
      'the package "@restatedev/restate-sdk", by which a Restate server calls workers, cannot be loaded',
      { hint: 'Install it: npm install @restatedev/restate-sdk.', cause },
    );
  }
}
