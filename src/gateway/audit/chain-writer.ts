import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Fault } from '../../base/errors.ts';
import { type Connection, transact } from '../../store/sqlite/connection.ts';
import { DamagedError, numberOf, type Row, textOf } from '../../store/sqlite/row.ts';
import type { AuditKeys, Head, Tip } from './keys.ts';
import { type AuditRow, createRowMaker, type NewCall, noHash } from './row.ts';

/** Appends rows to a chain. Each method is one transaction and durable when it returns. Throws SQLite's errors. */
export interface ChainWriter {
  append(calls: readonly NewCall[]): Head;
  prune(before: number): Pruned;
  /** Signs the head again, which tests whether the file is writable. */
  touch(): Head;
}

interface Pruned {
  readonly head: Head;
  readonly removed: number;
  readonly isPartial: boolean;
}

export function openChain(connection: Connection, keys: AuditKeys, chainId: () => string): ChainWriter {
  const chain = createChain(connection.database, keys);
  const write = <Result>(work: (tip: Tip) => Result): Result => {
    connection.requireSameFile();
    return transact(connection.database, () => work(chain.tip()));
  };
  transact(connection.database, () => chain.begin(chainId));
  return {
    append: (calls) => write((tip) => chain.commit(calls.reduce(chain.addCall, tip))),
    prune: (before) => write((tip) => chain.prune(tip, before)),
    touch: () => write((tip) => chain.commit(tip)),
  };
}

function createChain(database: DatabaseSync, keys: AuditKeys) {
  const maker = createRowMaker(keys);
  const statements = prepareStatements(database);
  const commit = (tip: Tip): Head => {
    const head = maker.sign(tip);
    statements.setHead.run({ ...head });
    return head;
  };
  const add = (tip: Tip, row: AuditRow): Tip => {
    const made = maker.link(tip, row);
    statements.insert.run({ seq: made.tip.seq, body: made.body, hash: made.tip.hash });
    return made.tip;
  };
  return {
    commit,
    tip: (): Tip => readTip(statements.head) ?? throwMissing(),
    begin: (chainId: () => string): void => {
      const at = Date.now();
      const head = statements.head.get();
      const tip = head === undefined ? { chain: chainId(), seq: 0, hash: noHash, at } : toTip(head);
      const isKnown = head !== undefined && textOf(head, 'key') === maker.key;
      if (!isKnown) commit(add(tip, maker.introduction(tip)));
    },
    addCall: (tip: Tip, call: NewCall): Tip => {
      const next = add(tip, maker.callRow(call));
      if (call.content !== undefined) statements.insertContent.run({ seq: next.seq, text: call.content });
      return next;
    },
    prune: (tip: Tip, before: number): Pruned => {
      const { through, hash, removed, isPartial } = findOld(
        statements.oldest.iterate({ most: MOST_PRUNED }),
        tip,
        before,
      );
      if (removed === 0) return { head: commit(tip), removed, isPartial: false };
      const next = add(tip, { kind: 'prune', at: Date.now(), through, hash, removed });
      statements.remove.run({ through });
      return { head: commit(next), removed, isPartial };
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  return {
    head: database.prepare('SELECT id AS chain, seq, hash, at, key FROM chain'),
    setHead: database.prepare(`
      INSERT INTO chain (one, id, seq, hash, at, key, signature)
      VALUES (1, :chain, :seq, :hash, :at, :key, :signature)
      ON CONFLICT (one) DO UPDATE SET id = excluded.id, seq = excluded.seq, hash = excluded.hash,
        at = excluded.at, key = excluded.key, signature = excluded.signature`),
    insert: database.prepare('INSERT INTO rows (seq, body, hash) VALUES (:seq, :body, :hash)'),
    insertContent: database.prepare('INSERT INTO contents (seq, text) VALUES (:seq, :text)'),
    oldest: database.prepare(
      "SELECT seq, hash, body ->> '$.at' AS at, body ->> '$.kind' AS kind FROM rows ORDER BY seq LIMIT :most",
    ),
    remove: database.prepare('DELETE FROM rows WHERE seq <= :through'),
  };
}

function readTip(statement: StatementSync): Tip | undefined {
  const row = statement.get();
  return row && toTip(row);
}

function toTip(row: Row): Tip {
  return {
    chain: textOf(row, 'chain'),
    seq: numberOf(row, 'seq'),
    hash: textOf(row, 'hash'),
    at: numberOf(row, 'at'),
  };
}

function throwMissing(): never {
  throw new DamagedError('the head of the audit is gone');
}

export function doWork(chain: ChainWriter, work: AuditWork): AuditDone {
  switch (work.what) {
    case 'append':
      return { head: chain.append(work.calls), isPartial: false, removed: 0 };
    case 'prune':
      return chain.prune(work.before);
    case 'touch':
      return { head: chain.touch(), isPartial: false, removed: 0 };
  }
}

export interface OldRows {
  readonly through: number;
  readonly hash: string;
  readonly removed: number;
  readonly isPartial: boolean;
}

/**
 * The last removable row is a call older than `before`. Other rows and calls dated in the future (from a wrong clock)
 * go with the calls after them. `oldest`: `seq`, `hash`, `kind` and `at` of the first `MOST_PRUNED` rows.
 */
export function findOld(oldest: Iterable<Row>, tip: Tip, before: number): OldRows {
  let old: OldRows = { through: 0, hash: noHash, removed: 0, isPartial: false };
  const now = Date.now();
  let count = 0;
  for (const row of oldest) {
    const seq = numberOf(row, 'seq');
    const at = numberOf(row, 'at');
    const isPassedOver = textOf(row, 'kind') !== 'call' || at > now;
    // The last row stays so that the next row can follow it.
    if (seq === tip.seq || (!isPassedOver && at >= before)) break;
    count += 1;
    if (isPassedOver) continue;
    old = { through: seq, hash: textOf(row, 'hash'), removed: count, isPartial: count === MOST_PRUNED };
  }
  return old;
}

/** The maximum number of rows per transaction, so that pruning does not delay calls for long. */
export const MOST_PRUNED = 10_000;

export interface AuditThreadData {
  readonly file: string;
  /** Identifies the opened file, so that the thread does not write to a file that replaced it. */
  readonly identity: string;
  readonly keys: AuditKeys;
  readonly waitMs: number;
}

export type AuditWork =
  | { readonly what: 'append'; readonly calls: readonly NewCall[] }
  | { readonly what: 'prune'; readonly before: number }
  | { readonly what: 'touch' };

export interface AuditDone {
  readonly head: Head;
  readonly isPartial: boolean;
  readonly removed: number;
}

export type AuditReply =
  | { readonly status: 'ready' }
  | ({ readonly status: 'done' } & AuditDone)
  | { readonly status: 'failed'; readonly fault: Fault };
