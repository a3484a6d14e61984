import { closedStoreError } from '../store-rules.ts';
import { toStoreError } from './store-error.ts';

/** Runs work of a store. Both throw STORE_FAILED once the store is closed, and in place of what SQLite or the system say. */
export interface WorkGuard {
  now<Result>(work: () => Result): Result;
  later<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** A guard for the store at `location`, as error messages name it. */
export function guardWork(location: string, isClosed: () => boolean): WorkGuard {
  const requireOpen = () => {
    if (isClosed()) throw closedStoreError(location);
  };
  return {
    now: (work) => {
      requireOpen();
      try {
        return work();
      } catch (error) {
        throw toStoreError(error, location);
      }
    },
    later: async (work) => {
      requireOpen();
      try {
        return await work();
      } catch (error) {
        throw toStoreError(error, location);
      }
    },
  };
}
