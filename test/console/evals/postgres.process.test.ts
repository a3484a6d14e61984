import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../../store/postgres/server.ts';
import { openFolder, openView } from './support.ts';

describe.runIf(hasPostgres)(`runs in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('are listed by pages, shown and rated like those of a file [DS-VIEW-05] [DS-VIEW-06]', async () => {
    const url = await server.newUrl('tcp');
    const store = 'state_store: {type: postgres, url_env: VIEW_URL}\n';
    const { runtime, ids } = await openFolder(store, { VIEW_URL: url });
    const { get, rate } = await openView([runtime]);
    const idsOf = async (query = '') =>
      JSON.parse((await get(`/evals/runs${query}`)).text).runs.map(({ id }: { id: string }) => id);
    expect(await idsOf()).toEqual([ids[1], ids[0]]);
    expect(await idsOf(`?after=${ids[1]}`)).toEqual([ids[0]]);
    expect((await rate(ids[0], { case: 'one', score: 1 })).status).toBe(200);
    expect((await get(`/evals/runs/${ids[0]}/report`)).text).toMatch(/^rating \{"case":"one"/m);
    expect((await get(`/evals/compare?a=${ids[0]}&b=${ids[1]}`)).status).toBe(200);
  });
});
