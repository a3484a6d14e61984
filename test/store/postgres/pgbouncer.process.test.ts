import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { openPostgresStore } from '../../../src/store/postgres-store.ts';
import { faultOf, newCall, newRun } from '../examples.ts';
import { hasPgbouncer, startPgbouncer, unlessNoPgbouncer } from './pgbouncer.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './server.ts';

const isThere = hasPostgres && hasPgbouncer;

describe.runIf(isThere)(`a store behind PgBouncer${unlessMissing}${unlessNoPgbouncer}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const urlBehind = async (mode: Parameters<typeof startPgbouncer>[1]) => {
    const port = await startPgbouncer(server, mode);
    return (await server.newUrl('tcp')).replace(`:${server.port}/`, `:${port}/`);
  };

  test.each(['transaction', 'statement'] as const)(
    'a pool in %s mode is refused [DS-POSTGRES-09]',
    async (mode) => {
      const { code, message } = await faultOf(openPostgresStore(addressOf(await urlBehind(mode))));
      expect(code).toBe('STORE_FAILED');
      expect(message).toContain('uses a pooler in transaction or statement mode');
    },
  );

  test('a pool in session mode keeps claims apart, reports decisions, and frees the runs of dead clients [DS-POSTGRES-12]', async () => {
    const url = await urlBehind('session');
    const [one, other] = [
      await openPostgresStore(addressOf(url)),
      await openPostgresStore(addressOf(url)),
    ] as const;
    onTestFinished(async () => {
      await one.close();
      await other.close();
    });
    await one.createRun(newRun('r1'));
    expect(await one.claimRun('r1')).toBeDefined();
    expect(await other.claimRun('r1')).toBeUndefined();
    await one.beginStep('r1', 'a', 1);
    await one.endStep('r1', 'a', new Json('1'), 2);
    await one.addPending(newCall('p1', 'r1'));
    const told = Promise.withResolvers<void>();
    const watch = one.watch(told.resolve);
    await expect.poll(() => watch.isLive()).toBe(true);
    await other.decide('p1', { kind: 'rejected', by: 'ann', reason: '' }, 2_500);
    await told.promise;
    watch.close();
    await one.close();
    await expect.poll(async () => (await other.claimRun('r1')) !== undefined).toBe(true);
  });
});
