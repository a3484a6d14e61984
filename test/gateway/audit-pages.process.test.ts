import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { StateStoreConfig } from '../../src/config/config.ts';
import type { AuditedCall } from '../../src/contract/decision.ts';
import { openAuditApi } from '../../src/runtime/gateway/audit.ts';
import type { AuditPageFilter } from '../../src/runtime/runtime.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../store/postgres/server.ts';
import { makeAuditFolder, openAudit, recordOf } from './audit-log.ts';

type Api = ReturnType<typeof openAuditApi>;

async function walk(api: Api, filter: AuditPageFilter, between: () => Promise<void> = async () => {}) {
  const found: AuditedCall[] = [];
  for (let after: string | undefined, isLast = false; !isLast; ) {
    const page = await api.page({ ...filter, after });
    found.push(...page.calls);
    isLast = page.next === undefined;
    after = page.next;
    await between();
  }
  return found;
}

const open = async (place: string) => {
  const log = await openAudit(place);
  onTestFinished(() => log.close());
  return log;
};

describe('the audit of a file, read in pages', () => {
  const start = () => {
    const folder = makeAuditFolder();
    const store: StateStoreConfig = { type: 'sqlite', file: join(folder, 'state.db') };
    return { folder, api: openAuditApi(store, {}) };
  };

  test('there is nothing without an audit, or in memory', async () => {
    expect(await start().api.page()).toEqual({ calls: [] });
    expect(await openAuditApi({ type: 'memory' }, {}).page()).toEqual({ calls: [] });
  });

  test('pages are in the order of rows, whatever the clocks said, and rows that are added move none', async () => {
    const { folder, api } = start();
    const log = await open(folder);
    const times = Array.from({ length: 50 }, (_, at) => (at * 7_919) % 50);
    for (const [at, time] of times.entries()) await log.write(recordOf({ id: `call_${at}`, at: time }));
    const ids = times.map((_, at) => `call_${at}`).toReversed();
    for (const limit of [1, 7, 1_000]) {
      const found = await walk(api, { limit }, () => log.write(recordOf({ id: 'new' })));
      expect(found.map(({ id }) => id).filter((id) => id.startsWith('call_'))).toEqual(ids);
      expect(new Set(found.map(({ seq }) => seq)).size).toBe(found.length);
    }
    expect((await api.page({ key: 'support desk', limit: 1 })).calls[0]).toMatchObject({
      caller: 'support desk',
    });
  });

  test('a rare outcome is found among thousands of rows, and a call is shown as it was recorded', async () => {
    const { folder, api } = start();
    const log = await open(folder);
    const rare = new Set([3, 2_500, 4_999]);
    const records = Array.from({ length: 5_000 }, (_, at) =>
      recordOf({ id: `call_${at}`, at: at + 1, outcome: rare.has(at) ? 'denied' : 'allowed' }),
    );
    await Promise.all(records.map((record) => log.write(record)));
    const found = await walk(api, { outcome: 'denied', limit: 1 });
    expect(found.map(({ id }) => id)).toEqual(['call_4999', 'call_2500', 'call_3']);
    expect(await walk(api, { since: new Date(4_999) })).toHaveLength(2);
    expect(await walk(api, { model: 'other' })).toEqual([]);
    expect(found[0]).toMatchObject({
      ...{ kind: 'call', at: '1970-01-01T00:00:05.000Z', seq: 5_001, key_id: 'key_1', stream: false },
      ...{ usage: { input: 12, output: 34, cached_input: 5 }, cost: 0.0125, content: null },
    });
  });

  test('bad options are refused', async () => {
    const { api } = start();
    const other = Buffer.from('[1,2,3]').toString('base64url');
    for (const after of ['', 'x', other])
      await expect(api.page({ after })).rejects.toMatchObject({ code: 'USAGE', details: { path: 'after' } });
    await expect(api.page({ limit: 0 })).rejects.toMatchObject({ code: 'USAGE' });
  });
});

describe.runIf(hasPostgres)(`the audit that replicas share, read in pages${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('pages go through all chains by time, and show each call once', async () => {
    const url = await server.newUrl();
    const api = openAuditApi({ type: 'postgres', urlEnv: 'URL', folder: '/nowhere' }, { URL: url });
    expect(await api.page()).toEqual({ calls: [] });
    const logs = [await open(url), await open(url), await open(url)];
    // Ten calls of each time, in several chains.
    const ids = Array.from({ length: 90 }, (_, at) => `call_${at}`);
    await Promise.all(
      ids.map((id, at) => logs[at % 3]?.write(recordOf({ id, at: 1_000 + Math.floor(at / 10) }))),
    );
    const all = (await api.page({ limit: 1_000 })).calls;
    expect(all.map(({ at }) => at)).toEqual(
      all
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    expect(all.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const limit of [1, 4, 33]) {
      const found = await walk(api, { limit });
      expect(found).toEqual(all);
    }
    expect(await walk(api, { since: new Date(1_008), limit: 3 })).toHaveLength(10);
  });
});
