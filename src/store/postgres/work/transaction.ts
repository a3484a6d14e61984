import type { Transaction } from '../../shared-work.ts';
import type { Link } from '../connection/client.ts';
import { transact } from '../connection/session.ts';

/** Does all of the work in one transaction of this connection; with its result, what is to be done afterwards. Rejects with what Postgres says. */
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

/** What the work came to; undefined, and nothing of it is kept, where it failed, which is reported, while the transaction goes on. */
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
    // Rejects when the connection is lost, and with it the transaction.
    await transaction.query({ text: 'ROLLBACK TO SAVEPOINT signalbox_try' });
    return undefined;
  }
}
