import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { checksumOf } from '../../src/store/sqlite/row.ts';
import { fixture } from '../process/harness.ts';
import { type Desk, openAt } from './desk.ts';

const records = join(import.meta.dirname, '../fixtures/records');

/** A folder with the waiting runs of `journal.sql`. */
export function restoreRecords(): string {
  const folder = mkdtempSync(join(tmpdir(), 'records-'));
  for (const name of ['native.yaml', 'foreign.yaml']) {
    const text = readFileSync(join(records, name), 'utf8');
    writeFileSync(
      join(folder, name),
      text.replaceAll('$bin', fixture('.').replace(/\/\.?$/, '')).replaceAll('$folder', folder),
    );
  }
  // The call during which its process died.
  writeFileSync(join(folder, 'onces'), '{}\n');
  execSql(folder, readFileSync(join(records, 'journal.sql'), 'utf8'));
  return folder;
}

/** `checksum(step, outcome)` computes the checksum of a row of `steps`. */
export function execSql(folder: string, sql: string): void {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(join(folder, 'state.db'));
  try {
    database.function('checksum', (step, outcome) => checksumOf(String(step), String(outcome)));
    database.exec(sql);
  } finally {
    database.close();
  }
}

export async function openRecords(folder: string, config: string): Promise<Desk> {
  return await openAt(join(folder, `${config}.yaml`));
}
