import { createHash, type KeyObject } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RuntimeError } from '../../base/errors.ts';
import { createTables } from '../../store/sqlite/layout.ts';
import { loadSqlite } from '../../store/sqlite/node-sqlite.ts';
import { toStoreError } from '../../store/sqlite/store-error.ts';
import { auditLayout, hashOf, type KeptRow, membersOf, openKept, readRows, readTip } from './database.ts';
import { type Head, isSigned, type Tip } from './keys.ts';
import { noHash } from './row.ts';

export interface VerifyOptions {
  readonly file: string;
  readonly publicKeys: readonly KeyObject[];
  readonly heads: readonly Head[];
  readonly onProgress: (rows: number, of: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Verifies the whole audit in one snapshot while others write to it. Throws STORE_FAILED, FILE_UNREADABLE and ABORTED.
 */
export async function verifyAudit(options: VerifyOptions): Promise<AuditReport> {
  const database = openKept(options.file);
  try {
    // The transaction gives all reads one snapshot.
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
  const { walked, comparison } = await walkChain(readRows(database), {
    ...{ chain, heads, publicKeys, problems, signal },
    onProgress: (rows, seq) => onProgress(rows, tip === undefined ? rows : tip.seq - seq + rows),
  });
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

/** Verifies the rows of a chain and compares them with its heads. Throws ABORTED. */
export async function walkChain(
  rows: Iterable<KeptRow> | AsyncIterable<KeptRow>,
  {
    chain,
    problems,
    onProgress,
    ...options
  }: Pick<VerifyOptions, 'heads' | 'publicKeys' | 'signal'> & {
    readonly chain: string;
    readonly problems: Problems;
    readonly onProgress: (rows: number, seq: number) => void;
  },
) {
  const comparison = compareHeads(options.heads, chain, options.publicKeys, problems);
  const walk = startWalk(chain, problems, comparison.onHash);
  let count = 0;
  for await (const row of rows) {
    walk.step(row);
    count += 1;
    if (count % ROWS_PER_TURN !== 0) continue;
    onProgress(count, row.seq);
    await nextTurn();
    if (options.signal.aborted) throw new RuntimeError('ABORTED', 'the verification was cancelled');
  }
  return { walked: walk.end(), comparison };
}

const ROWS_PER_TURN = 2000;

function checkStrayContents(database: DatabaseSync, problems: Problems): void {
  const stray = database
    .prepare('SELECT seq FROM contents WHERE seq NOT IN (SELECT seq FROM rows) LIMIT 5')
    .all();
  for (const { seq } of stray) problems.add(`there is content of row ${seq}, but no such row`, Number(seq));
}

/** Reports unknown, changed or missing tables, views, triggers and indexes, which could show readers other data. */
function checkSchema(database: DatabaseSync, problems: Problems): void {
  const wanted = usualSchema();
  const found = readSchema(database);
  for (const [name, sql] of found) {
    if (!wanted.has(name)) problems.add(`the database has ${name}, which does not belong to an audit`);
    else if (wanted.get(name) !== sql) problems.add(`${name} of the database differs from that of an audit`);
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
  // Statistics tables (created by ANALYZE) change no results.
  const rows = database
    .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat_'")
    .all();
  return new Map(rows.map(({ type, name, tbl_name, sql }) => [`${type} ${name}`, `${tbl_name}: ${sql}`]));
}

export interface HeadComparison {
  readonly onHash: (seq: number, hash: string) => void;
  /** Called after the last row. `pruned` counts the heads whose rows were removed. */
  end(walked: Walked): { readonly compared: number; readonly pruned: number };
}

function compareHeads(
  heads: readonly Head[],
  chain: string,
  publicKeys: readonly KeyObject[],
  problems: Problems,
): HeadComparison {
  for (const head of heads) checkHead(head, chain, publicKeys, problems);
  const own = heads.filter((head) => head.chain === chain);
  const bySeq = Map.groupBy(own, ({ seq }) => seq);
  const compare = (seq: number, hash: string) => {
    for (const head of bySeq.get(seq) ?? []) {
      if (head.hash !== hash) problems.add(`row ${seq} is not the one that ${named(head)} has signed`, seq);
    }
    bySeq.delete(seq);
  };
  return {
    onHash: compare,
    end: ({ last, pruned, prunedHash }) => {
      if (pruned > 0) compare(pruned, prunedHash);
      const gone = [...bySeq.values()].flat().filter(({ seq }) => seq > (last ?? 0));
      for (const head of gone)
        problems.add(
          `rows after ${last ?? 0} are missing: there was a row ${head.seq} according to ${named(head)}`,
          head.seq,
        );
      const removed = [...bySeq.keys()].filter((seq) => seq < pruned);
      return { compared: heads.length, pruned: removed.length };
    },
  };
}

function checkHead(head: Head, chain: string, publicKeys: readonly KeyObject[], problems: Problems): void {
  if (!isSigned(head, publicKeys)) problems.add(`${named(head)} is not signed with this key`);
  if (head.chain !== chain) problems.add(`${named(head)} belongs to another audit: this is another chain`);
}

export function strangeHeads(
  heads: readonly Head[],
  chains: ReadonlySet<string>,
  publicKeys: readonly KeyObject[],
  problems: Problems,
): void {
  for (const head of heads) if (!chains.has(head.chain)) checkHead(head, '', publicKeys, problems);
}

/** Reports a head in the database that is unsigned or does not match the last row. */
export function checkTip(
  tip: Head,
  { last, lastHash }: Walked,
  publicKeys: readonly KeyObject[],
  problems: Problems,
): void {
  if (!isSigned(tip, publicKeys))
    problems.add('the head in the database is not signed with this key', tip.seq);
  if (tip.seq > (last ?? 0))
    problems.add(
      `rows after ${last ?? 0} are missing: the head in the database is that of row ${tip.seq}`,
      tip.seq,
    );
  else if (tip.seq !== last || tip.hash !== lastHash)
    problems.add(`the head in the database is not that of row ${last ?? 0}, the last one`, last);
}

function named({ at }: Tip): string {
  const date = new Date(at);
  return `the head of ${Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString()}`;
}

export interface Walk {
  step(row: KeptRow): void;
  end(): Walked;
}

export interface Walked {
  readonly rows: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly lastHash: string;
  readonly pruned: number;
  readonly prunedHash: string;
}

function startWalk(chain: string, problems: Problems, onHash: (seq: number, hash: string) => void): Walk {
  let rows = 0;
  let first: KeptRow | undefined;
  let last = 0;
  let previous = noHash;
  let pruned: PruneNote | undefined;
  return {
    step: (row) => {
      const members = membersOf(row.body);
      rows += 1;
      first ??= row;
      if (row === first && row.seq !== 1) checkNumber(row, problems);
      else if (row.seq !== last + 1) problems.add(missing(last + 1, row.seq - 1), row.seq, idOf(members));
      // After pruning, the first row's predecessor is known only when the prune row has been read.
      if (row !== first || row.seq === 1) checkHash(chain, row, previous, problems, idOf(members));
      checkContent(row, members, problems);
      pruned = readPruneNote(row, members) ?? pruned;
      onHash(row.seq, row.hash);
      [last, previous] = [row.seq, row.hash];
    },
    end: () => {
      const noted = first === undefined ? undefined : checkBeginning(chain, first, pruned, problems);
      const ends = { rows, first: first?.seq ?? null, last: rows === 0 ? null : last, lastHash: previous };
      return { ...ends, pruned: noted?.through ?? 0, prunedHash: noted?.hash ?? noHash };
    },
  };
}

function checkNumber({ seq }: KeptRow, problems: Problems): void {
  if (seq < 1) problems.add(`there is a row ${seq}, but the first row is 1`, seq);
}

function checkHash(
  chain: string,
  row: KeptRow,
  previous: string,
  problems: Problems,
  id: string | null,
): void {
  if (hashOf(chain, row, previous) === row.hash) return;
  problems.add(`row ${row.seq} was changed, or does not follow the row before it`, row.seq, id);
}

function checkContent(
  { seq, content }: KeptRow,
  members: Readonly<Record<string, unknown>> | undefined,
  problems: Problems,
): void {
  const wanted = members?.['content'];
  const id = idOf(members);
  const isKept = typeof wanted === 'string';
  if (content === undefined && isKept) problems.add(`the content of row ${seq} is gone`, seq, id);
  if (content === undefined) return;
  if (!isKept) problems.add(`row ${seq} has content that was not recorded with it`, seq, id);
  else if (createHash('sha256').update(content).digest('hex') !== wanted)
    problems.add(`the content of row ${seq} was changed`, seq, id);
}

interface PruneNote {
  readonly through: number;
  readonly hash: string;
}

function readPruneNote(
  { seq }: KeptRow,
  members: Readonly<Record<string, unknown>> | undefined,
): PruneNote | undefined {
  if (members?.['kind'] !== 'prune') return undefined;
  const { through, hash } = members;
  const isFit = typeof through === 'number' && through < seq && typeof hash === 'string';
  return isFit ? { through, hash } : undefined;
}

function checkBeginning(
  chain: string,
  first: KeptRow,
  note: PruneNote | undefined,
  problems: Problems,
): PruneNote | undefined {
  if (first.seq <= 1 && note !== undefined)
    problems.add(`rows up to ${note.through} were removed, but are present again`, first.seq);
  if (first.seq <= 1) return undefined;
  if (note?.through !== first.seq - 1) {
    problems.add(`${missing(1, first.seq - 1)}, but no row says that they were removed`, first.seq);
    return undefined;
  }
  checkHash(chain, first, note.hash, problems, idOf(membersOf(first.body)));
  return note;
}

function missing(from: number, to: number): string {
  return from === to ? `row ${from} is missing` : `rows ${from} to ${to} are missing`;
}

function idOf(members: Readonly<Record<string, unknown>> | undefined): string | null {
  const id = members?.['id'];
  return typeof id === 'string' ? id : null;
}

interface AuditProblem {
  /** The number of the row; null if the problem concerns no single row. */
  readonly seq: number | null;
  readonly id: string | null;
  readonly message: string;
}

export interface AuditReport {
  readonly status: 'good' | 'tampered';
  readonly chain: string | null;
  readonly rows: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly pruned: number;
  /** The number of compared heads, and how many of them belong to removed rows. */
  readonly heads: { readonly compared: number; readonly pruned: number };
  /** The first problems; empty if the audit is good. */
  readonly problems: readonly AuditProblem[];
  /** One report per chain, for an audit of several replicas. `chain`, `first` and `last` are null then. */
  readonly chains?: readonly ChainReport[];
}

export type ChainReport = Omit<AuditReport, 'status' | 'chains'>;

/** Collects the first 20 problems. `tell` edits each message. */
export function createProblems(tell = (message: string) => message) {
  const kept: AuditProblem[] = [];
  return {
    kept,
    add: (message: string, seq: number | null = null, id: string | null = null): void => {
      if (kept.length < MOST_KEPT) kept.push({ seq, id, message: tell(message) });
    },
  };
}

export type Problems = ReturnType<typeof createProblems>;

const MOST_KEPT = 20;
