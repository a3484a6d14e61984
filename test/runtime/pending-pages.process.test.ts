import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Json, openRuntime, type Runtime } from '../../src/index.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { newCall, newRun } from '../store/examples.ts';
import {
  addressOf,
  hasPostgres,
  startServer,
  type TestServer,
  unlessMissing,
} from '../store/postgres/server.ts';
import { config } from '../workspace.ts';

const tools = `
  tools:
    pay:
      description: pays
      input_schema: {type: object, properties: {cents: {type: integer}}, required: [cents]}
      approval: {by: [mara, joe], quorum: 2}
      exec: {command: /bin/true}
    send: {description: sends, approval: {by: [joe]}, exec: {command: /bin/true}}
    look: {description: looks, exec: {command: /bin/true}}
`;

interface Desk {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly file: string;
  rows(): Promise<unknown>;
}

const tables = ['pendings', 'consents', 'runs', 'moments', 'notices'];

async function openDesk(open: OpenStore): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  const file = join(folder, 'runtime.yaml');
  const { spec, env, openStore, ask } = await open(folder);
  writeFileSync(file, config(`${spec}${tools.slice(1).replace(/^ {2}/gm, '')}`));
  const runtime = await openRuntime(file, { log: false, env: { ...process.env, ...env } });
  const store = await openStore();
  onTestFinished(async () => {
    await runtime.close();
    await store.close();
  });
  const rows = async () => await Promise.all(tables.map((table) => ask(`SELECT * FROM ${table}`)));
  return { runtime, store, file, rows };
}

type OpenStore = (folder: string) => Promise<{
  readonly spec: string;
  readonly env: Readonly<Record<string, string>>;
  readonly openStore: () => Promise<Store>;
  readonly ask: (sql: string) => unknown;
}>;

describe('pages of calls in SQLite', () =>
  pageTests(async (folder) => {
    const path = join(folder, 'state.db');
    return {
      spec: 'state_store: {type: sqlite, path: state.db}\n',
      env: {},
      openStore: () => openSqliteStore(path),
      ask: (sql) => {
        const database = new DatabaseSync(path, { readOnly: true });
        try {
          return database.prepare(sql).all();
        } finally {
          database.close();
        }
      },
    };
  }));

describe.runIf(hasPostgres)(`pages of calls in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  pageTests(async () => {
    const url = await server.newUrl('socket');
    const database = decodeURIComponent(new URL(url).pathname.slice(1));
    return {
      spec: 'state_store: {type: postgres, url_env: PAGES_URL}\n',
      env: { PAGES_URL: url },
      openStore: () => openPostgresStore(addressOf(url)),
      ask: (sql) => server.ask(sql.replace('FROM ', 'FROM signalbox.'), database),
    };
  });
});

function pageTests(open: OpenStore): void {
  const add = async (
    { store, file }: Desk,
    count: number,
    call: (index: number) => Parameters<typeof newCall>[2] = () => ({}),
  ) => {
    await store.createRun(newRun('r1', { config: file, labels: { team: 'desk' } }));
    for (let index = 0; index < count; index += 500) {
      const batch = Array.from({ length: Math.min(500, count - index) }, (_, each) => index + each);
      await Promise.all(
        batch.map((each) =>
          store.addPending(
            newCall(`p${each}`, 'r1', {
              tool: 'send',
              createdAt: 1_000 + each,
              expiresAt: null,
              ...call(each),
            }),
          ),
        ),
      );
    }
  };
  const namesOf = (page: Awaited<ReturnType<Runtime['pending']['page']>>) => page.pending.map(({ id }) => id);

  test('ten thousand calls, some decided meanwhile, come once each and oldest first', async () => {
    const desk = await openDesk(open);
    await add(desk, 10_000);
    const { pending } = desk.runtime;
    const all = (await desk.store.listPendings({}, 1)).map(({ id }) => id);
    const ofAny: string[] = [];
    const ofOpen: string[] = [];
    const decided = new Set<string>();
    let [nextAny, nextOpen]: (string | undefined)[] = [];
    for (let round = 0; round < 20; round += 1) {
      const any = await pending.page({ status: 'all', limit: 500, after: nextAny });
      const opened = await pending.page({ limit: 500, after: nextOpen });
      if (round === 0 || nextAny !== undefined) ofAny.push(...namesOf(any));
      if (round === 0 || nextOpen !== undefined) ofOpen.push(...namesOf(opened));
      [nextAny, nextOpen] = [any.next, opened.next];
      // Some are on pages already shown, some are not.
      for (const each of [3, 200, 700, 9_000].map((offset) => `p${(round * 500 + offset) % 10_000}`)) {
        if (decided.has(each)) continue;
        await pending.reject(each, { by: 'joe' });
        decided.add(each);
      }
    }
    expect(nextAny).toBeUndefined();
    expect(ofAny).toEqual(all);
    expect(ofOpen).toEqual(all.filter((id) => ofOpen.includes(id)));
    const missed = all.filter((id) => !ofOpen.includes(id));
    expect(missed.filter((id) => !decided.has(id))).toEqual([]);
    expect(await pending.counts()).toMatchObject({
      total: 10_000,
      by_status: { open: 10_000 - decided.size, rejected: decided.size },
      by_tool: { send: 10_000 },
    });
  });

  test('filters by tool, run, status, decider and time hold together', async () => {
    const desk = await openDesk(open);
    const ask = (by: readonly string[]) => ({ tool: '@ask', members: Json.from({ question: '?', by }) });
    await add(desk, 8, (index) => {
      if (index === 6) return ask(['mara']);
      if (index === 7) return ask(['joe']);
      return { tool: ['pay', 'send', 'look'][index % 3] ?? '', ...(index === 0 && { quorum: 2 }) };
    });
    await desk.store.createRun(newRun('r2', { config: desk.file }));
    await desk.store.addPending(newCall('q1', 'r2', { tool: 'gone', createdAt: 5_000, expiresAt: null }));
    const { pending } = desk.runtime;
    await pending.reject('p1', { by: 'joe' });
    const found = async (filter: Parameters<typeof pending.page>[0]) =>
      namesOf(await pending.page(filter)).sort();
    expect(await found({ status: 'all' })).toEqual(['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'q1']);
    expect(await found({ tool: 'send' })).toEqual(['p4']);
    expect(await found({ tool: 'send', status: 'all' })).toEqual(['p1', 'p4']);
    expect(await found({ status: 'rejected' })).toEqual(['p1']);
    expect(await found({ run: 'r2' })).toEqual(['q1']);
    expect(await found({ since: new Date(1_005) })).toEqual(['p5', 'p6', 'p7', 'q1']);
    expect(await found({ by: 'mara' })).toEqual(['p0', 'p2', 'p3', 'p5', 'p6', 'q1']);
    expect(await found({ by: 'eve', run: 'r1' })).toEqual(['p2', 'p5']);
    expect(await found({ by: 'joe', tool: '@ask' })).toEqual(['p7']);
    const small: string[] = [];
    let next: string | undefined;
    for (let round = 0; round < 6; round += 1) {
      const page = await pending.page({ by: 'mara', limit: 1, after: next });
      small.push(...namesOf(page));
      next = page.next;
    }
    expect(next).toBeUndefined();
    expect(small.sort()).toEqual(['p0', 'p2', 'p3', 'p5', 'p6', 'q1']);
    const none = { approved: 0, responded: 0, expired: 0, cancelled: 0 };
    expect(await pending.counts({ by: 'joe', run: 'r1' })).toEqual({
      total: 7,
      by_status: { open: 6, rejected: 1, ...none },
      by_tool: { pay: 2, send: 2, look: 2, '@ask': 1 },
    });
    expect(await pending.counts({ tool: 'nothing' })).toEqual({
      total: 0,
      by_status: { open: 0, rejected: 0, ...none },
      by_tool: {},
    });
  });

  test('a call shows who may decide, how many did, its schema, run, labels and caller', async () => {
    const desk = await openDesk(open);
    await add(desk, 1, () => ({ tool: 'pay', quorum: 2, args: new Json('{"cents": 12345678901234567890}') }));
    const agent = { source: 'signalbox gateway', kind: 'tool', name: 'claude-code', file: null } as const;
    await desk.store.createRun(
      newRun('a1', { ...agent, config: desk.file, input: Json.from({ session: 's' }) }),
    );
    await desk.store.addPending(newCall('q1', 'a1', { tool: 'Bash', expiresAt: null }));
    await desk.runtime.pending.approve('p0', { by: 'mara' });
    const { pending: found } = await desk.runtime.pending.page();
    expect(found).toMatchObject([
      {
        id: 'p0',
        deciders: ['mara', 'joe'],
        quorum: 2,
        approvals: [{ by: 'mara' }],
        input_schema: { type: 'object', required: ['cents'] },
        run: { kind: 'pipeline', name: 'refund', labels: { team: 'desk' } },
        caller: null,
      },
      {
        id: 'q1',
        deciders: null,
        input_schema: null,
        run: { kind: 'tool', name: 'claude-code', labels: {} },
        caller: { agent: 'claude-code', session: 's' },
      },
    ]);
    expect(await desk.runtime.pending.list()).toEqual(found);
    expect(await Promise.all(['p0', 'q1'].map((id) => desk.runtime.pending.show(id)))).toEqual(found);
    await expect(desk.runtime.pending.show('nothing')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
  });

  test('a call shows the decisions that work now, and each of the others is refused', async () => {
    const desk = await openDesk(open);
    const calls = [
      { tool: 'pay', quorum: 2 },
      { tool: 'pay', quorum: 2, origin: 'interrupted' },
      { tool: 'pay' },
      { tool: 'send' },
      { tool: 'gone' },
    ] as const;
    await add(desk, calls.length, (index) => calls[index] ?? {});
    const { pending } = desk.runtime;
    const shown = (await pending.list()).map(({ id, choices }) => [id, choices.join(' ')]);
    expect(shown).toEqual([
      ['p0', 'approve reject'],
      ['p1', 'approve respond reject'],
      ['p2', 'reject'],
      ['p3', 'approve edit respond reject'],
      ['p4', 'approve reject'],
    ]);
    const by = 'joe';
    const refused = await Promise.allSettled([
      pending.approve('p0', { by, args: { cents: 1 } }),
      pending.respond('p0', { by, result: 1 }),
      pending.approve('p1', { by, args: { cents: 1 } }),
      pending.approve('p2', { by }),
      pending.approve('p4', { by, args: {} }),
      pending.respond('p4', { by, result: 1 }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 'rejected'));
    await pending.respond('p1', { by, result: 1 });
    await pending.approve('p3', { by, args: { to: 1 } });
    await pending.approve('p4', { by });
    expect((await pending.show('p3')).choices).toEqual([]);
  });

  test('a filter that is none is a USAGE error', async () => {
    const { runtime } = await openDesk(open);
    const { pending } = runtime;
    const wrong: readonly object[] = [
      { after: 'nowhere' },
      { after: '17' },
      { after: `${Buffer.from('pending:1').toString('base64url')}=` },
      { after: Buffer.from('pending:9e9').toString('base64url') },
      { after: 17 },
      { limit: 0 },
      { limit: 1.5 },
      { limit: 1_001 },
      { status: 'done' },
      { status: 'constructor' },
      { tool: 7 },
      { run: ['r1'] },
      { by: ' ' },
      { since: new Date(Number.NaN) },
      { since: 5 },
    ];
    for (const filter of wrong) await expect(pending.page(filter)).rejects.toMatchObject({ code: 'USAGE' });
  });

  test('whatever a check says, the approval does', async () => {
    const desk = await openDesk(open);
    const names = ['pay', 'send', 'look', 'gone', '@ask'];
    const people = ['mara', 'joe', 'eve'];
    const given: readonly unknown[] = [
      undefined,
      {},
      { cents: 5 },
      { cents: 'x' },
      '{"cents": 1e400}',
      '[',
      null,
    ];
    const cases = names.flatMap((tool) => people.flatMap((by) => given.map((args) => ({ tool, by, args }))));
    await add(desk, cases.length, (index) => ({
      tool: cases[index]?.tool ?? '',
      // Some calls began to wait when the tool required one person.
      ...(cases[index]?.tool === 'pay' && cases[index]?.by !== 'joe' && { quorum: 2 }),
    }));
    const { pending } = desk.runtime;
    const outcomes = new Set<string>();
    for (const [index, { by, args }] of cases.entries()) {
      const { outcome, error } = await pending.check(`p${index}`, { by, args });
      outcomes.add(outcome);
      const decided = await pending.approve(`p${index}`, { by, args }).then(
        ({ status }) => status,
        ({ code, message }) => ({ code, message }),
      );
      const said = error && { code: error.code, message: error.message };
      const expected = said ?? (outcome === 'resumes' ? 'approved' : 'open');
      expect({ ...cases[index], decided }).toEqual({ ...cases[index], decided: expected });
    }
    expect([...outcomes].sort()).toEqual(['args_invalid', 'needs_approvals', 'refused', 'resumes']);
  });

  test('a check says what an approval would do, and changes no row', async () => {
    const desk = await openDesk(open);
    await add(desk, 7, (index) => ({
      tool: ['pay', 'send', 'look', 'look', 'look', '@ask', 'gone'][index] ?? '',
      ...(index === 0 && { quorum: 2, args: new Json('{"cents": 5}') }),
      ...(index === 5 && { members: Json.from({ question: '?' }) }),
    }));
    const { pending } = desk.runtime;
    await pending.reject('p3', { by: 'ann' });
    await desk.store.addPending(newCall('late', 'r1', { tool: 'look', createdAt: 1_000, expiresAt: 1_001 }));
    const before = await desk.rows();
    const check = async (id: string, options?: Parameters<typeof pending.check>[1]) => {
      const { outcome, approvals, error } = await pending.check(id, options);
      return [outcome, approvals && `${approvals.given} of ${approvals.needed}`, error?.code];
    };
    expect(await check('p0')).toEqual(['needs_approvals', '0 of 2', undefined]);
    expect(await check('p0', { by: 'eve' })).toEqual(['refused', '0 of 2', 'USAGE']);
    expect(await check('p0', { args: { cents: 6 } })).toEqual(['refused', '0 of 2', 'USAGE']);
    expect(await check('p0', { args: { cents: 'x' } })).toEqual(['args_invalid', '0 of 2', 'ARGS_INVALID']);
    expect(await check('p1', { by: 'joe' })).toEqual(['resumes', '0 of 1', undefined]);
    expect(await check('p2', { args: '{"a": 1}' })).toEqual(['resumes', '0 of 1', undefined]);
    expect(await check('p2', { args: '{' })).toEqual(['args_invalid', '0 of 1', 'ARGS_INVALID']);
    expect(await check('p3')).toEqual(['decided', undefined, 'PENDING_DECIDED']);
    // Postgres uses its own clock.
    await expect.poll(() => check('late')).toEqual(['expired', undefined, 'PENDING_EXPIRED']);
    expect(await check('p5')).toEqual(['refused', '0 of 1', 'USAGE']);
    expect(await check('p6', { args: {} })).toEqual(['refused', '0 of 1', 'NAME_UNKNOWN']);
    expect(await check('p99')).toEqual(['unknown', undefined, 'RUN_UNKNOWN']);
    await expect(pending.check('p1', { by: '' })).rejects.toMatchObject({ code: 'USAGE' });
    expect(await desk.rows()).toEqual(before);
    await pending.approve('p0', { by: 'mara' });
    expect(await check('p0', { by: 'mara' })).toEqual(['needs_approvals', '1 of 2', undefined]);
    expect(await check('p0', { by: 'joe' })).toEqual(['resumes', '1 of 2', undefined]);
    expect(await check('p0')).toEqual(['resumes', '1 of 2', undefined]);
  });
}
