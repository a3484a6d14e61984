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
    const { text } = await get('/');
    expect(text.indexOf(ids[1])).toBeLessThan(text.indexOf(ids[0]));
    const older = await get(`/?after=${ids[1]}`);
    expect([older.text.includes(`"/runs/${ids[0]}"`), older.text.includes(`"/runs/${ids[1]}"`)]).toEqual([
      true,
      false,
    ]);
    expect((await rate(ids[0], { case: 'one', by: 'ada', score: 1 })).status).toBe(200);
    expect((await get(`/runs/${ids[0]}`)).text).toMatch(/^rating \{"case":"one"/m);
    expect((await get(`/compare?a=${ids[0]}&b=${ids[1]}`)).status).toBe(200);
  });
});
