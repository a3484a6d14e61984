import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres-store.ts';
import { faultOf } from '../examples.ts';
import { addressOf, hasPostgres, NOBODY, startServer, type TestServer, unlessMissing } from './server.ts';

const hasOpenssl = existsSync('/usr/bin/openssl');
const unlessNoOpenssl = hasOpenssl ? '' : ' (skipped: there is no /usr/bin/openssl)';

describe.runIf(hasPostgres && hasOpenssl)(
  `a Postgres store over TLS${unlessMissing}${unlessNoOpenssl}`,
  () => {
    let server: TestServer;
    let folder: string;
    const authority = () => `sslrootcert=${encodeURIComponent(join(folder, 'ca.pem'))}`;
    beforeAll(async () => {
      folder = mkdtempSync('/tmp/signalbox-tls-');
      makeCertificates(folder);
      server = await startServer({
        settings: {
          ssl: 'on',
          ssl_cert_file: join(folder, 'server.pem'),
          ssl_key_file: join(folder, 'server.key'),
          ssl_ca_file: join(folder, 'ca.pem'),
        },
      });
    });
    afterAll(async () => {
      await server?.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    const urlAt = async (host: string, parameters: string) =>
      `${(await server.newUrl('tcp')).replace('@127.0.0.1:', `@${host}:`)}?${parameters}`;

    test.each([
      ['localhost', 'sslmode=require', 't'],
      ['localhost', 'sslmode=verify-full', 't'],
      ['127.0.0.1', 'sslmode=verify-ca', 't'],
      ['127.0.0.1', 'sslmode=no-verify', 't'],
      ['127.0.0.1', 'sslmode=disable', 'f'],
    ])('at %s with %s a connection is encrypted: %s [DS-POSTGRES-13]', async (host, mode, encrypted) => {
      const more = mode === 'sslmode=disable' || mode === 'sslmode=no-verify' ? '' : `&${authority()}`;
      const store = await openPostgresStore(addressOf(await urlAt(host, mode + more)));
      try {
        const rows = await server.ask(
          `SELECT DISTINCT s.ssl FROM pg_stat_ssl AS s JOIN pg_stat_activity AS a USING (pid)
           WHERE a.application_name = 'signalbox'`,
        );
        expect(rows).toEqual([{ ssl: encrypted === 't' }]);
      } finally {
        await store.close();
      }
    });

    test.each([
      ['localhost', 'sslmode=require', 'whose authority is not known'],
      ['127.0.0.1', 'sslmode=verify-full&ca', 'of another name'],
    ])('at %s with %s a certificate %s is refused [DS-POSTGRES-13]', async (host, given) => {
      const parameters = given.replace('&ca', `&${authority()}`);
      const { code, message, hint } = await faultOf(
        openPostgresStore(addressOf(await urlAt(host, parameters))),
      );
      expect(code).toBe('STORE_FAILED');
      expect(message).toMatch(/certificate/);
      expect(hint).toMatch(/sslrootcert|sslmode/);
    });
  },
);

function makeCertificates(folder: string): void {
  const run = (...args: readonly string[]) =>
    execFileSync('/usr/bin/openssl', args, { cwd: folder, stdio: 'ignore' });
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  run('req', '-x509', ...curve, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=tests');
  run('req', ...curve, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost\n');
  const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
  run('x509', '-req', '-in', 'server.csr', '-out', 'server.pem', ...by);
  if (process.getuid?.() !== 0) return;
  for (const name of ['', 'server.key', 'server.pem', 'ca.pem'])
    chownSync(join(folder, name), NOBODY, NOBODY);
}
