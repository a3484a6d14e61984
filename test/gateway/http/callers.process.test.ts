import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../../store/postgres/server.ts';
import { manage, testEnv } from '../keys/open.ts';
import { serveCallers } from './callers-server.ts';

describe.runIf(hasPostgres)(`callers with keys in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('a key that is revoked or replaced is refused from the next request on, by every server', async () => {
    testEnv['CALLERS_URL'] = await server.newUrl();
    const store = { type: 'postgres', urlEnv: 'CALLERS_URL', folder: '/nowhere' } as const;
    const keys = await manage(store);
    const first = await keys.create({ name: 'agent', role: 'approver', tools: ['read_*'] });
    const servers = [await serveCallers({ store }), await serveCallers({ store })];
    const ask = async (key: string) =>
      await Promise.all(servers.map(async ({ bearer }) => await bearer(key)));
    const statuses = async (key: string) => (await ask(key)).map(({ status }) => status);
    for (const { body } of await ask(first.key)) {
      const scopes = ['pendings:read', 'pendings:decide', 'runs:read', 'evals:rate', 'tools:call'];
      expect(JSON.parse(body)).toEqual({ id: first.id, name: 'agent', scopes, calls: ['read_file'] });
    }
    const second = await keys.rotate('agent', 0);
    expect([...(await statuses(first.key)), ...(await statuses(second.key))]).toEqual([401, 401, 200, 200]);
    await keys.revoke('agent');
    expect(await statuses(second.key)).toEqual([401, 401]);
  });

  test('without the database, callers get 503, and none passes', async () => {
    testEnv['CALLERS_URL'] = await server.newUrl();
    const store = { type: 'postgres', urlEnv: 'CALLERS_URL', folder: '/nowhere' } as const;
    const { key } = await (await manage(store)).create({ name: 'agent', tools: ['*'] });
    const { bearer, notes } = await serveCallers({ store });
    expect((await bearer(key)).status).toBe(200);
    await server.stop('immediate');
    const answered = await bearer(key);
    await server.start();
    expect([answered.status, answered.headers['retry-after']]).toEqual([503, '5']);
    expect(JSON.stringify([answered, notes])).not.toContain(key.slice(4));
  });
});
