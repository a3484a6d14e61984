import { expect, test } from 'vitest';
import { doNow } from '../../src/store/driver.ts';
import { identityMethods } from '../../src/store/identities.ts';
import { memoryFile, openConnection } from '../../src/store/sqlite/connection.ts';
import { stateLayout } from '../../src/store/sqlite/schema.ts';
import { createAsk, createStatement } from '../../src/store/sqlite/statement.ts';

test('an index finds the identity of a call, however many calls are kept', async () => {
  const { database } = await openConnection({
    ...{ file: memoryFile, layout: stateLayout, commitWaitsFor: 'nothing', waitMs: 0 },
  });
  const asked: string[] = [];
  const ask = createAsk((sql) => {
    asked.push(sql);
    return createStatement(database.prepare(sql));
  });
  const answer: Parameters<typeof identityMethods>[0]['read'] = async (work) => doNow(work(), ask);
  const methods = identityMethods({ location: '', isShared: false, read: answer, transact: answer });
  const call = { key: 'k', run: 'run_1', principal: 'p', args: 'a', at: Date.now() };
  expect(await methods.claimIdentity(call)).toEqual(call);
  expect(await methods.findIdentity({ run: 'run_1' })).toEqual(call);
  expect(await methods.endIdentity('k', 'run_1')).toBe(true);
  const scans = asked.flatMap((sql) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail))
      .filter((detail) => detail.startsWith('SCAN')),
  );
  expect([asked.length, scans]).toEqual([5, []]);
  database.close();
});
