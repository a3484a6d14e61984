import { afterAll, beforeAll, describe } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres-store.ts';
import { storeContract } from '../contract.ts';
import { belowContract } from '../contract-below.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './server.ts';

describe.runIf(hasPostgres)(`in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  belowContract('postgres', async () => openPostgresStore(addressOf(await server.emptyUrl('contract'))));
  storeContract('postgres', async () => openPostgresStore(addressOf(await server.emptyUrl('contract'))));
});
