import { expect, test } from 'vitest';
import { createSecretHider } from '../../../src/base/text/hide-secrets.ts';
import type { RuntimeConfig } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { secretsOf } from '../../../src/runtime/stages/load.ts';
import { readAddress } from '../../../src/store/postgres/connection/address.ts';
import { workspace } from '../../cli/command-line.ts';

const read = (url: string) => readAddress('DB', { DB: url, PGHOST: 'elsewhere', PGPASSWORD: 'another' });

test('every part of an address is read, and nothing else of the environment', () => {
  expect(read('postgresql://me:p%40ss@db.internal:6432/runs%20here?sslmode=verify-full')).toEqual({
    ...{ host: 'db.internal', port: 6432, user: 'me', password: 'p@ss', database: 'runs here' },
    tls: { checks: 'all', ca: undefined, cert: undefined, key: undefined },
    ...{ location: 'postgres://db.internal:6432/runs here', variable: 'DB' },
  });
  expect(read('postgres:///runs?host=/run/postgresql&user=me')).toMatchObject({
    ...{ host: '/run/postgresql', port: 5432, user: 'me', password: '', database: 'runs', tls: null },
  });
  expect(read('postgres://me@[::1]/runs')).toMatchObject({ host: '::1', location: 'postgres://[::1]/runs' });
});

test.each([
  ['localhost', null],
  ['127.0.0.1', null],
  ['[::1]', null],
  ['db.internal', 'all'],
  ['10.0.0.7', 'all'],
  ['localhost.example.org', 'all'],
])('by default a connection to %s is encrypted unless it stays on this machine', (host, checks) => {
  expect(read(`postgres://me@${host}/runs`).tls?.checks ?? null).toBe(checks);
  expect(read(`postgres://me@${host}/runs?sslmode=disable`).tls).toBeNull();
});

test.each([
  ['sslmode=prefer', /an sslmode other than/],
  ['sslmode=verify-ca&sslrootcert=/no/such/file', /\/no\/such\/file/],
  ['options=-c', /parameter "options"/],
])('%s is refused', (parameters, why) => {
  expect(() => read(`postgres://me:hidden-part@h/d?${parameters}`)).toThrow(why);
});

test.each(['postgres://me:p%40ss-word@h/d', 'postgres://h/d?user=me&password=p%40ss-word'])(
  'the address %s and its password are hidden wherever Signalbox hides secrets',
  (address) => {
    const folder = workspace('state_store: {type: postgres, url_env: DB}');
    const config: RuntimeConfig | undefined = loadConfig(`${folder}/runtime.yaml`, '').config;
    const hider = createSecretHider(config ? secretsOf(config, { DB: address }) : []);
    expect(hider.text(`${address} p%40ss-word p@ss-word`)).toBe('[redacted] [redacted] [redacted]');
  },
);
