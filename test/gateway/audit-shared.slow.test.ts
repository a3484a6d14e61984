import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AuditLogOptions } from '../../src/gateway/audit/audit-log.ts';
import { fingerprintOf, type Head, readHead, signTip } from '../../src/gateway/audit/keys.ts';
import { findSharedKey } from '../../src/gateway/audit/shared/chains.ts';
import { openSharedRows, verifyChains } from '../../src/gateway/audit/shared/read.ts';
import { pruneShared } from '../../src/gateway/audit/shared/writer.ts';
import type { AuditLog } from '../../src/gateway/ports.ts';
import { startProxy } from '../store/postgres/proxy.ts';
import {
  addressOf,
  hasPostgres,
  startServer,
  type TestServer,
  unlessMissing,
} from '../store/postgres/server.ts';
import { type Actor, start } from '../store/processes.ts';
import { openAudit, recordOf, writeCalls } from './audit-log.ts';

const actorFile = new URL('audit-writer.ts', import.meta.url).pathname;

describe.runIf(hasPostgres)(`an audit that replicas share in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const open = async (url: string, options: Partial<AuditLogOptions> = {}): Promise<AuditLog> => {
    const log = await openAudit(url, { warn: () => {}, ...options });
    onTestFinished(() => log.close());
    return log;
  };
  const verify = async (url: string, heads: readonly Head[] = []) => {
    const pem = (await findSharedKey(addressOf(url), 'public')) ?? '';
    const signal = new AbortController().signal;
    return await verifyChains(addressOf(url), {
      ...{ publicKeys: [createPublicKey(pem)], heads, signal, onProgress: () => {} },
    });
  };
  const idsIn = async (url: string): Promise<string[]> => {
    const rows = await openSharedRows(addressOf(url));
    try {
      return (await rows.list({ limit: 1_000_000 })).map(({ id }) => id);
    } finally {
      await rows.close();
    }
  };
  const ask = (url: string, sql: string) => server.ask(sql, new URL(url).pathname.slice(1));

  test('each replica keeps its own chain; all of them are read and verified together [DS-REPLICAS-09]', async () => {
    const url = await server.newUrl();
    const logs = [await open(url), await open(url), await open(url)];
    const ids = Array.from({ length: 300 }, (_, at) => `call_${at}`);
    await Promise.all(ids.map((id, at) => logs[at % 3]?.write(recordOf({ id, at: 1_000_000 + at }))));
    expect(await idsIn(url)).toEqual(ids.toReversed());
    expect(await verify(url)).toMatchObject({ status: 'good', rows: 303, chains: [{}, {}, {}] });
    const rows = await openSharedRows(addressOf(url));
    onTestFinished(() => rows.close());
    const heads = (await rows.heads()).map((line) => readHead(line));
    expect(heads).toHaveLength(3);
    expect(await rows.find('call_29', 20)).toMatchObject([{ id: 'call_29' }]);
    expect((await rows.list({ since: 1_000_298, limit: 10 })).map(({ id }) => id)).toEqual([
      'call_299',
      'call_298',
    ]);
    await logs[0]?.write(recordOf({ id: 'later' }));
    const known = heads.flatMap((head) => head ?? []);
    expect(await verify(url, known)).toMatchObject({ status: 'good', heads: { compared: 3 } });
    await ask(
      url,
      `DELETE FROM signalbox.gateway_audit_rows WHERE chain = '${known[1]?.chain}';
      DELETE FROM signalbox.gateway_chains WHERE id = '${known[1]?.chain}'`,
    );
    expect((await verify(url, known)).problems).toMatchObject([
      { message: expect.stringContaining('belongs to another audit') },
    ]);
  });

  const content = { request: 'question', answer: 'answer' };
  test.each([
    [
      'a body',
      `UPDATE signalbox.gateway_audit_rows SET body = replace(body, 'gpt-5', 'gpt-6') WHERE seq = 3`,
    ],
    ['a row taken out', `DELETE FROM signalbox.gateway_audit_rows WHERE seq = 3`],
    [
      'the last row cut off, and the head set back',
      `DELETE FROM signalbox.gateway_audit_rows WHERE seq = 6;
       UPDATE signalbox.gateway_chains AS c SET seq = 5, hash = r.hash FROM signalbox.gateway_audit_rows AS r WHERE r.chain = c.id AND r.seq = 5`,
    ],
    [
      'two rows that changed places',
      `UPDATE signalbox.gateway_audit_contents SET seq = -1 WHERE false; ALTER TABLE signalbox.gateway_audit_contents DROP CONSTRAINT gateway_audit_contents_chain_seq_fkey;
       UPDATE signalbox.gateway_audit_rows SET seq = 99 WHERE seq = 3; UPDATE signalbox.gateway_audit_rows SET seq = 3 WHERE seq = 4; UPDATE signalbox.gateway_audit_rows SET seq = 4 WHERE seq = 99`,
    ],
    ['a content', `UPDATE signalbox.gateway_audit_contents SET text = text || ' ' WHERE seq = 4`],
    ['a content taken away', `DELETE FROM signalbox.gateway_audit_contents WHERE seq = 4`],
    [
      'a trigger that shows other rows',
      `CREATE FUNCTION lie() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE TRIGGER lies BEFORE INSERT ON signalbox.gateway_audit_rows FOR EACH ROW EXECUTE FUNCTION lie()`,
    ],
    ['a rule', 'CREATE RULE lies AS ON DELETE TO signalbox.gateway_audit_rows DO INSTEAD NOTHING'],
    [
      'rows of a chain that has no head',
      'ALTER TABLE signalbox.gateway_audit_rows DROP CONSTRAINT gateway_audit_rows_chain_fkey; DELETE FROM signalbox.gateway_chains',
    ],
  ])('verification finds %s', async (_, sql) => {
    const url = await server.newUrl();
    const log = await openAudit(url, { keepsContent: true });
    for (let at = 1; at <= 5; at += 1) await log.write(recordOf({ id: `call_${at}`, content }));
    await log.close();
    const other = await openAudit(url);
    await other.close();
    expect(await verify(url)).toMatchObject({ status: 'good', rows: 6 });
    await ask(url, sql);
    const report = await verify(url).catch((error: unknown) => error);
    expect(report).toMatchObject(
      report instanceof Error ? { code: 'FILE_UNREADABLE' } : { status: 'tampered' },
    );
  });

  test('verification finds a head that is signed with another key', async () => {
    const url = await server.newUrl();
    const log = await openAudit(url);
    await writeCalls(log, 3);
    await log.close();
    const [row] = await ask(url, 'SELECT id, seq, hash, at FROM signalbox.gateway_chains');
    const { privateKey } = generateKeyPairSync('ed25519');
    const tip = { chain: String(row?.['id']), seq: Number(row?.['seq']), hash: String(row?.['hash']) };
    const head = signTip({ ...tip, at: Number(row?.['at']) }, privateKey, fingerprintOf(privateKey));
    await ask(url, `UPDATE signalbox.gateway_chains SET signature = '${head.signature}'`);
    expect((await verify(url)).problems).toMatchObject([{ message: expect.stringContaining('not signed') }]);
  });

  test('processes that write concurrently and are killed leave chains that verify, with every acknowledged call [DS-REPLICAS-10]', async () => {
    const url = await server.newUrl();
    const told: string[] = [];
    const writers = (round: number): Actor[] =>
      [0, 1, 2].map((at) => start([url, `p${round}${at}`], [], actorFile));
    for (let round = 0; round < 3; round += 1) {
      const actors = writers(round);
      for (const actor of actors) await actor.next();
      for (const [at, actor] of actors.entries())
        setTimeout(() => actor.child.kill('SIGKILL'), 80 + 120 * at + 50 * round);
      told.push(...(await Promise.all(actors.map((actor) => actor.rest()))).flat());
    }
    expect(told.length).toBeGreaterThan(20);
    const report = await verify(url);
    expect(report).toMatchObject({ status: 'good', problems: [] });
    // A later replica continues a chain that has no writer.
    expect(report.chains?.length).toBeLessThanOrEqual(3);
    const kept = await idsIn(url);
    expect(new Set(kept).size).toBe(kept.length);
    expect(told.filter((id) => !kept.includes(id))).toEqual([]);
  });

  test('a row whose reply is lost with the connection is kept once [DS-REPLICAS-11]', async () => {
    const proxy = await startProxy(server.port);
    const url = await server.newUrl('tcp');
    const log = await open(url.replace(`:${server.port}/`, `:${proxy.port}/`));
    await log.write(recordOf({ id: 'first' }));
    for (const id of ['second', 'third']) {
      proxy.loseAnswers();
      const writing = log.write(recordOf({ id }));
      await expect.poll(() => proxy.lost()).toBeGreaterThan(0);
      proxy.cut();
      await writing;
    }
    expect((await idsIn(url)).toSorted()).toEqual(['first', 'second', 'third']);
    expect(await verify(url)).toMatchObject({ status: 'good', rows: 4 });
  });

  test('calls are refused in time while the server is unavailable, and are accepted when it is back [DS-REPLICAS-12]', async () => {
    const url = await server.newUrl();
    const log = await open(url, { replica: { retryMs: 300 } });
    await log.write(recordOf({ id: 'before' }));
    await server.stop('immediate');
    const refused = { refusal: { status: 503, code: 'audit_failed' } };
    await expect(log.write(recordOf({ id: 'lost' }))).rejects.toMatchObject(refused);
    await expect(log.ensureWritable()).rejects.toMatchObject(refused);
    await server.start();
    await vi.waitFor(() => log.ensureWritable(), { timeout: 30_000, interval: 100 });
    await log.write(recordOf({ id: 'after' }));
    expect((await idsIn(url)).toSorted()).toEqual(['after', 'before']);
    expect(await verify(url)).toMatchObject({ status: 'good' });
  });

  test('pruning removes old rows from all chains during writes, and each chain records it', async () => {
    const url = await server.newUrl();
    const logs = [await open(url), await open(url)];
    const old = Date.now() - 86_400_000;
    for (const [index, log] of logs.entries()) {
      for (let at = 0; at < 5; at += 1) await log.write(recordOf({ id: `old_${index}_${at}`, at: old + at }));
      await log.write(recordOf({ id: `new_${index}`, at: Date.now() }));
    }
    await logs[1]?.close();
    // The remaining server prunes its own chain and the chains without a writer.
    await open(url, { keepMs: 3_600_000 });
    await vi.waitFor(async () =>
      expect((await idsIn(url)).filter((id) => id.startsWith('old_1'))).toEqual([]),
    );
    expect((await idsIn(url)).filter((id) => id.startsWith('old_0'))).toHaveLength(5);
    const writing = Array.from({ length: 20 }, (_, at) =>
      logs[0]?.write(recordOf({ id: `more_${at}`, at: Date.now() })),
    );
    expect(await pruneShared(addressOf(url), { signingKey: undefined, before: old + 3_600_000 })).toBe(6);
    await Promise.all(writing);
    await logs[0]?.write(recordOf({ id: 'last', at: Date.now() }));
    const kept = await idsIn(url);
    expect(kept.filter((id) => id.startsWith('old'))).toEqual([]);
    expect(kept.filter((id) => id.startsWith('more'))).toHaveLength(20);
    expect(await verify(url)).toMatchObject({ status: 'good', problems: [] });
  });

  test('a replica with its own key records from where on it signs', async () => {
    const url = await server.newUrl();
    const first = await openAudit(url);
    await writeCalls(first, 2);
    await first.close();
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const signingKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const second = await openAudit(url, { signingKey });
    await second.write(recordOf({ id: 'call_3' }));
    await second.close();
    const kinds = await ask(url, 'SELECT kind FROM signalbox.gateway_audit_rows ORDER BY chain, seq');
    expect(kinds.map(({ kind }) => kind)).toEqual(['begin', 'call', 'call', 'key', 'call']);
    expect((await verify(url)).status).toBe('tampered');
    const signal = new AbortController().signal;
    const options = { publicKeys: [publicKey], heads: [], signal, onProgress: () => {} };
    expect(await verifyChains(addressOf(url), options)).toMatchObject({ status: 'good' });
  });
});
