import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { startProxy } from '../store/postgres/proxy.ts';
import {
  addressOf,
  hasPostgres,
  startServer,
  type TestServer,
  unlessMissing,
} from '../store/postgres/server.ts';
import { sampleHistories } from './starts/histories.ts';
import { type ModelStore, type Place, type Played, play } from './starts/play.ts';

/** Histories for each store. STARTS_SEED repeats those of an earlier run. */
const count = Number(process.env['START_HISTORIES'] ?? 300);
const seed = Number(process.env['STARTS_SEED'] ?? Date.now() % 2 ** 31);

async function playAll(places: readonly Place[], prefix: string) {
  const histories = sampleHistories(count, seed).entries();
  const wrong: string[] = [];
  const kinds = new Map<string, number>();
  const tally = { histories: 0, starts: 0, refused: 0, takeovers: 0, statuses: new Map<string, number>() };
  const note = (number: number, history: unknown, played: Played) => {
    tally.histories += 1;
    tally.starts += played.starts;
    tally.refused += played.refused;
    tally.takeovers += played.takeovers;
    const status = played.status ?? 'none';
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
    for (const each of new Set(played.wrong)) kinds.set(each, (kinds.get(each) ?? 0) + 1);
    if (played.wrong.length > 0)
      wrong.push(
        `history ${number} of seed ${seed}: ${played.wrong.join('; ')} in ${JSON.stringify(history)}`,
      );
  };
  await Promise.all(
    places.map(async (place) => {
      for (const [number, history] of histories)
        note(number, history, await play(place, `${prefix}${number}`, history));
    }),
  );
  const statuses = [...tally.statuses].map(([status, often]) => `${often} ${status}`).join(', ');
  console.log(
    `${tally.histories} histories over ${prefix}: ${tally.starts} starts, ${tally.refused} refused, ${tally.takeovers} takeovers; ${statuses}; wrong: ${JSON.stringify([...kinds])}`,
  );
  expect(wrong.slice(0, 5)).toEqual([]);
  return tally;
}

const title =
  'nothing starts unless its run is held, going on and kept, and no effect happens twice unasked, in any order of';

test(`${title} owners, stops, cancels and full disks of SQLite [DS-RUN-17]`, {
  timeout: 3_000_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'starts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const places = await Promise.all([1, 2, 3, 4].map((lane) => openSqlitePlace(join(folder, `${lane}.db`))));
  const tally = await playAll(places, 'sqlite');
  expect(tally.refused).toBeGreaterThan(0);
});

async function openSqlitePlace(file: string): Promise<Place> {
  const first = await openSqliteStore(file);
  const stores = [first, await openSqliteStore(file)].map((store): ModelStore => {
    onTestFinished(() => store.close());
    return { store, cut: () => {}, freeze: () => {}, thaw: () => {} };
  });
  const exec = (sql: string) => {
    const database = new (loadSqlite().DatabaseSync)(file);
    database.exec(`PRAGMA busy_timeout = 10000; ${sql}`);
    database.close();
  };
  exec(
    `CREATE TABLE full (id TEXT); ${['steps', 'runs']
      .flatMap((table) => ['INSERT', 'UPDATE'].map((moment) => ({ table, moment })))
      .map(
        ({ table, moment }) => `CREATE TRIGGER full_${table}_${moment} BEFORE ${moment} ON ${table}
          WHEN EXISTS (SELECT 1 FROM full WHERE id = NEW.${table === 'runs' ? 'id' : 'run_id'})
          BEGIN SELECT RAISE(ABORT, 'the disk is full'); END;`,
      )
      .join('\n')}`,
  );
  return {
    stores: pairOf(stores),
    fill: async (id) => exec(`INSERT INTO full VALUES ('${id}')`),
    free: async (id) => exec(`DELETE FROM full WHERE id = '${id}'`),
  };
}

function pairOf([one, other]: readonly ModelStore[]): Place['stores'] {
  if (one === undefined || other === undefined) throw new Error('two stores are wanted');
  return [one, other];
}

describe.runIf(hasPostgres)(`over Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ settings: { max_connections: 200 } });
  });
  afterAll(() => server?.remove());

  test(`${title} owners, stops, cuts, cancels and full disks [DS-RUN-17]`, {
    timeout: 3_000_000,
  }, async () => {
    const url = await server.newUrl('tcp');
    const name = new URL(url).pathname.slice(1);
    const open = async (): Promise<ModelStore> => {
      const proxy = await startProxy(server.port);
      const address = addressOf(url.replace(`:${server.port}/`, `:${proxy.port}/`));
      const store = await openPostgresStore(address, { retryMs: 500, beatMs: 15, hungMs: 150 });
      onTestFinished(() => store.close());
      return { store, ...proxy };
    };
    await (await openPostgresStore(addressOf(url))).close();
    await server.ask(fullDisk, name);
    const places = await Promise.all(
      Array.from({ length: 16 }, async (): Promise<Place> => {
        return {
          stores: [await open(), await open()],
          fill: async (id) => void (await server.ask(`INSERT INTO full_disk VALUES ('${id}')`, name)),
          free: async (id) => void (await server.ask(`DELETE FROM full_disk WHERE id = '${id}'`, name)),
        };
      }),
    );
    const tally = await playAll(places, 'postgres');
    expect(tally.refused).toBeGreaterThan(0);
  });
});

const fullDisk = `
CREATE TABLE full_disk (id text);
CREATE FUNCTION refuse_full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM public.full_disk WHERE id = to_jsonb(NEW)->>(CASE TG_TABLE_NAME WHEN 'runs' THEN 'id' ELSE 'run_id' END))
    THEN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON signalbox.steps FOR EACH ROW EXECUTE FUNCTION refuse_full();
CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON signalbox.runs FOR EACH ROW EXECUTE FUNCTION refuse_full();
`;
