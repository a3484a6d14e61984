import type { KeyObject } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RuntimeError } from '../../../base/errors.ts';
import { createTables } from '../../../store/sqlite/layout.ts';
import { loadSqlite } from '../../../store/sqlite/node-sqlite.ts';
import { toStoreError } from '../../../store/sqlite/store-error.ts';
import { type Head, readHead } from '../head.ts';
import { auditLayout } from '../layout.ts';
import { openKept } from '../open-kept.ts';
import { checkTip, compareHeads } from './heads.ts';
import { readRows } from './read-rows.ts';
import { type AuditReport, createProblems, type Problems } from './report.ts';
import { startWalk } from './walk.ts';

export interface VerifyOptions {
  readonly file: string;
  readonly publicKeys: readonly KeyObject[];
  /** That were kept elsewhere. */
  readonly heads: readonly Head[];
  /** Told now and then how many rows were read, and about how many there are. */
  readonly onProgress: (rows: number, of: number) => void;
  readonly signal: AbortSignal;
}

/** Reads the whole audit as it is at this moment, beside whoever writes to it. Throws STORE_FAILED, FILE_UNREADABLE and ABORTED. */
export async function verifyAudit(options: VerifyOptions): Promise<AuditReport> {
  const database = openKept(options.file);
  try {
    // One moment for everything that is read.
    database.exec('BEGIN');
    return await verifySnapshot(database, options);
  } catch (error) {
    throw toStoreError(error, options.file);
  } finally {
    database.close();
  }
}

async function verifySnapshot(
  database: DatabaseSync,
  { publicKeys, heads, onProgress, signal }: VerifyOptions,
): Promise<AuditReport> {
  const problems = createProblems();
  checkSchema(database, problems);
  const tip = readTip(database);
  if (tip === undefined) problems.add('the head in the database is gone');
  const chain = tip?.chain ?? '';
  const comparison = compareHeads(heads, chain, publicKeys, problems);
  const walk = startWalk(chain, problems, comparison.onHash);
  let rows = 0;
  for (const row of readRows(database)) {
    walk.step(row);
    rows += 1;
    if (rows % ROWS_PER_TURN !== 0) continue;
    onProgress(rows, tip === undefined ? rows : tip.seq - row.seq + rows);
    await nextTurn();
    if (signal.aborted) throw new RuntimeError('ABORTED', 'the verification was given up');
  }
  const walked = walk.end();
  if (tip !== undefined) checkTip(tip, walked, publicKeys, problems);
  checkStrayContents(database, problems);
  const found = comparison.end(walked);
  return {
    status: problems.kept.length === 0 ? 'good' : 'tampered',
    chain: tip?.chain ?? null,
    ...{ rows: walked.rows, first: walked.first, last: walked.last, pruned: walked.pruned },
    heads: found,
    problems: problems.kept,
  };
}

const ROWS_PER_TURN = 2000;

/** The head in the database; undefined for what is none. */
export function readTip(database: DatabaseSync): Head | undefined {
  const row = database.prepare('SELECT id AS chain, seq, hash, at, key, signature FROM chain').get();
  return row === undefined ? undefined : readHead(JSON.stringify(row));
}

function checkStrayContents(database: DatabaseSync, problems: Problems): void {
  const stray = database
    .prepare('SELECT seq FROM contents WHERE seq NOT IN (SELECT seq FROM rows) LIMIT 5')
    .all();
  for (const { seq } of stray)
    problems.add(`there is a content of row ${seq}, which is not there`, Number(seq));
}

/** Finds tables, views, triggers and indexes that are not those of an audit: they could show readers something else than what is kept. */
function checkSchema(database: DatabaseSync, problems: Problems): void {
  const wanted = usualSchema();
  const found = readSchema(database);
  for (const [name, sql] of found) {
    if (!wanted.has(name)) problems.add(`the database has ${name}, which no audit has`);
    else if (wanted.get(name) !== sql) problems.add(`${name} of the database is not that of an audit`);
  }
  for (const name of wanted.keys()) if (!found.has(name)) problems.add(`the database lacks ${name}`);
}

function usualSchema(): ReadonlyMap<string, string> {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(':memory:');
  try {
    createTables(database, auditLayout);
    return readSchema(database);
  } finally {
    database.close();
  }
}

function readSchema(database: DatabaseSync): ReadonlyMap<string, string> {
  // Statistics that somebody had SQLite make change no answer.
  const rows = database
    .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat_'")
    .all();
  return new Map(rows.map(({ type, name, tbl_name, sql }) => [`${type} ${name}`, `${tbl_name}: ${sql}`]));
}
