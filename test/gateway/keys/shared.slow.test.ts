import { afterAll, beforeAll, describe } from 'vitest';
import type { StateStoreConfig } from '../../../src/config/config.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../../store/postgres/server.ts';
import { authenticateContract } from './authenticate-contract.ts';
import { keysModel } from './keys-model.ts';
import { limitsContract } from './limits-contract.ts';
import { testEnv } from './open.ts';

describe.runIf(hasPostgres)(`keys in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const newStore = async (): Promise<StateStoreConfig> => {
    testEnv['KEYS_URL'] = await server.emptyUrl('keys');
    return { type: 'postgres', urlEnv: 'KEYS_URL', folder: '/nowhere' };
  };

  authenticateContract(newStore);
  limitsContract(newStore);
  keysModel(newStore, 15);
});
