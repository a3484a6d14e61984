import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StateStoreConfig } from '../../../src/config/config.ts';
import { migratePostgres } from '../../../src/store/postgres/layout/migrations.ts';
import {
  addressOf,
  hasPostgres,
  programOf,
  startServer,
  type TestServer,
  unlessMissing,
} from '../../store/postgres/server.ts';
import { admit, enter, manage, newStore, refusalOf, testEnv } from './open.ts';

const records = join(import.meta.dirname, '../../fixtures/records');
/** The texts of the keys by name; `replaced` is the former text of `rotated`. */
const keys = JSON.parse(readFileSync(join(records, 'keys.json'), 'utf8'));

async function expectSameRights(store: StateStoreConfig, texts: Readonly<Record<string, string>>) {
  const manager = await manage(store);
  const listed = await manager.list();
  expect(listed.map(({ name, status, models, hooks }) => ({ name, status, models, hooks }))).toEqual([
    { name: 'free', status: 'active', models: null, hooks: null },
    { name: 'limited', status: 'active', models: ['small'], hooks: 'strict' },
    { name: 'revoked', status: 'revoked', models: null, hooks: null },
    { name: 'rotated', status: 'active', models: null, hooks: null },
  ]);
  for (const { role, tools, scopes } of listed)
    expect({ role, tools, scopes }).toEqual({ role: null, tools: null, scopes: [] });
  expect((await manager.show('limited')).usage.at(-1)).toMatchObject({
    calls: 1,
    input_tokens: 3,
    cost: 0.005,
  });
  const admission = await admit(store, { hookSets: new Map([['strict', []]]) });
  for (const name of ['free', 'limited', 'rotated'])
    expect(await admission.authenticate(texts[name])).toMatchObject({ name });
  expect((await refusalOf(admission.authenticate(texts['revoked']))).status).toBe(401);
  expect((await refusalOf(admission.authenticate(texts['replaced']))).code).toBe('api_key_expired');
  expect((await refusalOf(enter(admission, texts['limited'] ?? '', { model: 'large' }))).status).toBe(403);
  await manager.create({ name: 'agent', role: 'viewer', tools: ['read_*'] });
  expect(await manager.show('agent')).toMatchObject({ models: [], role: 'viewer', tools: ['read_*'] });
}

test('a file of keys of the version before roles is upgraded when it opens, and its keys have no role', async () => {
  const store = newStore();
  const file = join(dirname(store.file), 'keys.db');
  mkdirSync(dirname(file));
  const database = new DatabaseSync(file);
  database.exec(readFileSync(join(records, 'keys.sql'), 'utf8'));
  database.close();
  await expectSameRights(store, keys.sqlite);
});

describe.runIf(hasPostgres)(`keys in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('tables of the version before roles are migrated, and their keys have no role', async () => {
    const url = await server.newUrl();
    const dump = gunzipSync(readFileSync(join(records, 'keys-postgres.sql.gz')));
    execFileSync(programOf('psql'), ['-q', '-v', 'ON_ERROR_STOP=1', url], {
      input: dump,
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    testEnv['EARLIER_URL'] = url;
    const store = { type: 'postgres', urlEnv: 'EARLIER_URL', folder: '/nowhere' } as const;
    await expect(manage(store)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      hint: expect.stringContaining('signalbox store migrate'),
    });
    expect(await migratePostgres(addressOf(url))).toMatchObject({ from: 1 });
    await expectSameRights(store, keys.postgres);
  });
});
