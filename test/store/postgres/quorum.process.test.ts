import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres-store.ts';
import { newCall, newRun } from '../examples.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './server.ts';

describe.runIf(hasPostgres)(`a quorum in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('when two people approve at once on two machines the later approval counts both [DS-QUORUM-01]', async () => {
    const url = await server.emptyUrl('quorum');
    const stores = [await openPostgresStore(addressOf(url)), await openPostgresStore(addressOf(url))];
    onTestFinished(async () => {
      for (const store of stores) await store.close();
    });
    const [first] = stores;
    await first?.createRun(newRun('r1'));
    for (let round = 0; round < 30; round += 1) {
      const id = `p${round}`;
      await first?.addPending(newCall(id, 'r1', { quorum: 2 }));
      await Promise.all(
        stores.map((store, index) =>
          store.decide(id, { kind: 'approved', args: null, by: `person ${index}`, reason: '' }, 3_000),
        ),
      );
    }
    const kept = (await first?.listPendings({ runId: 'r1' }, 3_001)) ?? [];
    expect(kept.map(({ ruling, consents }) => `${ruling?.kind} ${consents?.length}`)).toEqual(
      Array(30).fill('approved 2'),
    );
  });
});
