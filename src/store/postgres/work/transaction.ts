import type { Transaction } from '../../shared-work.ts';
import type { Link } from '../connection/client.ts';
import { transact } from '../connection/session.ts';

/**
 * Runs the work in one transaction. Returns its result, and what to do after the commit. Rejects with the error of
 * Postgres.
 */
export async function inTransaction<Result>(
  link: Link,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<{ readonly result: Result; readonly finish: () => void }> {
  const later: (() => Promise<unknown>)[] = [];
  const transaction: Transaction = {
    query: (statement) => link.query(statement),
    afterCommit: (each) => void later.push(each),
  };
  const result = await transact(link, () => work(transaction));
  return {
    result,
    finish: () => {
      for (const each of later) each().catch(() => {});
    },
  };
}

/** If the work fails, undoes and reports it and returns undefined; the transaction continues. */
export async function orNothing<Result>(
  transaction: Transaction,
  work: () => Promise<Result>,
  report: (error: unknown) => void,
): Promise<Result | undefined> {
  await transaction.query({ text: 'SAVEPOINT signalbox_try' });
  try {
    const result = await work();
    await transaction.query({ text: 'RELEASE SAVEPOINT signalbox_try' });
    return result;
  } catch (error) {
    report(error);
    await transaction.query({ text: 'ROLLBACK TO SAVEPOINT signalbox_try' });
    return undefined;
  }
}
