import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres-store.ts';
import { tryApprovals } from '../model/approval-orders.ts';
import { compareStores } from '../model/operations.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './server.ts';

describe.runIf(hasPostgres)(`in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());
  const runs = Number(process.env['MODEL_RUNS'] ?? 40);

  test('under any operations, a store answers like the hand-written one', async () => {
    const openAll = async () => [await openPostgresStore(addressOf(await server.emptyUrl('model')))];
    await expect(compareStores(openAll, runs)).resolves.toBeUndefined();
  });

  test('under any concurrent adds, decisions, reads, ends and reopens, a call has one decision, and all learn which', async () => {
    const address = addressOf(await server.newUrl('socket', 'caller'));
    const openAnother = async () => {
      const store = await openPostgresStore(address);
      onTestFinished(() => store.close());
      return store;
    };
    await expect(tryApprovals(openAnother, runs)).resolves.toBeUndefined();
  });
});
