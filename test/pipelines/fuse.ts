import { join } from 'node:path';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';

/** A state store whose disk becomes full after a number of writes, until space is freed. */
export interface Fuse {
  blowAfter(writes: number): void;
  repair(): void;
}

/** Installs triggers that count each write, and let SQLite itself refuse it. */
export function openFuse(folder: string): Fuse {
  const { DatabaseSync } = loadSqlite();
  const exec = (sql: string) => {
    const database = new DatabaseSync(join(folder, '.signalbox/state.db'));
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  };
  const moments = ['runs', 'steps', 'pendings'].flatMap((table) =>
    ['INSERT', 'UPDATE'].map((what) => ({ name: `fuse_${table}_${what}`, on: `BEFORE ${what} ON ${table}` })),
  );
  return {
    blowAfter: (writes) => {
      const triggers = moments.map(
        ({ name, on }) => `CREATE TRIGGER ${name} ${on} BEGIN
          SELECT RAISE(ABORT, 'the disk is full') WHERE (SELECT left FROM fuse) <= 0;
          UPDATE fuse SET left = left - 1;
        END;`,
      );
      exec(`CREATE TABLE fuse (left INTEGER); INSERT INTO fuse VALUES (${writes}); ${triggers.join('\n')}`);
    },
    repair: () => exec(`${moments.map(({ name }) => `DROP TRIGGER ${name};`).join('\n')} DROP TABLE fuse;`),
  };
}
