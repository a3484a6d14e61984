import { afterAll, beforeAll, describe } from 'vitest';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../../store/postgres/server.ts';
import { keepInPostgres } from '../memo/place.ts';
import { seenMessagesContract } from '../memo/seen-messages-contract.ts';
import { judgeResultsContract } from './judge-results-contract.ts';
import { pendingCallsContract } from './pending-calls-contract.ts';

describe.runIf(hasPostgres)(`gateways share their memory in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  keepInPostgres(() => server);
  seenMessagesContract();
  judgeResultsContract();
  pendingCallsContract();
});
